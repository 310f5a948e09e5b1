"""Rows of a run: a JSON line for each example, appended in batches."""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.owned_folder import replacing, whole_lines

HASH_BYTES: Final = 8

MOMENT: Final = 0.1
"""Seconds of work that may be lost if the process is killed."""

_ENCODER: Final = msgspec.json.Encoder(enc_hook=repr)


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


class ExampleRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An example: the message, the answer, the answering agent, the scores.

    `n` is the example's position in the data, `turn` its position in the episode, `repeat` the
    number of earlier answers to it. `task` is the data set, where there are several. `example` is a
    hash over the example and all earlier examples of its episode. `input` and `act` are messages as
    JSON; `seconds` is the latency; `metrics` are the agent's own metrics (class and parts). A
    failed example has an `error` and scores as an empty answer.
    """

    n: int
    episode: int
    turn: int
    repeat: int = 0
    last: bool = True
    example: str
    group: str = ""
    task: str = ""
    input: dict[str, Any]
    act: dict[str, Any] = {}
    by: str = ""
    calls: int | None = None
    scores: dict[str, float | None] = {}
    metrics: dict[str, list[Any]] = {}
    seconds: float = 0.0
    error: str | None = None

    @property
    def answer(self) -> str:
        """The text of the answer."""
        text = self.act.get("text")
        return text if isinstance(text, str) else ""

    @property
    def labels(self) -> list[str]:
        """The right answers."""
        labels = self.input.get("eval_labels") or self.input.get("labels") or []
        return [labels] if isinstance(labels, str) else [str(label) for label in labels]


_DECODER: Final = msgspec.json.Decoder(ExampleRow)


def encode(row: ExampleRow) -> bytes:
    """Return a row as JSON; values that JSON has no form for become their `repr`."""
    try:
        return _ENCODER.encode(row)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        row.input, row.act, row.by = json_value(row.input), json_value(row.act), json_value(row.by)
        row.error = json_value(row.error)
        return _ENCODER.encode(row)


def decode(line: bytes) -> ExampleRow:
    """Read a row."""
    return _DECODER.decode(line)


def json_value(value: Any, depth: int = 0) -> Any:
    """Return a value in a form that JSON can hold: lone surrogates replaced, other objects as
    `repr`.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if depth < 32:
        if isinstance(value, dict):
            return {json_value(str(key)): json_value(one, depth + 1) for key, one in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [json_value(one, depth + 1) for one in value]
    return json_value(repr(value)[:1000])


class RowWriter:
    """Appends rows to a file: at once after a pause, else in batches of a tenth of a second."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._waiting: list[bytes] = []
        self._written = time.monotonic()

    def write(self, rows: Iterable[ExampleRow]) -> None:
        """Append the rows of an episode."""
        self._waiting += map(encode, rows)
        if time.monotonic() - self._written >= MOMENT:
            self.flush()

    def flush(self) -> None:
        """Write all rows that wait; from then on they survive the end of this process."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            data = memoryview(b"\n".join(waiting) + b"\n")
            while data:
                data = data[os.write(self._descriptor, data) :]
        self._written = time.monotonic()

    def close(self) -> None:
        """Write the waiting rows, and close the file."""
        try:
            self.flush()
        finally:
            os.close(self._descriptor)


def rewriting(file: Path, rows: Iterable[ExampleRow]) -> Iterator[ExampleRow]:
    """Replace a file's rows, yielding each; the file is replaced after the last row is taken."""
    with replacing(file) as out:
        for row in rows:
            out.write(encode(row) + b"\n")
            yield row
