"""Bounded work: large programs are read in a thread, so that the event loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from prolocutor.contracts.programs import ProgramSource

LARGE: Final = 1_000
"""The length in characters from which a program is read in a thread (8 KB take up to 0.5 s, this
length 20 ms).
"""

T = TypeVar("T")


async def run_bounded(size: int, work: Callable[[], T]) -> T:
    """Do work on a program of `size` characters, in a thread if it may take long."""
    return await asyncio.to_thread(work) if size > LARGE else work()


def program_size(source: ProgramSource) -> int:
    """Return the number of characters of a program, with its entities."""
    text = len(source.text or "") + sum(len(token) + 1 for token in source.code)
    return text + len(str(source.entities))
