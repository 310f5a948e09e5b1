"""SharedLessons: ratings of replies and hints, from which the learners of all replicas learn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

import msgspec

from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.contracts.observer import Rated
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.plugins.pairing.rating_learner import RatingLearner

log = logging.getLogger(__name__)

KIND: Final = "lesson"
HINT: Final = "hint"
VERSION: Final = "lessons-version"
_KEY: Final = "now"
MOST_HINTS: Final = 6000
"""Hints that are stored; beyond that the oldest tenth is deleted."""


class SharedLessons:
    """Keeps ratings and hints as records of the assistant, and passes each on to the learners here.

    A version is written after each change: other replicas look at that alone, and read the lessons
    where it is another one. Learners are taught in the order in which the ratings were stored. A
    hint waits for the next look, and may be lost with the process.
    """

    def __init__(self, store: RecordStore, observers: ObserverGroup) -> None:
        self._store = store
        self._observers = observers
        self._taught: dict[str, str] = {}
        self._version: bytes | None = None
        self._lock = asyncio.Lock()
        self._found: list[RouterLabel] = []
        for learner in self._learners():
            learner.share = self._found.append

    async def add(self, rated: Rated) -> None:
        """Store a rating and learn from it; others learn from it when they look."""
        await self._store.put_record("", KIND, new_id(), plain.encode(rated))
        await self._changed()

    async def forget(self, user: str) -> None:
        """Remove what a person taught, here and elsewhere."""
        self._leave_out(lambda one: one.user == user)
        for key, body in (await self._store.records("", KIND)).items():
            if _read(body).user == user:
                await self._store.delete_record("", KIND, key)
        await self._delete_hints(lambda one: one.user == user)
        await self._changed()

    async def forget_hints(self, falls: Callable[[RouterLabel], bool]) -> None:
        """Remove some hints, here and elsewhere."""
        self._leave_out(falls)
        if await self._delete_hints(falls):
            await self._changed()

    async def refresh(self) -> None:
        """Learn what was taught at other replicas since the last look, and store new hints."""
        async with self._lock:
            if self._found:
                await self._store_hints()
            version = (await self._store.records("", VERSION)).get(_KEY)
            if version == self._version:
                return
            stored = await self._store.records("", KIND)
            hints = await self._store.records("", HINT)
            gone = {user for key, user in self._taught.items() if key not in stored | hints}
            for user in gone:
                self._observers.person_deleted(user)
                self._taught = {key: one for key, one in self._taught.items() if one != user}
            for key, body in stored.items():
                if key not in self._taught:
                    rated = _read(body)
                    self._taught[key] = rated.user
                    self._observers.reply_rated(rated)
            for key, body in hints.items():
                if key not in self._taught:
                    hint = _read_hint(body)
                    self._taught[key] = hint.user
                    for learner in self._learners():
                        learner.hint_found(hint)
            self._version = version

    async def _store_hints(self) -> None:
        while self._found:
            await self._store.put_record("", HINT, new_id(), plain.encode(self._found[0]))
            del self._found[:1]
        keys = [*await self._store.records("", HINT)]
        for key in keys[: len(keys) // 10] if len(keys) > MOST_HINTS else ():
            await self._store.delete_record("", HINT, key)
        await self._put_version()

    async def _delete_hints(self, falls: Callable[[RouterLabel], bool]) -> int:
        number = 0
        for key, body in (await self._store.records("", HINT)).items():
            if falls(_read_hint(body)):
                number += await self._store.delete_record("", HINT, key)
        return number

    def _leave_out(self, falls: Callable[[RouterLabel], bool]) -> None:
        """Leave some of the hints out that wait for the store."""
        self._found[:] = [one for one in self._found if not falls(one)]

    def _learners(self) -> list[RatingLearner]:
        observers = self._observers.observers
        return [one for one in observers if isinstance(one, RatingLearner) and one.takes_hints]

    async def _changed(self) -> None:
        await self._put_version()
        await self.refresh()

    async def _put_version(self) -> None:
        await self._store.put_record("", VERSION, _KEY, new_id().encode().join((b'"', b'"')))


def _read(body: bytes) -> Rated:
    return msgspec.json.decode(body, type=Rated)


def _read_hint(body: bytes) -> RouterLabel:
    return msgspec.json.decode(body, type=RouterLabel)
