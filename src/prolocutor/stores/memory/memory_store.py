"""MemoryStore: all promises of a store over one `MemoryState`."""

from __future__ import annotations

from prolocutor.stores.memory.agenda_store import MemoryAgendaStore
from prolocutor.stores.memory.archive_store import MemoryArchiveStore
from prolocutor.stores.memory.conversation_store import MemoryConversationStore
from prolocutor.stores.memory.state import MemoryState
from prolocutor.stores.memory.turn_records import MemoryTurnRecords
from prolocutor.stores.memory.turn_store import MemoryTurnStore


def from_url(url: str, durability: str) -> MemoryStore:
    """Make the store that `memory:` means; nothing of it is durable."""
    del url, durability
    return MemoryStore()


class MemoryStore(MemoryTurnStore, MemoryAgendaStore, MemoryConversationStore, MemoryArchiveStore):
    """Everything in dictionaries of this process; no method ever waits."""

    def __init__(self) -> None:
        super().__init__(MemoryState())
        self.turn_records = MemoryTurnRecords(self._state)
