"""RunShelf: the runs in one folder, to list, read and compare."""

from __future__ import annotations

import logging
from array import array
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from sys import intern
from threading import Lock
from typing import Final

import msgspec

from prolocutor.contracts.run_reading import (
    FigureGroup,
    RowKind,
    RowQuery,
    RunAnswer,
    RunDetails,
    RunDifference,
    RunFigure,
    RunPairs,
    RunRow,
    RunRowPage,
    RunSummary,
)
from prolocutor.errors import BadInput, NotFound, StoreError, StoreLocked
from prolocutor.plugins.evaluation.example_rows import ExampleRow, decode, lines_in_order
from prolocutor.plugins.evaluation.parlai.metrics.estimates import Estimate
from prolocutor.plugins.evaluation.run_comparison import HALF, differences
from prolocutor.plugins.evaluation.run_folder import (
    REPORT,
    ROWS,
    RUN,
    RunDescription,
    leave_out,
    load_run,
    rows_in_order,
    stored_dialog_ids,
)
from prolocutor.plugins.evaluation.run_page import main_names
from prolocutor.plugins.evaluation.run_report import RunReport, make_report, run_aggregate

MAX_BYTES: Final = 512_000_000
"""The largest file of rows that is read."""

ACCURACY: Final = "accuracy"

ExampleKey = tuple[str, int, int]
"""A hash of the example, the number of earlier repeats, and its place among equal examples."""

_KINDS: Final[tuple[RowKind, ...]] = ("won", "lost", "failed")
_NO_KIND: Final = len(_KINDS)

log = logging.getLogger(__name__)

MOST_RUNS: Final = 1000
MAX_HEAD: Final = 20_000_000
"""The largest `run.json` and `report.json` that are read, in bytes."""

MAX_PAIRED: Final = 100_000
"""The longest run that is compared, in rows."""

_CACHED: Final = 4
_MAX_CHARACTERS: Final = 20_000
_SHOWN: Final = ("accuracy", "f1", "latency_p50", "cost", "errors")


class _ScoredRow(msgspec.Struct):
    """The fields needed of every row."""

    example: str
    group: str = ""
    repeat: int = 0
    scores: dict[str, float | None] = {}
    error: str | None = None


