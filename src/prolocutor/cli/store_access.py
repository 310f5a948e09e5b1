"""The store that a command changes, through its owner if it has one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.operator_labels import OperatorLabels
from prolocutor.assistant.person_names import names_of
from prolocutor.catalog import Catalog
from prolocutor.cli.owner import OwnerDoor, door_of
from prolocutor.config.dialog_source import check_exists
from prolocutor.config.store_location import sqlite_file, store_url
from prolocutor.contracts.store import ArchiveStore, DialogQuery, Store
from prolocutor.dialog.ids import timestamp
from prolocutor.errors import NotFound
from prolocutor.stores.store_catalog import open_store

ID_LENGTH = 32

FORGETTING: Final = Catalog[Callable[[Store, str | None], Awaitable[None]]](
    "way to forget a person", "prolocutor.forgetting"
)
"""What removes what a person left beside a store that no assistant runs on, before the person is
deleted; without a person, what is left of dialogs that were deleted."""


class DirectChanges:
    """Changes of a store that no process owns."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs, in operators' labels and lessons too."""
        deleted = False
        for one in await names_of(self._store, user):
            await OperatorLabels(self._store).forget(one)
            for name in FORGETTING.names():
                await FORGETTING.load(name)(self._store, one)
            deleted |= await self._store.delete_person(one)
        return deleted

    async def delete_older(self, before: str) -> int:
        """Delete old dialogs, also what operators' labels have of them; return their number."""
        deleted = await self._store.delete_older(before)
        for name in FORGETTING.names():
            await FORGETTING.load(name)(self._store, None)
        if await OperatorLabels(self._store).forget_deleted(None):
            await self._store.erase()
        return deleted

    async def rate(self, id_: str, rating: Any) -> str:
        """Rate a dialog or an utterance and return which it is."""
        return await rate(self._store, id_, rating)


@asynccontextmanager
async def change(given: str | None) -> AsyncIterator[OwnerDoor | DirectChanges]:
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
        yield DirectChanges(store)
    finally:
        await store.aclose()


async def full_id(store: Store, id_: str) -> str:
    """Return the whole id of a dialog whose first characters are given; other ids as they are.

    Raise `NotFound` if several dialogs match.
    """
    if len(id_) >= ID_LENGTH:
        return id_
    found = await store.dialog_ids(DialogQuery(after=id_, limit=2))
    alike = [one for one in found if one.startswith(id_)]
    if len(alike) > 1:
        raise NotFound(f"several dialogs have an id that begins with {id_}; give more of it")
    return alike[0] if alike else id_


async def rate(
    store: ArchiveStore, id_: str, rating: Any, assistant: Assistant | None = None
) -> Literal["dialog", "utterance"]:
    """Rate the dialog or the utterance of this id and return which it is; `NotFound` if neither.

    `assistant`: the one that runs on the store, if any; it learns from ratings.
    """
    user = await store.owner_of(id_)
    try:
        await store.rate_dialog(id_, rating, user, timestamp())
    except NotFound:
        try:
            if assistant is not None:
                await assistant.archive.rate(id_, rating, user)
            else:
                await store.rate_utterance(id_, rating, user, timestamp())
        except NotFound:
            what = f"no dialog or utterance has the id {id_}; prolocutor dialogs list shows some"
            raise NotFound(what, field="id") from None
        return "utterance"
    return "dialog"
