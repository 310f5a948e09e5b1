"""The index of a file of rows: the examples with a row, and the offset of each row.

A file may hold millions of rows: an episode costs one small object here, a row a few bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Self

import msgspec

from prolocutor.errors import BadInput
from prolocutor.owned_folder import replacing, whole_lines

HASH_BYTES: Final = 8


class RowKey(msgspec.Struct, gc=False):
    """The fields of a row that say which it is; the decoder skips all others."""

    episode: int
    turn: int
    example: str
    repeat: int = 0
    last: bool = True
    error: str | None = None

    @property
    def order(self) -> tuple[int, int, int]:
        """The row's place in a file in order."""
        return self.episode, self.repeat, self.turn


class EpisodeRows(msgspec.Struct, gc=False):
    """The rows of an episode, asked once: the hashes of its examples, 8 bytes each, in order.

    `whole`: the last turn has a row. `failed`: a row has an error.
    """

    hashes: bytes = b""
    whole: bool = False
    failed: bool = False

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.hashes) // HASH_BYTES

    def first_change(self, hashes: list[str]) -> int | None:
        """Return the first turn with a changed example; None if all are the same."""
        now = bytes.fromhex("".join(hashes[: len(self)]))
        if self.hashes.startswith(now):
            return None
        return next(n for n in range(len(now)) if self.hashes[n] != now[n]) // HASH_BYTES

    def add(self, key: RowKey, digest: bytes) -> None:
        """Add the row of the next turn."""
        self.hashes += digest
        self.whole = key.last
        self.failed = self.failed or key.error is not None


class RowIndex:
    """The rows of a file by repeat and episode. `in_order`: whether the file is in order."""

    def __init__(self) -> None:
        self.in_order = True
        self._found: dict[int, dict[int, EpisodeRows]] = {}

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read a file before rows are appended to it; a torn last line is cut off.

        Raise `BadInput` for any other malformed line.
        """
        index, before = cls(), (-1, 0, 0)
        for key, _ in _keys(file, cut=True):
            index.in_order = index.in_order and key.order > before
            before = key.order
            index._add(file, key)
        return index

    def find(self, episode: int, repeat: int) -> EpisodeRows | None:
        """Return the rows of an episode; None if it has no rows."""
        return self._found.get(repeat, {}).get(episode)

    def highest(self) -> tuple[int, int]:
        """Return the last episode and repeat; rows appended before it are out of order."""
        return max(
            ((max(episodes), repeat) for repeat, episodes in self._found.items()), default=(-1, 0)
        )

    def clear(self) -> None:
        """Forget all rows, where they are not asked for any more."""
        self._found.clear()

    def _add(self, file: Path, key: RowKey) -> None:
        """Add a row. A first turn begins the episode again: it was asked once more."""
        episodes = self._found.setdefault(key.repeat, {})
        rows = episodes.get(key.episode)
        if rows is None or key.turn == 0:
            rows = episodes[key.episode] = EpisodeRows()
        if key.turn == len(rows):
            rows.add(key, _digest(file, key.example))


def starts_in_order(file: Path) -> list[int] | None:
    """Return the offsets of a file's rows, in bytes and in order; None if the file is in order.

    Of several rows of the same turn only the last counts.
    """
    if _stands_in_order(file):
        return None
    # Columns: a list of objects would take several times the memory.
    episodes, repeats, turns, starts = array("q"), array("q"), array("q"), array("q")
    for key, start in _keys(file):
        episodes.append(key.episode)
        repeats.append(key.repeat)
        turns.append(key.turn)
        starts.append(start)
    order = list(range(len(starts)))
    # Sorting is stable: by the least significant column first, and equal rows stay as they came.
    for column in (turns, repeats, episodes):
        order.sort(key=column.__getitem__)
    found: list[int] = []
    before = (-1, 0, 0)
    for row in order:
        key_of_row = (episodes[row], repeats[row], turns[row])
        if key_of_row == before:
            found[-1] = starts[row]
        else:
            found.append(starts[row])
        before = key_of_row
    return found


def lines_in_order(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the rows of a file in order, without replaced rows, each with its offset in bytes."""
    starts = starts_in_order(file)
    if starts is None:
        yield from ((start, line) for _, start, line in whole_lines(file))
    else:
        yield from _lines_at(file, starts)


def put_in_order(file: Path) -> None:
    """Rewrite a file with its rows in order, without replaced rows."""
    if (starts := starts_in_order(file)) is not None:
        with replacing(file) as out:
            for _, line in _lines_at(file, starts):
                out.write(line)


def _lines_at(file: Path, starts: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    with file.open("rb") as lines:
        for start in starts:
            lines.seek(start)
            yield start, lines.readline()


def _stands_in_order(file: Path) -> bool:
    before = (-1, 0, 0)
    for key, _ in _keys(file):
        if key.order <= before:
            return False
        before = key.order
    return True


def _keys(file: Path, *, cut: bool = False) -> Iterator[tuple[RowKey, int]]:
    """Return the key of each row with its position; `cut` removes a torn last line."""
    decoder = msgspec.json.Decoder(RowKey)
    for number, start, line in whole_lines(file, cut=cut):
        try:
            yield decoder.decode(line), start
        except msgspec.MsgspecError as error:
            raise BadInput(f"{file}:{number}: this is not a row of a run ({error})") from None


def _digest(file: Path, example: str) -> bytes:
    try:
        return bytes.fromhex(example)
    except ValueError:
        raise BadInput(f"{file}: {example!r} is not a hash of an example") from None