class ShelvedRows:
    """The rows of a file, in order. `metric` decides whether a row is right.

    Raise `BadInput` for a file that is damaged or too large.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.metric = ""
        self._starts = array("q")
        self._kinds = bytearray()
        self.keys: list[ExampleKey] = []
        self.groups: list[str] = []
        if file.exists():
            _check_size(file)
            try:
                self._read()
            except (StoreError, msgspec.MsgspecError, OSError) as error:
                raise BadInput(f"the rows cannot be read: {error}", field="name") from None

    def __len__(self) -> int:
        return len(self._starts)

    def kind(self, place: int) -> RowKind | None:
        """Return the kind of a row, None for one without labels, which nothing is measured by."""
        number = self._kinds[place]
        return _KINDS[number] if number < _NO_KIND else None

    def counts(self) -> dict[str, int]:
        """Count the rows by kind."""
        return {kind: self._kinds.count(number) for number, kind in enumerate(_KINDS)}

    def row(self, place: int) -> ExampleRow:
        """Read a row."""
        try:
            with self._file.open("rb") as lines:
                lines.seek(self._starts[place])
                return decode(lines.readline())
        except (OSError, msgspec.MsgspecError) as error:
            raise BadInput(f"the rows cannot be read: {error}", field="name") from None

    def _read(self) -> None:
        seen: Counter[tuple[str, int]] = Counter()
        for start, row in self._read_scored():
            if not self.metric and row.scores:
                self.metric = ACCURACY if ACCURACY in row.scores else next(iter(row.scores))
            score = row.scores.get(self.metric)
            right = score is not None and score >= HALF
            number = 2 if row.error is not None else 0 if right else 1 if row.scores else _NO_KIND
            key = row.example, row.repeat
            self.keys.append((*key, seen[key]))
            seen[key] += 1
            self.groups.append(intern(row.group))
            self._starts.append(start)
            self._kinds.append(number)

    def _read_scored(self) -> Iterator[tuple[int, _ScoredRow]]:
        decoder = msgspec.json.Decoder(_ScoredRow)
        for start, line in lines_in_order(self._file):
            yield start, decoder.decode(line)


def _check_size(file: Path) -> None:
    size = file.stat().st_size
    if size > MAX_BYTES:
        what = f"the rows are {size / 1e6:,.0f} MB, more than the {MAX_BYTES / 1e6:,.0f} MB"
        raise BadInput(f"{what} that are shown here; see prolocutor evaluate report", field="name")


class RunShelf:
    """The run folders directly below one folder. All methods are thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows: OrderedDict[tuple[str, int, int], ShelvedRows] = OrderedDict()
        self._lock = Lock()

    def list_runs(self) -> list[RunSummary]:
        """Return the runs, the latest first; a damaged run says so."""
        found = [_summary(name, folder) for name, folder in self._folders().items()]
        return sorted(found, key=lambda one: (one.started, one.name), reverse=True)[:MOST_RUNS]

    def details(self, name: str, against: str | None = None) -> RunDetails:
        """Return a run, with a comparison if another run is given."""
        folder = self._find(name)
        run, rows = _run(folder), self._index(folder)
        report, note = _report(folder, run, len(rows))
        return RunDetails(
            name=name,
            configuration=run.configuration,
            options=run.options,
            versions=run.versions,
            started=run.started,
            ended=run.ended,
            complete=run.complete,
            examples=len(rows),
            failed=rows.counts()["failed"],
            metric=rows.metric,
            counts=rows.counts(),
            metrics=_figures(report.metrics) if report else [],
            main=main_names(report, rows.metric) if report else [],
            figures=_figures(report.figures) if report else [],
            groups=_groups(report) if report else [],
            by=report.by if report else {},
            note=note,
            pairs=None if against is None else self._pairs(folder, rows, against),
        )

    def rows(self, name: str, wanted: RowQuery, after: int, limit: int) -> RunRowPage:
        """Return the rows matching a query, from the place `after` on."""
        rows, kind = self._index(self._find(name)), wanted.kind
        there = None if wanted.against is None else self._index(self._find(wanted.against))
        partners = {} if there is None else _pair_places(rows, there)
        items: list[RunRow] = []
        for place in range(after, len(rows)):
            if wanted.group is not None and rows.groups[place] != wanted.group:
                continue
            other = partners.get(place)
            if there is None:
                fits = kind is None or rows.kind(place) == kind
            else:
                fits = other is not None and _is_flip(rows, place, there, other, kind)
            if not fits:
                continue
            if len(items) == limit:
                return RunRowPage(items, place)
            partner = None if there is None or other is None else there.row(other)
            items.append(_row(rows.row(place), partner, rows.metric))
        return RunRowPage(items, None)

    def dialogs(self) -> set[str]:
        """Return the ids of the stored dialogs that rows of the runs are made of."""
        return set().union(*map(_dialog_ids, self._folders().values()))

    def leave_out(self, dialogs: Collection[str]) -> None:
        """Remove the rows of these dialogs from all runs."""
        for name, folder in self._folders().items():
            try:
                if not _dialog_ids(folder).isdisjoint(dialogs):
                    leave_out(folder, dialogs)
            except (StoreLocked, OSError) as error:
                log.error("the run %s keeps words that were deleted: %s", name, error)

    def _pairs(self, folder: Path, rows: ShelvedRows, against: str) -> RunPairs:
        there = self._index(self._find(against))
        if max(len(rows), len(there)) > MAX_PAIRED:
            what = f"runs of more than {MAX_PAIRED:,} rows are compared by"
            raise BadInput(f"{what} prolocutor evaluate compare", field="against")
        partners = _pair_places(rows, there)
        pairs = [(there.row(other), rows.row(place)) for place, other in partners.items()]
        flips = {
            kind: sum(_is_flip(rows, one, there, other, kind) for one, other in partners.items())
            for kind in _KINDS
        }
        return RunPairs(
            against=against,
            pairs=len(pairs),
            only_here=len(rows) - len(pairs),
            only_there=len(there) - len(pairs),
            metric=rows.metric,
            won=flips["won"],
            lost=flips["lost"],
            failed=flips["failed"],
            differences=[
                RunDifference(
                    name=one.metric,
                    first=one.first,
                    second=one.second,
                    difference=_figure(one.metric, one.difference),
                    better=one.better,
                    worse=one.worse,
                )
                for one in (differences(pairs) if pairs else ())
            ],
        )

    def _index(self, folder: Path) -> ShelvedRows:
        """Return the rows of a run; the latest runs are cached until a file changes."""
        file = folder / ROWS
        try:
            state = file.stat()
            key = (str(file), state.st_mtime_ns, state.st_size)
        except FileNotFoundError:
            return ShelvedRows(file)
        with self._lock:
            if (known := self._rows.get(key)) is not None:
                self._rows.move_to_end(key)
                return known
        made = ShelvedRows(file)
        with self._lock:
            self._rows[key] = made
            while len(self._rows) > _CACHED:
                self._rows.popitem(last=False)
        return made

    def _find(self, name: str) -> Path:
        folder = self._folders().get(name)
        if folder is None:
            raise NotFound(f"no run is called {name!s:.80}", field="name")
        return folder

    def _folders(self) -> Mapping[str, Path]:
        """Return the run folders by name; links are left out, as they may lead anywhere."""
        try:
            found = [*self._folder.iterdir()]
        except FileNotFoundError:
            return {}
        except OSError as error:
            what = f"the folder of runs cannot be read: {error.strerror}"
            raise BadInput(what, field="runs") from None
        return {
            one.name: one
            for one in found
            if one.is_dir() and not one.is_symlink() and (one / RUN).is_file()
        }


