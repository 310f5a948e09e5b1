"""The progress of a run: counts and mean scores."""

from __future__ import annotations

import time
from typing import Final

from prolocutor.cli.progress import Show
from prolocutor.plugins.evaluation.example_rows import ExampleRow

_PAUSE: Final = 0.1
_SCORES: Final = 3
_LEFT_OUT: Final = ("precision", "recall")


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
