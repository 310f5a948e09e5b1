"""The output of commands: JSON, numbers, foreign text in one line, progress."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import click
import msgspec

T = TypeVar("T")

Show = Callable[[int, Sequence[str]], None]
"""Called with how many are done, and notes such as scores, the most important first."""

_OBEYED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UPDATE_ITEMS: Final = 200
"""Items between two updates of a progress bar."""

_GAP: Final = "  "
_MAX_NAME_COLUMNS: Final = 24
_SHORTEST_BAR: Final = 8
_LONGEST_BAR: Final = 40
_TIME_COLUMNS: Final = 7 + 4 + 7 + 6
"""Columns that elapsed and remaining time and the spaces between all columns take."""


def write_json(file: str, value: Any) -> None:
    """Write a value as indented JSON to a file; `-` is stdout."""
    with click.open_file(file, "wb") as out:
        out.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
        out.flush()


def figure(value: float) -> str:
    """Write a number with four decimals, or in four digits if it is very large or small."""
    if value == 0 or 0.0001 <= abs(value) < 1000:
        return f"{value:.4f}"
    return f"{value:.4g}"


def count_text(count: int, noun: str) -> str:
    """Return a number with its noun: "1 example", "2,000 examples"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def clean(text: str, longest: int = 160) -> str:
    """Return a text as a printable line of at most `longest` characters; `-` if it is empty."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    return (shown if len(shown) <= longest else f"{shown[: longest - 1]}…") or "-"


def visible(text: str) -> str:
    """Return a text with spaces for the control and direction characters that a terminal obeys.

    Line ends and tabs stay, as do the joiners of scripts and emoji.
    """
    return _OBEYED.sub(" ", text)


@contextmanager
def progress_bar(number: Callable[[], int], what: str) -> Iterator[Show]:
    """Draw a bar for `number()` steps during the block, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, notes: None
        return
    with drawn_bar(number(), what) as show:
        yield show


@contextmanager
def drawn_bar(total: int, what: str) -> Iterator[Show]:
    """Draw a bar. A narrow terminal shows only the first notes, but always the count and times."""
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
    name = what if len(what) <= _MAX_NAME_COLUMNS else f"{what[: _MAX_NAME_COLUMNS - 1]}…"
    room = console.width - len(name) - (2 * len(str(total)) + 1) - _TIME_COLUMNS
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


def show_progress(
    items: Iterable[T], what: str, portion: Callable[[], float | None] = lambda: None
) -> Iterator[T]:
    """Yield the items while a bar counts them; `portion` returns the progress, 0 to 1, if known."""
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
            if number % _UPDATE_ITEMS == 0:
                done = portion()
                total = None if done is None else 1
                bar.update(task, description=f"{what} {number:,}", total=total, completed=done)


def _fitting(notes: Sequence[str], room: int) -> str:
    """Return as many of the first notes as fit into `room` columns."""
    number = len(notes)
    while number and len(_GAP.join(notes[:number])) > room:
        number -= 1
    return _GAP.join(notes[:number])
