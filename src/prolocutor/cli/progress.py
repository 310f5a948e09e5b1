"""Progress: a bar on stderr while something takes its time, where a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

T = TypeVar("T")

_EVERY: Final = 200


def watched(
    items: Iterable[T], what: str, portion: Callable[[], float | None] = lambda: None
) -> Iterator[T]:
    """Return the items on, with a bar on stderr if that is a terminal.

    `portion` tells how much is done, 0 to 1; None where that is not known.
    """
    if not sys.stderr.isatty():
        yield from items
        return
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
