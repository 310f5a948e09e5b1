"""SharedLessons: ratings of replies, from which the learners of all replicas learn."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

import msgspec

from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.contracts.observer import Rated
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id

log = logging.getLogger(__name__)

KIND: Final = "lesson"
VERSION: Final = "lessons-version"
_KEY: Final = "now"


class SharedLessons:
    """Keeps ratings as records of the assistant, and passes each on to the learners here once.

    A version is written after each change: other replicas look at that alone, and read the lessons
    where it is another one. Learners are taught in the order in which the ratings were stored.
    """

    def __init__(self, store: RecordStore, observers: ObserverGroup) -> None:
        self._store = store
        self._observers = observers
        self._taught: dict[str, str] = {}
        self._version: bytes | None = None
        self._lock = asyncio.Lock()

    async def add(self, rated: Rated) -> None:
        """Store a rating and learn from it; others learn from it when they look."""
        await self._store.put_record("", KIND, new_id(), plain.encode(rated))
        await self._changed()

    async def forget(self, user: str) -> None:
        """Remove what a person taught, here and elsewhere."""
        for key, body in (await self._store.records("", KIND)).items():
            if _read(body).user == user:
                await self._store.delete_record("", KIND, key)
        await self._changed()

    async def refresh(self) -> None:
        """Learn what was taught at other replicas since the last look."""
        async with self._lock:
            version = (await self._store.records("", VERSION)).get(_KEY)
            if version == self._version:
                return
            stored = await self._store.records("", KIND)
            gone = {user for key, user in self._taught.items() if key not in stored}
            for user in gone:
                self._observers.person_deleted(user)
                self._taught = {key: one for key, one in self._taught.items() if one != user}
            for key, body in stored.items():
                if key not in self._taught:
                    rated = _read(body)
                    self._taught[key] = rated.user
                    self._observers.reply_rated(rated)
            self._version = version

    async def _changed(self) -> None:
        await self._store.put_record("", VERSION, _KEY, new_id().encode().join((b'"', b'"')))
        await self.refresh()


def _read(body: bytes) -> Rated:
    return msgspec.json.decode(body, type=Rated)
