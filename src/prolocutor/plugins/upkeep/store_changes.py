"""Changes of a store: through the door of its owner, or directly if no process owns it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from prolocutor.cli.owner import DirectChanges, OwnerDoor, find_owner_door
from prolocutor.config.store_location import check_exists, sqlite_file, store_url
from prolocutor.contracts.store import DialogQuery, Store
from prolocutor.errors import NotFound
from prolocutor.stores.store_catalog import open_store

ID_LENGTH: Final = 32
"""Characters of the id of a dialog."""


@asynccontextmanager
async def change(given: str | None) -> AsyncIterator[OwnerDoor | DirectChanges]:
    """Open the store for changes: through its owner's door, or directly without an owner."""
    url = store_url(given)
    file = sqlite_file(url)
    if file is not None:
        check_exists(file)
    if (door := find_owner_door(url)) is not None:
        yield door
        return
    store = open_store(url)
    await store.open()
    try:
        yield DirectChanges(store)
    finally:
        await store.aclose()


async def full_id(store: Store, id_: str) -> str:
    """Return the whole id of a dialog from its first characters; other ids unchanged.

    Raise `NotFound` if several dialogs match.
    """
    if len(id_) >= ID_LENGTH:
        return id_
    found = await store.dialog_ids(DialogQuery(after=id_, limit=2))
    alike = [one for one in found if one.startswith(id_)]
    if len(alike) > 1:
        raise NotFound(f"several dialogs have an id that begins with {id_}; give more of it")
    return alike[0] if alike else id_
