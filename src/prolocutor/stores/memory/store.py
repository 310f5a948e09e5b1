"""MemoryStore: all promises of a store together, kept in one `Kept`."""

from __future__ import annotations

from prolocutor.stores.memory.agenda import MemoryAgenda
from prolocutor.stores.memory.archive import MemoryArchive
from prolocutor.stores.memory.kept import Kept
from prolocutor.stores.memory.turns import MemoryTurns


def from_url(url: str, durability: str) -> MemoryStore:
    """Make the store that `memory:` means; nothing of it is durable."""
    del url, durability
    return MemoryStore()


class MemoryStore(MemoryTurns, MemoryAgenda, MemoryArchive):
    """Everything in dictionaries of this process; nothing here ever waits."""

    def __init__(self) -> None:
        super().__init__(Kept())
