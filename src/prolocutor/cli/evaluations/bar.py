"""The bar itself, drawn by rich."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


@contextmanager
def bar(number: int, what: str) -> Iterator[Callable[[int, str], None]]:
    """Draw a bar on stderr for as long as the block runs; it is told how many are done."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left", style="dim"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[scores]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=False) as drawn:
        task = drawn.add_task(what, total=number, scores="")

        def show(done: int, scores: str) -> None:
            drawn.update(task, completed=done, scores=scores)

        yield show
