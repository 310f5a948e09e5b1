"""The store that a command changes, through its owner if it has one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prolocutor.cli.owner import OwnerDoor, door_of
from prolocutor.config.store_location import sqlite_file, store_url
from prolocutor.contracts.store import DialogQuery, Store
from prolocutor.errors import NotFound
from prolocutor.evaluation.dialog_source import check_exists
from prolocutor.stores.catalog import open_store

ID_LENGTH = 32


@asynccontextmanager
async def change(given: str | None) -> AsyncIterator[OwnerDoor | Store]:
    """Open the store for changes: the door of its owner if it has one, else the store itself."""
    url = store_url(given)
    file = sqlite_file(url)
    if file is not None:
        check_exists(file)
    if (door := door_of(url)) is not None:
        yield door
        return
    store = open_store(url)
    await store.open()
    try:
        yield store
    finally:
        await store.aclose()


async def full_id(store: Store, id_: str) -> str:
    """Return the whole id of a dialog of which the beginning is given; other ids as they are.

    `NotFound` if several dialogs begin so.
    """
    if len(id_) >= ID_LENGTH:
        return id_
    found = await store.dialog_ids(DialogQuery(after=id_, limit=2))
    alike = [one for one in found if one.startswith(id_)]
    if len(alike) > 1:
        raise NotFound(f"several dialogs have an id that begins with {id_}; give more of it")
    return alike[0] if alike else id_
