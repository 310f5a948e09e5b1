"""The process that owns a SQLite store, and its HTTP door for other processes."""

from __future__ import annotations

import http.client
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from prolocutor.assistant.archive import list_names
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.operator_desk import OperatorLabels
from prolocutor.catalog import Catalog
from prolocutor.config.store_location import sqlite_file
from prolocutor.contracts.store import ArchiveStore, Store
from prolocutor.dialog import plain
from prolocutor.dialog.ids import timestamp
from prolocutor.errors import BadInput, NotFound, ProlocutorError, StoreError, StoreLocked
from prolocutor.stores.sqlite.ownership import owner_of_file
from prolocutor.stores.sqlite.sqlite_store import SqliteStore

OWNER_TIMEOUT: Final = 2.0
"""Seconds for an owner to open its door or to be done."""

ANSWER_TIME: Final = 120.0
"""Seconds to wait for an answer of the store's owner."""

_POLL_SECONDS: Final = 0.05
"""Seconds between two looks for the owner's door."""

_KINDS: Final = {kind.code: kind for kind in (NotFound, BadInput)}

FORGETTING: Final = Catalog[Callable[[Store, str | None], Awaitable[None]]](
    "way to forget a person", "prolocutor.forgetting"
)
"""What removes what a person left beside a store that no assistant runs on, before the person is
deleted; without a person, what is left of dialogs that were deleted."""


class OwnerNote(msgspec.Struct, frozen=True):
    """The note of an owner in the store's lock: its command, and the `url` of its door, if any.

    `file`: the assistant's file. `key`: the key for the door, None without a door.
    """

    command: str
    file: str = ""
    url: str | None = None
    key: str | None = None

    def text(self) -> str:
        """Return the note as text for `note_owner`."""
        return plain.encode(self).decode()


class OwnerDoor(msgspec.Struct, frozen=True):
    """The door of a store's owner, which `cli/owner_channel.py` serves."""

    note: OwnerNote

    async def delete_person(self, user: str) -> bool:
        """Delete a person; return False if no person has the name."""
        return bool(self.post("/owner/delete", {"user": user})["deleted"])

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs that were last used before a time; return their number."""
        return int(self.post("/owner/delete", {"before": before})["deleted"])

    async def rate(self, id_: str, rating: Any) -> str:
        """Rate a dialog or an utterance and return which it is."""
        return str(self.post("/owner/rate", {"id": id_, "rating": rating})["rated"])

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send a request and return the decoded answer; raise the owner's error if it refuses."""
        status, data = self._exchange(path, plain.encode(body))
        answer = plain.decode(data) if data else None
        if status < 400:
            return answer
        error = answer if isinstance(answer, dict) else {}
        kind = _KINDS.get(error.get("code", ""), ProlocutorError)
        raise kind(error.get("error") or f"{self.note.url} answered with status {status}")

    def _exchange(self, path: str, body: bytes) -> tuple[int, bytes]:
        address = urlsplit(self.note.url or "")
        headers = {"Content-Type": "application/json"}
        if self.note.key:
            headers["Authorization"] = f"Bearer {self.note.key}"
        line = http.client.HTTPConnection(
            address.hostname or "127.0.0.1", address.port, timeout=ANSWER_TIME
        )
        try:
            line.request("POST", f"{address.path}{path}", body, headers)
            response = line.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException, ValueError) as error:
            what = f"the owner of the store does not answer at {self.note.url}: {error}"
            raise StoreError(what) from None
        finally:
            line.close()


class StoreOwner(msgspec.Struct, frozen=True):
    """The process that currently owns a store."""

    file: Path
    pid: int | None
    note: OwnerNote

    def locked_error(
        self, way_out: str = "end it, or choose another store with --store"
    ) -> StoreLocked:
        """Return the error with the store's owner and a remedy."""
        who = f"process {self.pid or '?'}"
        if self.note.command:
            who += f" (prolocutor {self.note.command})"
        door = f" and serves it at {self.note.url}" if self.note.url else ""
        return StoreLocked(f"{self.file}: {who} has this store to itself{door}; {way_out}")


def leave_note(store: Store, note: OwnerNote) -> None:
    """Leave a note for other processes, if the store can have an owner."""
    if isinstance(store, SqliteStore):
        store.note_owner(note.text())


def find_owner_door(
    url: str, file: Path | None = None, patience: float = OWNER_TIMEOUT
) -> OwnerDoor | None:
    """Return the door of the store's owner; None if the store has no owner.

    `file`: the file of the wanted assistant, if it matters. Raise `StoreLocked` if the owner has no
    door, or serves another assistant.
    """
    owner = _owner(url, patience)
    if owner is None:
        return None
    if owner.note.url is None:
        raise owner.locked_error()
    if file is not None and owner.note.file != str(file):
        raise owner.locked_error(
            f"its assistant is {owner.note.file}: choose another store with --store"
        )
    return OwnerDoor(owner.note)


def check_free(url: str, patience: float = OWNER_TIMEOUT) -> None:
    """Raise `StoreLocked` if another process owns the store."""
    if (owner := _owner(url, patience)) is not None:
        raise owner.locked_error()


def _owner(url: str, patience: float) -> StoreOwner | None:
    """Return the owner; wait a moment for an owner without a door, which may open it or end."""
    path = sqlite_file(url)
    until = time.monotonic() + patience
    while path is not None and (found := _found(path)) is not None:
        if found.note.url is not None or time.monotonic() >= until:
            return found
        time.sleep(_POLL_SECONDS)
    return None


def _found(path: Path) -> StoreOwner | None:
    owner = owner_of_file(path)
    if owner is None:
        return None
    try:
        note = msgspec.json.decode(owner.note, type=OwnerNote)
    except msgspec.DecodeError:
        note = OwnerNote("")
    return StoreOwner(path, owner.pid or None, note)


class DirectChanges:
    """Changes of a store that no process owns."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all their data, also in operators' labels and lessons."""
        deleted = False
        for alias in await list_names(self._store, user):
            await OperatorLabels(self._store).forget(alias)
            for name in FORGETTING.names():
                await FORGETTING.load(name)(self._store, alias)
            deleted |= await self._store.delete_person(alias)
        return deleted

    async def delete_older(self, before: str) -> int:
        """Delete old dialogs, and their data in operators' labels; return the number of dialogs."""
        deleted = await self._store.delete_older(before)
        for name in FORGETTING.names():
            await FORGETTING.load(name)(self._store, None)
        if await OperatorLabels(self._store).forget_deleted(None):
            await self._store.erase()
        return deleted

    async def rate(self, id_: str, rating: Any) -> str:
        """Rate a dialog or an utterance and return which it is."""
        return await rate(self._store, id_, rating)


async def rate(
    store: ArchiveStore, id_: str, rating: Any, assistant: Assistant | None = None
) -> Literal["dialog", "utterance"]:
    """Rate a dialog or an utterance by its id; return which it is, or raise `NotFound`.

    `assistant`: the assistant that runs on the store, if any, which learns from ratings.
    """
    user = await store.find_owner(id_)
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
