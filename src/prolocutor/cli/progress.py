"""Progress bars on stderr, drawn only where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

import click

if TYPE_CHECKING:  # rows are only passed through, and rich is loaded where a bar is drawn
    from prolocutor.plugins.evaluation.example_rows import ExampleRow

T = TypeVar("T")
Show = Callable[[int, Sequence[str]], None]
"""Called with how many are done, and notes such as scores, the most important first."""

_EVERY: Final = 200
_PAUSE: Final = 0.1
_SAID_EVERY: Final = 5.0
_STEP_EVERY: Final = 20.0
_SCORES: Final = 3
_LEFT_OUT: Final = ("precision", "recall")

_GAP: Final = "  "
_LONGEST: Final = 24
_SHORTEST_BAR: Final = 8
_LONGEST_BAR: Final = 40
_TIMES: Final = 7 + 4 + 7 + 6
"""Columns that elapsed and remaining time and the spaces between all columns take."""


@contextmanager
def progress_bar(number: Callable[[], int], what: str) -> Iterator[Show]:
    """Draw a bar for `number()` steps as long as the block runs, where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, notes: None
        return
    with drawn_bar(number(), what) as show:
        yield show


@contextmanager
def drawn_bar(total: int, what: str) -> Iterator[Show]:
    """Draw a bar. In a narrow terminal notes are left out, the last first; count and times stay."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    name = what if len(what) <= _LONGEST else f"{what[: _LONGEST - 1]}…"
    room = console.width - len(name) - (2 * len(str(total)) + 1) - _TIMES
    size = max(_SHORTEST_BAR, min(_LONGEST_BAR, room // 3))
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=size),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left", style="dim"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[notes]}", markup=False),
    )
    with Progress(*columns, console=console, transient=False) as drawn:
        task = drawn.add_task(name, total=total, notes="")

        def show(done: int, notes: Sequence[str]) -> None:
            drawn.update(task, completed=done, notes=_fitting(notes, room - size))

        yield show


class ScoreProgress:
    """Counts rows and their mean scores, and shows them ten times a second at most."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._done = self._failed = 0
        self._sums: dict[str, tuple[float, int]] = {}
        self._shown = 0.0

    def __call__(self, count: int, rows: list[ExampleRow]) -> None:
        """Take note of the rows of an episode."""
        self._done += count
        for row in rows:
            self._failed += row.error is not None
            for name, score in row.scores.items():
                total, number = self._sums.get(name, (0.0, 0))
                self._sums[name] = (total + (score or 0.0), number + 1)
        if time.monotonic() - self._shown >= _PAUSE:
            self.show()

    def show(self) -> None:
        """Show the counts and means so far."""
        names = [name for name in self._sums if name not in _LEFT_OUT][:_SCORES]
        means = [f"{name} {self._sums[name][0] / self._sums[name][1]:.3f}" for name in names]
        if self._failed:
            means.insert(0, f"{self._failed:,} failed")
        self._show(self._done, means)
        self._shown = time.monotonic()


class BegunSteps:
    """Says on stderr which step begins; without a terminal, where there is no bar, seldom."""

    def __init__(self, pause: float = _STEP_EVERY) -> None:
        self._said, self._pause = time.monotonic(), pause

    def __call__(self, what: str) -> None:
        """Take note of the step that begins."""
        now = time.monotonic()
        if sys.stderr.isatty() or now - self._said >= self._pause:
            self._said = now
            click.echo(f"{what} ...", err=True)


class TrainingProgress:
    """Shows the steps of a training, and the folds that have been learned, also without a terminal.

    What `note` gets is always said.
    """

    def __init__(self, show: Show) -> None:
        self._show, self._begun = show, 0
        self._said, self._folds = BegunSteps(), StepProgress()

    def step(self, what: str) -> None:
        """Take note of the step that begins."""
        self._show(self._begun, [what])
        self._begun += 1
        if not sys.stderr.isatty():
            self._said(what)

    def fold(self, what: str) -> None:
        """Take note of a fold."""
        self._show(max(0, self._begun - 1), [what])
        if not sys.stderr.isatty():
            self._folds(what)

    def note(self, what: str) -> None:
        """Say something."""
        click.echo(what, err=True)


class EncodingProgress:
    """Says on stderr how many texts are encoded, every few seconds, also without a terminal."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, done: int, number: int) -> None:
        """Take note of how many texts are done."""
        now = time.monotonic()
        if now - self._said >= _SAID_EVERY:
            self._said = now
            click.echo(f"encoded {done:,} of {number:,} texts", err=True)


class StepProgress:
    """Says on stderr what is done, every few seconds, also without a terminal."""

    def __init__(self) -> None:
        self._said = time.monotonic() - _SAID_EVERY

    def __call__(self, what: str) -> None:
        """Take note of a step; those that end with a figure are always said."""
        now = time.monotonic()
        if now - self._said >= _SAID_EVERY or what.endswith("right"):
            self._said = now
            click.echo(what, err=True)


def watched(
    items: Iterable[T], what: str, portion: Callable[[], float | None] = lambda: None
) -> Iterator[T]:
    """Return the items while a bar counts them; `portion` is how much is read, 0 to 1, if known."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        for number, item in enumerate(items, 1):
            yield item
            if number % _EVERY == 0:
                done = portion()
                total = None if done is None else 1
                bar.update(task, description=f"{what} {number:,}", total=total, completed=done)


def _fitting(notes: Sequence[str], room: int) -> str:
    """Return the first notes, as many as fit into `room` columns."""
    number = len(notes)
    while number and len(_GAP.join(notes[:number])) > room:
        number -= 1
    return _GAP.join(notes[:number])