def _dialog_ids(folder: Path) -> set[str]:
    try:
        return stored_dialog_ids(folder)
    except (msgspec.MsgspecError, OSError):
        return set()


def _summary(name: str, folder: Path) -> RunSummary:
    try:
        run = _run(folder)
        report, note = _stored_report(folder), ""
    except BadInput as fault:
        return RunSummary(name=name, error=str(fault))
    except OSError as error:
        return RunSummary(name=name, error=f"cannot be read: {error.strerror}")
    estimates = {**report.metrics, **report.figures} if report else {}
    return RunSummary(
        name=name,
        assistant=str(run.configuration.get("subject") or ""),
        data=str(run.options.get("data") or run.configuration.get("data") or ""),
        started=run.started,
        ended=run.ended,
        complete=run.complete,
        examples=report.examples if report else None,
        failed=report.failed if report else None,
        figures=[_figure(one, estimates[one]) for one in _SHOWN if one in estimates],
        error=note or None,
    )


def _run(folder: Path) -> RunDescription:
    _check_head(folder / RUN)
    try:
        return load_run(folder)
    except BadInput as error:
        raise BadInput(f"run.json is damaged: {error}", field="name") from None


def _report(folder: Path, run: RunDescription, rows: int) -> tuple[RunReport | None, str]:
    """Return the stored report, or a report of the rows so far, and a note on missing parts."""
    if run.complete and (stored := _stored_report(folder)) is not None:
        return stored, ""
    note = "the run has not ended, or was cut off: these are its rows so far"
    if not 0 < rows <= MAX_PAIRED:
        return None, note
    return make_report(rows_in_order(folder), run.metrics, run_aggregate(run)), note


def _stored_report(folder: Path) -> RunReport | None:
    file = folder / REPORT
    _check_head(file)
    try:
        return msgspec.json.decode(file.read_bytes(), type=RunReport)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{REPORT} is damaged: {error}", field="name") from None


def _check_head(file: Path) -> None:
    if file.exists() and file.stat().st_size > MAX_HEAD:
        what = f"{file.name} is larger than {MAX_HEAD / 1e6:,.0f} MB"
        raise BadInput(f"{what} and is not read", field="name")


def _pair_places(rows: ShelvedRows, there: ShelvedRows) -> dict[int, int]:
    """Map the places of examples to the places of the same examples in the other run."""
    places = {key: place for place, key in enumerate(there.keys)}
    return {here: places[key] for here, key in enumerate(rows.keys) if key in places}


def _is_flip(
    rows: ShelvedRows, place: int, there: ShelvedRows, other: int, kind: RowKind | None
) -> bool:
    mine, its = rows.kind(place), there.kind(other)
    match kind:
        case "won":
            return mine == "won" and its != "won"
        case "lost":
            return mine != "won" and its == "won"
        case "failed":
            return mine == "failed"
    return True


def _row(row: ExampleRow, other: ExampleRow | None, metric: str) -> RunRow:
    return RunRow(
        n=row.n,
        repeat=row.repeat,
        group=row.group,
        text=_cut(str(row.input.get("text") or "")),
        labels=[_cut(one) for one in row.labels[:20]],
        here=_answer(row, metric),
        there=None if other is None else _answer(other, metric),
    )


def _answer(row: ExampleRow, metric: str) -> RunAnswer:
    return RunAnswer(
        text=_cut(row.answer),
        by=_cut(row.by),
        score=row.scores.get(metric),
        seconds=row.seconds,
        error=None if row.error is None else _cut(row.error),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


def _groups(report: RunReport) -> list[FigureGroup]:
    parts = report.tasks or report.groups
    return [FigureGroup(name, _figures(of)) for name, of in parts.items()]


def _figures(of: Mapping[str, Estimate]) -> list[RunFigure]:
    return [_figure(name, one) for name, one in of.items()]


def _figure(name: str, one: Estimate) -> RunFigure:
    return RunFigure(name=name, value=one.value, low=one.low, high=one.high, count=one.count)
