"""The in-memory store: dictionaries, for tests and for assistants that need not remember."""

from prolocutor.stores.memory.memory_store import MemoryStore, from_url

__all__ = ["MemoryStore", "from_url"]
