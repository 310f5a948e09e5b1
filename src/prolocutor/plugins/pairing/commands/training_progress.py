"""What is said on stderr while methods learn and are measured."""

from __future__ import annotations

import sys
import time
from typing import Final

import click

from prolocutor.cli.output import Show

_SAID_EVERY: Final = 5.0
_STEP_EVERY: Final = 20.0


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
