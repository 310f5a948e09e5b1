"""Stores opened for reading, and their dialogs as data."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from prolocutor.config.store_location import sqlite_file, store_url
from prolocutor.contracts.store import Store
from prolocutor.dialog.dialog import Dialog
from prolocutor.errors import StoreError
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.stores.store_catalog import open_store

Dialogs = Callable[[], AbstractAsyncContextManager[AsyncIterator[Dialog]]]
"""Opens the dialogs for one pass, such as a store's `export()`, and closes what it opened."""


def dialogs_of(store: str, user: str | None = None) -> Dialogs:
    """Return what opens the dialogs of a store, beside its owner; "" is the user's own store."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[AsyncIterator[Dialog]]:
        async with read_from(store or None) as archive:
            yield archive.export(user=user)

    return opened


@asynccontextmanager
async def read_from(given: str | None) -> AsyncIterator[Store]:
    """Open the store for reading, beside its owner if it has one."""
    url = store_url(given)
    file = sqlite_file(url)
    if file is None:
        store = open_store(url)
    else:
        check_exists(file)
        store = SqliteStore(file, read_only=True)
    await store.open()
    try:
        yield store
    finally:
        await store.aclose()


def check_exists(file: Path) -> None:
    """Raise `StoreError` if there is no such SQLite file."""
    if not file.is_file():
        raise StoreError(
            f"{file}: there are no dialogs here; --store names another place, "
            "and prolocutor ask or chat make some"
        )
