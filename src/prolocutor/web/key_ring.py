"""KeyRing: the keys and tokens in the store, hashed, with their end and their last use."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.http import KeyScope
from prolocutor.contracts.shared_store import store_clock
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog.ids import new_id
from prolocutor.errors import NotFound, StoreError

log = logging.getLogger(__name__)

KIND: Final = "access-key"
"""The kind of the assistant's own records that are keys."""

PREFIX: Final = "prolocutor_"
REFRESH_SECONDS: Final = 5.0
"""Seconds after which keys that were made or revoked elsewhere count here."""

_ID_DIGITS: Final = 16
_USE_STEP: Final = 60.0
"""Seconds by which the last use has to be later to be written again."""


class StoredKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key, or the token of the person `user`, which has no scopes.

    `digest` is its secret's; times are in seconds (UNIX).
    """

    id: str
    name: str
    scopes: tuple[KeyScope, ...]
    digest: str
    created: float
    expires: float | None = None
    used: float | None = None
    user: str | None = None


class KeyRing:
    """The keys of a store.

    A secret is 32 random bytes, so its fast digest reveals nothing to a reader of the store. A key
    is found by its id and compared in constant time.
    """

    def __init__(self, records: RecordStore, clock: Callable[[], float] | None = None) -> None:
        self._records = records
        self._clock = clock or store_clock(records)
        self.keys: dict[str, StoredKey] = {}
        """The keys by id, those included that have ended."""
        self.is_read = False
        """Whether the keys have been read."""
        self._used: dict[str, float] = {}
        self._tasks = BackgroundTasks("keys")

    async def open(self) -> None:
        """Read the keys, and again every few seconds."""
        await self.refresh()
        self._tasks.start(self._refresh_often())

    async def aclose(self) -> None:
        """Write the last uses and stop."""
        await self._tasks.aclose()
        with suppress(StoreError):
            await self.refresh()

    async def create(
        self,
        name: str,
        scopes: Sequence[KeyScope],
        seconds: float | None = None,
        user: str | None = None,
    ) -> tuple[str, StoredKey]:
        """Make a key, or the token of a `user`, valid for `seconds`; None: for ever.

        Return its secret and the stored key.
        """
        now, secret = self._clock(), secrets.token_urlsafe(32)
        key = StoredKey(
            id=new_id()[-_ID_DIGITS:],
            name=name,
            scopes=tuple(dict.fromkeys(scopes)),
            digest=_digest(secret),
            created=now,
            expires=None if seconds is None else now + seconds,
            user=user,
        )
        await self._write(key)
        return f"{PREFIX}{key.id}_{secret}", key

    async def list(self) -> list[StoredKey]:
        """Return all keys, the oldest first."""
        await self.refresh()
        return sorted(self.keys.values(), key=lambda key: key.created)

    async def revoke(self, id_: str) -> None:
        """Delete a key; raise `NotFound` for an unknown key."""
        if not await self._records.delete_record("", KIND, id_):
            raise NotFound(f"no key has the id {id_}; prolocutor keys list shows them")
        self.keys.pop(id_, None)
        self._used.pop(id_, None)

    async def match(
        self, wanted: Sequence[StoredKey]
    ) -> tuple[Sequence[StoredKey], Sequence[StoredKey]]:
        """Add and revoke keys to match `wanted`; return the added and the revoked keys."""
        ids, there = {key.id for key in wanted}, await self.list()
        added = [key for key in wanted if key.id not in self.keys]
        revoked = [key for key in there if key.id not in ids]
        for key in added:
            await self._write(msgspec.structs.replace(key, used=None))
        for key in revoked:
            await self.revoke(key.id)
        return added, revoked

    def find(self, secret: str) -> StoredKey | None:
        """Return the key with this secret; None if it is unknown or has ended."""
        id_, _, rest = secret.removeprefix(PREFIX).partition("_")
        key = self.keys.get(id_)
        digest = "" if key is None else key.digest
        if not hmac.compare_digest(digest, _digest(rest)) or key is None:
            return None
        now = self._clock()
        if key.expires is not None and key.expires <= now:
            return None
        self._used[id_] = now
        return key

    async def refresh(self) -> None:
        """Read the keys, and write their last uses."""
        stored = await self._records.records("", KIND)
        keys = {id_: msgspec.json.decode(body, type=StoredKey) for id_, body in stored.items()}
        self.keys, self.is_read = keys, True
        for id_, used in list(self._used.items()):
            del self._used[id_]
            key = keys.get(id_)
            if key is not None and used - (key.used or 0.0) >= _USE_STEP:
                await self._write(msgspec.structs.replace(key, used=used))

    async def _write(self, key: StoredKey) -> None:
        await self._records.put_record("", KIND, key.id, msgspec.json.encode(key))
        self.keys[key.id] = key

    async def _refresh_often(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            try:
                await self.refresh()
            except StoreError as error:
                log.warning("the keys cannot be read again: %s", error)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
