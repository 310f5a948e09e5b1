"""The folder of a run. The same command finds and resumes it; another command is refused.

    rows.jsonl      a row for each example, appended in any order, sorted once the run is complete
    run.json        the configuration, the options of the last command, versions, content hashes
    report.json     the report of the rows

A written row is never lost; a torn last line is cut off.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from prolocutor.dialog.ids import timestamp
from prolocutor.errors import BadInput, Conflict, StoreError
from prolocutor.plugins.evaluation.episodes import Episode
from prolocutor.plugins.evaluation.example_rows import (
    ExampleRow,
    RowIndex,
    RowWriter,
    decode,
    lines_in_order,
    put_in_order,
)
from prolocutor.plugins.evaluation.owned_folder import (
    check_new,
    own_folder,
    replacing,
    whole_lines,
    write_json,
)

ROWS: Final = "rows.jsonl"
RUN: Final = "run.json"
REPORT: Final = "report.json"

Configuration = Mapping[str, Any]


class RunDescription(msgspec.Struct, kw_only=True):
    """The content of `run.json`. A run goes on with the same `configuration`; the rest may change.

    `configuration` and `options` are names and values as the command or `evaluate` was given them.
    """

    format: int = 1
    configuration: dict[str, Any]
    options: dict[str, Any] = {}
    versions: dict[str, str] = {}
    started: str = ""
    ended: str | None = None
    complete: bool = False

    @property
    def metrics(self) -> str:
        """The names of the metrics by which the rows are scored."""
        return str(self.configuration.get("metrics") or "default")


class RunFolder:
    """The folder of a run that is under way, owned by this process alone.

    Raise `Conflict` if it holds rows of another configuration.
    """

    def __init__(
        self, path: Path, configuration: Configuration, options: Mapping[str, Any]
    ) -> None:
        self.path = path
        with ExitStack() as stack:
            stack.enter_context(own_folder(path))
            self.run = _begin(path, configuration, options)
            self._index = RowIndex.load(path / ROWS)
            self._in_order = self._index.in_order
            self._writer = RowWriter(path / ROWS)
            stack.callback(self._writer.close)
            self._open = stack.pop_all()
        self._highest = self._index.highest()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def has(self, episode: Episode, repeat: int, *, retry_failed: bool = False) -> bool:
        """Return whether all rows of an episode are there; `Conflict` if they are of other data."""
        rows = self._index.find(episode.number, repeat)
        if rows is None:
            return False
        if (turn := rows.first_change(episode.hashes)) is not None:
            raise Conflict(
                f"{self.path}: example {episode.first + turn} of the data is not what it was; "
                "choose another folder with --out"
            )
        whole = rows.whole and len(rows) >= len(episode)
        if whole and not (retry_failed and rows.failed):
            return True
        self._in_order = False  # its rows are written again, and replace the present rows
        return False

    def write(self, rows: list[ExampleRow]) -> None:
        """Append the rows of an episode."""
        key = rows[0].episode, rows[0].repeat
        if key < self._highest:
            self._in_order = False
        else:
            self._highest = key
        self._writer.write(rows)

    def complete(self) -> None:
        """Put the rows in order and mark the run as complete."""
        self._writer.flush()
        self._index.clear()
        if not self._in_order:
            put_in_order(self.path / ROWS)
        self.run.complete, self.run.ended = True, timestamp()
        write_json(self.path / RUN, self.run)


def load_run(path: Path) -> RunDescription:
    """Read `run.json`; raise `BadInput` where there is no run."""
    try:
        return msgspec.json.decode((path / RUN).read_bytes(), type=RunDescription)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"{path}: there is no run here; prolocutor evaluate run makes one") from None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{path / RUN}: this is not a run ({error})") from None


def load_rows(path: Path) -> list[ExampleRow]:
    """Read all rows of a run, in order; of an episode that was run again, its last rows."""
    return list(rows_in_order(path))


def rows_in_order(path: Path) -> Iterator[ExampleRow]:
    """Yield the rows of a run in order; of an episode that was run again, its latest rows."""
    load_run(path)
    file = path / ROWS
    if not file.exists():
        return
    for start, line in lines_in_order(file):
        try:
            yield decode(line)
        except msgspec.MsgspecError as error:
            what = f"{file}: at byte {start} there is not a row of a run ({error})"
            raise StoreError(what) from None


def stored_dialog_ids(path: Path) -> set[str]:
    """Return the ids of the stored dialogs behind the rows of a run."""
    found = (_SOURCE.decode(line).input.dialog_id for _, _, line in whole_lines(path / ROWS))
    return {one for one in found if one is not None}


def leave_out(path: Path, dialogs: Collection[str]) -> None:
    """Remove the rows of these dialogs from a run, and update its report.

    Raise `StoreLocked` while another process works on the run.
    """
    with own_folder(path):
        with replacing(path / ROWS) as out:
            for _, _, line in whole_lines(path / ROWS):
                if _SOURCE.decode(line).input.dialog_id not in dialogs:
                    out.write(line)
        (path / REPORT).unlink(missing_ok=True)


class _StoredInput(msgspec.Struct):
    dialog_id: str | None = None


class _StoredRow(msgspec.Struct):
    input: _StoredInput


_SOURCE: Final = msgspec.json.Decoder(_StoredRow)


def _begin(path: Path, configuration: Configuration, options: Mapping[str, Any]) -> RunDescription:
    wanted = msgspec.json.decode(msgspec.json.encode(configuration))
    if (path / RUN).exists():
        run = load_run(path)
        if not (changes := _changes(run.configuration, wanted)):
            run.complete, run.ended = False, None
        elif not _has_rows(path):  # it failed before the first answer, say at a fault in the data
            run = RunDescription(configuration=wanted, started=timestamp())
        else:
            raise Conflict(
                f"{path} holds a run of another configuration: {'; '.join(changes)}; "
                "choose another folder with --out"
            )
    else:
        check_new(path)
        run = RunDescription(configuration=wanted, started=timestamp())
    run.options = dict(options)
    run.versions = {
        "prolocutor": version("prolocutor"),
        "python": platform.python_version(),
        "platform": sys.platform,
    }
    write_json(path / RUN, run)
    return run


def _has_rows(path: Path) -> bool:
    file = path / ROWS
    return file.exists() and file.stat().st_size > 0


def _changes(before: Configuration, now: Configuration) -> list[str]:
    return [
        f"{name} was {_setting_text(before.get(name))}, is now {_setting_text(now.get(name))}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]


def _setting_text(value: Any) -> str:
    return "not there" if value is None else msgspec.json.encode(value).decode()
