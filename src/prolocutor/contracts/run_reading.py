"""Reading evaluation runs: the folders that `evaluate run` writes, as a door shows them.

An entry point in the group `prolocutor.run_readers` names the maker of a `RunReader` of a folder.
Calls block: a door makes them in a thread. Names of runs are those of the listing; anything else is
`NotFound`. A run too damaged or too large to read is a `BadInput` with the reason.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, Protocol

import msgspec

RowKind = Literal["won", "lost", "failed"]
"""A right, a wrong, no answer. Beside another run: right in this run alone, in that alone, none."""


class RunFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A metric or figure with its 95 % interval, over `count` observations."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    count: int = 0


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in the list; `error` says why it cannot be read."""

    name: str
    assistant: str = ""
    data: str = ""
    started: str = ""
    ended: str | None = None
    complete: bool = False
    examples: int | None = None
    failed: int | None = None
    figures: list[RunFigure] = []
    error: str | None = None


class FigureGroup(msgspec.Struct, frozen=True):
    """The figures of a group of examples, or of a data set."""

    name: str
    figures: list[RunFigure]


class RunDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of two runs over their common examples: `first` is the other run's.

    `better` and `worse` count the examples with a higher and a lower score here.
    """

    name: str
    first: float
    second: float
    difference: RunFigure
    better: int
    worse: int


class RunPairs(msgspec.Struct, frozen=True, kw_only=True):
    """A run beside another: examples in both, in a single run, and how many flipped by `metric`.

    `failed` are the examples in both that failed here.
    """

    against: str
    pairs: int
    only_here: int
    only_there: int
    metric: str
    won: int
    lost: int
    failed: int
    differences: list[RunDifference]


class RunDetails(msgspec.Struct, frozen=True, kw_only=True):
    """A run. `counts` are its rows by kind, `metric` the metric by which they are right.

    - `note` names missing parts.
    - `by` is how many examples each agent answered.
    - `main` names the figures of weight for the task.
    """

    name: str
    configuration: dict[str, Any]
    options: dict[str, Any]
    versions: dict[str, str]
    started: str
    ended: str | None
    complete: bool
    examples: int
    failed: int
    metric: str
    counts: dict[str, int]
    metrics: list[RunFigure]
    figures: list[RunFigure]
    groups: list[FigureGroup]
    by: dict[str, int]
    note: str = ""
    main: list[str] = []
    pairs: RunPairs | None = None


class RunAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a run to an example, by which agent, and its score."""

    text: str
    by: str
    score: float | None
    seconds: float
    error: str | None = None


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """An example: the input, the right answers, the answer here and in the other run."""

    n: int
    repeat: int
    group: str
    text: str
    labels: list[str]
    here: RunAnswer
    there: RunAnswer | None = None


class RunRowPage(msgspec.Struct, frozen=True):
    """Rows in order; `next` is the place of the first row of the next page."""

    items: list[RunRow]
    next: int | None


class RowQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The rows to read: of a kind, of a group of examples, of examples in another run too."""

    kind: RowKind | None = None
    group: str | None = None
    against: str | None = None


class RunReader(Protocol):
    """Reads the runs of a folder."""

    def list_runs(self) -> list[RunSummary]:
        """Return the runs, the latest first."""

    def details(self, name: str, against: str | None = None) -> RunDetails:
        """Return a run, compared with another run if given."""

    def rows(self, name: str, wanted: RowQuery, after: int, limit: int) -> RunRowPage:
        """Return rows from the place `after` on."""

    def dialogs(self) -> set[str]:
        """Return the ids of the stored dialogs in rows of the runs."""

    def leave_out(self, dialogs: Collection[str]) -> None:
        """Write the runs anew without the rows from these dialogs."""
