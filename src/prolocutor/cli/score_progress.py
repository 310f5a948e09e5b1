"""Progress: a bar with the time that is left and the scores so far, where a person looks on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Final

from prolocutor.evaluation.example_rows import ExampleRow

Told = Callable[[int, list[ExampleRow]], None]

_MOMENT: Final = 0.1
_SHOWN: Final = 3
_LEFT_OUT: Final = ("precision", "recall")


@contextmanager
def score_progress(number: Callable[[], int], what: str) -> Iterator[Told]:
    """Show on a terminal's stderr how many of `number()` examples are done; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield lambda count, rows: None
        return
    with import_module("prolocutor.cli.progress_bar").bar(number(), what) as show:
        told = ScoreProgress(show)
        try:
            yield told
        finally:
            told.show()


class ScoreProgress:
    """Counts rows and their scores, and shows them now and then."""

    def __init__(self, show: Callable[[int, Sequence[str]], None]) -> None:
        self._show = show
        self._done = self._failed = 0
        self._sums: dict[str, tuple[float, int]] = {}
        self._shown = 0.0

    def __call__(self, count: int, rows: list[ExampleRow]) -> None:
        self._done += count
        for row in rows:
            self._failed += row.error is not None
            for name, score in row.scores.items():
                total, number = self._sums.get(name, (0.0, 0))
                self._sums[name] = (total + (score or 0.0), number + 1)
        if time.monotonic() - self._shown >= _MOMENT:
            self.show()

    def show(self) -> None:
        """Show how it stands."""
        names = [name for name in self._sums if name not in _LEFT_OUT][:_SHOWN]
        means = [f"{name} {self._sums[name][0] / self._sums[name][1]:.3f}" for name in names]
        if self._failed:
            means.insert(0, f"{self._failed:,} failed")
        self._show(self._done, means)
        self._shown = time.monotonic()
