"""The bar itself, drawn by rich."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_GAP: Final = "  "
_LONGEST: Final = 24
_SHORTEST: Final = 8
_LONGEST_BAR: Final = 40
_TIMES: Final = 7 + 4 + 7 + 6
"""What elapsed and remaining time and the spaces between all columns take."""


@contextmanager
def bar(number: int, what: str) -> Iterator[Callable[[int, Sequence[str]], None]]:
    """Draw a bar on stderr for as long as the block runs; it is told how many are done.

    In a narrow terminal scores are left out, the last first, and count and time stay.
    """
    console = Console(stderr=True)
    name = what if len(what) <= _LONGEST else f"{what[: _LONGEST - 1]}…"
    count = 2 * len(str(number)) + 1
    room = console.width - len(name) - count - _TIMES
    size = max(_SHORTEST, min(_LONGEST_BAR, room // 3))
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=size),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left", style="dim"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[scores]}", markup=False),
    )
    with Progress(*columns, console=console, transient=False) as drawn:
        task = drawn.add_task(name, total=number, scores="")

        def show(done: int, scores: Sequence[str]) -> None:
            drawn.update(task, completed=done, scores=fitting(scores, room - size))

        yield show


def fitting(scores: Sequence[str], room: int) -> str:
    """Return as many scores, the first first, as there is room for."""
    number = len(scores)
    while number and len(_GAP.join(scores[:number])) > room:
        number -= 1
    return _GAP.join(scores[:number])
