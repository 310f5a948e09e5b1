"""The names of one person at all doors, known also where none of them is open."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from prolocutor.contracts.store import RecordStore

PREFIX: Final = "door-prefix"
"""The kind of the records that name what doors put before the names of their persons."""


async def note_prefixes(store: RecordStore, prefixes: Collection[str]) -> None:
    """Note the prefixes of doors; those of doors that are no more stay, as what was said there."""
    known = await store.records("", PREFIX)
    for prefix in prefixes:
        if prefix and prefix not in known:
            await store.put_record("", PREFIX, prefix, b"true")


async def names_of(store: RecordStore, user: str) -> list[str]:
    """Return all names of a person; a name with the prefix of a door is the one at that door."""
    prefixes = await store.records("", PREFIX)
    if any(user.startswith(prefix) for prefix in prefixes):
        return [user]
    return [user, *(prefix + user for prefix in prefixes)]
