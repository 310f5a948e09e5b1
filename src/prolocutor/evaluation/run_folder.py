"""Folder: where a run is kept. The same command finds it again and goes on; another is refused.

    rows.jsonl      one row an example, appended as they come, in order once the run is complete
    run.json        the configuration, the options of the last command, versions, content hashes
    report.json     what the rows come to

A row is never lost once it is written; a last line that was torn is cut.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from prolocutor.dialog.ids import timestamp
from prolocutor.errors import BadInput, Conflict, StoreLocked
from prolocutor.evaluation.episodes import Episode
from prolocutor.evaluation.example_rows import ExampleRow, RowWriter, decode, read_rows

if sys.platform != "win32":
    import fcntl

ROWS: Final = "rows.jsonl"
RUN: Final = "run.json"
REPORT: Final = "report.json"

Configuration = Mapping[str, Any]


class RunDescription(msgspec.Struct, kw_only=True):
    """What `run.json` holds. Whoever goes on has the same `configuration`; the rest may differ."""

    format: int = 1
    configuration: dict[str, Any]
    options: dict[str, Any] = {}
    versions: dict[str, str] = {}
    started: str = ""
    ended: str | None = None
    complete: bool = False


class _RowKey(msgspec.Struct):
    """As much of a row as is needed to know which it is."""

    episode: int
    turn: int
    example: str
    repeat: int = 0
    last: bool = True
    error: str | None = None


_HASH: Final = 8
_WHOLE: Final = 1
_FAILED: Final = 2

Known = dict[int, bytes]
"""The rows that are there of an episode, by its number: flags, and 8 bytes of hash for each row."""


class RunFolder:
    """The folder of a run that is under way, owned by this process alone."""

    def __init__(
        self, path: Path, configuration: Configuration, options: Mapping[str, Any]
    ) -> None:
        self.path = path
        self._owner = _own(path)
        try:
            self.run = _begin(path, configuration, options)
            self._known, self._disorder = _survey(path / ROWS)
            self.found = sum(len(known) // _HASH for known in self._known.values())
            self._writer = RowWriter(path / ROWS)
        except BaseException:
            os.close(self._owner)
            raise
        self._highest = max(self._known, default=-1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._writer.close()
        finally:
            os.close(self._owner)

    def has(self, episode: Episode, repeat: int, *, retry_failed: bool = False) -> bool:
        """Return whether all rows of an episode are there; `Conflict` if they are of other data."""
        known = self._known.get(_key(episode.number, repeat))
        if known is None:
            return False
        there = (len(known) - 1) // _HASH
        now = bytes.fromhex("".join(episode.hashes[:there]))
        if not known.startswith(now, 1):
            turn = next(n for n in range(len(now)) if known[n + 1] != now[n]) // _HASH
            raise Conflict(
                f"{self.path}: example {episode.first + turn} of the data is not what it was; "
                "choose another folder with --out"
            )
        whole, failed = known[0] & _WHOLE and there >= len(episode), known[0] & _FAILED
        if whole and not (retry_failed and failed):
            return True
        self._disorder = True
        return False

    def write(self, rows: list[ExampleRow]) -> None:
        """Keep the rows of one episode."""
        place = _key(rows[0].episode, rows[0].repeat)
        if place < self._highest:
            self._disorder = True
        else:
            self._highest = place
        self._writer.write(rows)

    def flush(self) -> None:
        """Let no row wait any longer."""
        self._writer.flush()

    def complete(self) -> None:
        """Put the rows in order and say that all are there."""
        self._writer.flush()
        self._known.clear()
        if self._disorder:
            _put_in_order(self.path / ROWS)
        self.run.complete, self.run.ended = True, timestamp()
        write_json(self.path / RUN, self.run)


@contextmanager
def owned(path: Path, *, option: str = "--out") -> Iterator[None]:
    """Make a folder and keep other processes from it for as long as the block runs.

    `option` is that of the command by which a person can choose another one.
    """
    owner = _own(path, option)
    try:
        yield
    finally:
        os.close(owner)


def load_run(path: Path) -> RunDescription:
    """Read `run.json`; `BadInput` where there is no run."""
    try:
        return msgspec.json.decode((path / RUN).read_bytes(), type=RunDescription)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"{path}: there is no run here; prolocutor evaluate run makes one") from None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{path / RUN}: this is no run ({error})") from None


def load_rows(path: Path) -> list[ExampleRow]:
    """Read all rows of a run, in order; where an episode was run again, its last rows."""
    return list(rows_in_order(path))


def rows_in_order(path: Path) -> Iterator[ExampleRow]:
    """Read the rows of a run one by one, in order, of an episode that was run again the last."""
    load_run(path)
    file = path / ROWS
    if not file.exists():
        return
    places = _in_order(file)
    if places is None:
        yield from read_rows(file)
        return
    with file.open("rb") as lines:
        for start in places:
            lines.seek(start)
            yield decode(lines.readline())


def write_json(file: Path, value: Any) -> None:
    """Write a file of JSON, all at once."""
    new = file.with_name(f"{file.name}.new")
    new.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    new.replace(file)


def _own(path: Path, option: str = "--out") -> int:
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY)
    except (FileExistsError, NotADirectoryError):
        raise BadInput(f"{path}: this is no folder; choose another one with {option}") from None
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise StoreLocked(f"{path}: another process is at work on this run") from None
    return descriptor


def _begin(path: Path, configuration: Configuration, options: Mapping[str, Any]) -> RunDescription:
    wanted = msgspec.json.decode(msgspec.json.encode(configuration))
    if (path / RUN).exists():
        run = load_run(path)
        if changes := _changes(run.configuration, wanted):
            raise Conflict(
                f"{path} holds a run of another configuration: {'; '.join(changes)}; "
                "choose another folder with --out"
            )
        run.complete, run.ended = False, None
    else:
        if any(not one.name.endswith(".new") for one in path.iterdir()):
            raise BadInput(f"{path}: this folder holds other things; choose another one with --out")
        run = RunDescription(configuration=wanted, started=timestamp())
    run.options = dict(options)
    run.versions = {
        "prolocutor": version("prolocutor"),
        "python": platform.python_version(),
        "platform": sys.platform,
    }
    write_json(path / RUN, run)
    return run


def _changes(before: Configuration, now: Configuration) -> list[str]:
    return [
        f"{name} was {_shown(before.get(name))}, is now {_shown(now.get(name))}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]


def _shown(value: Any) -> str:
    return "not there" if value is None else msgspec.json.encode(value).decode()


def _key(episode: int, repeat: int) -> int:
    return episode << 20 | repeat


def _survey(file: Path) -> tuple[Known, bool]:
    """See which episodes have rows, and whether out of order, and cut a torn last line."""
    known: Known = {}
    disorder, before = False, (-1, 0)
    for place, _ in _places(file, cut=True):
        key = _key(place.episode, place.repeat)
        disorder = disorder or (key, place.turn) <= before
        before = (key, place.turn)
        there = b"\0" if place.turn == 0 else known.get(key, b"\0")
        if place.turn == (len(there) - 1) // _HASH:
            flags = there[0] & _FAILED | (_WHOLE if place.last else 0)
            flags |= _FAILED if place.error is not None else 0
            there = bytes((flags,)) + there[1:] + _digest(file, place.example)
        known[key] = there
    return known, disorder


def _digest(file: Path, example: str) -> bytes:
    try:
        return bytes.fromhex(example)
    except ValueError:
        raise BadInput(f"{file}: {example!r} is no hash of an example") from None


def _places(file: Path, *, cut: bool = False) -> Iterator[tuple[_RowKey, int]]:
    """Return which row each line is and where it begins."""
    if not file.exists():
        return
    decoder = msgspec.json.Decoder(_RowKey)
    start = 0
    with file.open("rb+" if cut else "rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                if cut:
                    os.ftruncate(lines.fileno(), start)
                return
            try:
                place = decoder.decode(line)
            except msgspec.MsgspecError as error:
                raise BadInput(f"{file}:{number}: this is no row of a run ({error})") from None
            yield place, start
            start += len(line)


def _in_order(file: Path) -> list[int] | None:
    """Return where the rows begin, in order, less those replaced; None if they are in order."""
    found: list[int] = []
    ordered, before = True, -1
    for place, start in _places(file):
        key = _key(place.episode, place.repeat) << 20 | place.turn
        ordered, before = ordered and key > before, key
        found.append(key << 48 | start)
    if ordered:
        return None
    found.sort()
    return [
        one & (1 << 48) - 1
        for one, then in zip(found, [*found[1:], -1], strict=True)
        if one >> 48 != then >> 48
    ]


def _put_in_order(file: Path) -> None:
    """Write the rows anew, in order, without those that others took the place of."""
    places = _in_order(file)
    if places is None:
        return
    new = file.with_name(f"{file.name}.new")
    with file.open("rb") as old, new.open("wb") as out:
        for start in places:
            old.seek(start)
            out.write(old.readline())
        out.flush()
        os.fsync(out.fileno())
    new.replace(file)
