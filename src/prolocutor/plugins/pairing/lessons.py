"""Lessons: what a router is taught by ratings and hints, in the store where replicas share it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.assistant.person_access import shared_store
from prolocutor.contracts.observer import Rated, TurnRecord
from prolocutor.contracts.store import RecordStore, Store
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.plugins.pairing.hints.hint_lessons import question_key
from prolocutor.plugins.pairing.question_agent.label_journal import LabelJournal
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.plugins.pairing.rating_learner import RatingLearner

FILE: Final = "lesson-file"
"""The kind of the records that name the files beside a store in which learners keep lessons."""

LESSON: Final = "lesson"
HINT: Final = "hint"
VERSION: Final = "lessons-version"
_KEY: Final = "now"
MOST_HINTS: Final = 6000
"""Hints that are stored; beyond that the oldest tenth is deleted."""


class Lessons:
    """Teaches one learner, and has it forget what was deleted; a `contracts.learner.Learner`.

    Where several replicas share the store, ratings and hints are records of it. A version is
    written after each change: other replicas look at that alone, and read the lessons where it is
    another one. The learner is taught in the order in which the ratings were stored. A hint waits
    for the next look, and may be lost with the process.
    """

    def __init__(self, learner: RatingLearner) -> None:
        self.learner = learner
        self._store: Store
        self._shared: SharedLessons | None = None

    async def start(self, store: Store) -> None:
        """Note where lessons are kept, and forget those of replies that are no more.

        A file that this store does not know was taught beside another store, whose replies are
        not to be looked for here.
        """
        self._store = store
        if (shared := shared_store(store)) is not None and self._shared is None:
            self._shared = SharedLessons(shared, self.learner)
        await self.refresh()
        file = self.learner.file
        is_known = file is not None and str(file) in await store.records("", FILE)
        if is_known or self._shared is not None:
            await self.replies_deleted()
        if file is not None and not is_known:
            await store.put_record("", FILE, str(file), b"true")

    async def refresh(self) -> None:
        """Learn what was taught at other replicas since the last look, and store new hints."""
        if self._shared is not None:
            await self._shared.refresh()

    def turn_ended(self, record: TurnRecord) -> None:
        """Learn what the words of a turn hint at."""
        self.learner.turn_ended(record)

    def breaker_changed(self, service: str, state: str) -> None:
        """Breakers teach nothing."""

    async def reply_rated(self, rated: Rated) -> None:
        """Learn from a rating; where replicas share the store, the others learn when they look."""
        if self._shared is None:
            self.learner.reply_rated(rated)
        else:
            await self._shared.add(rated)

    async def person_deleted(self, user: str) -> None:
        """Forget what a person taught, here and elsewhere."""
        self.learner.person_deleted(user)
        if self._shared is not None:
            await self._shared.forget(user)

    async def replies_deleted(self, user: str | None = None) -> None:
        """Forget the lessons of deleted replies: of one person's, or of all if none is named."""
        gone = await deleted_replies(self._store, self.learner.taught(), user)
        if gone:
            self.learner.replies_deleted(gone)
            if self._shared is not None:
                await self._shared.forget_replies(gone)

    async def questions_labelled(self, texts: Collection[str]) -> None:
        """Forget the hints of questions that an operator has labelled."""
        if self.learner.takes_hints:
            keys = set(map(question_key, texts))
            self.learner.questions_labelled(texts)
            await self._forget_hints(lambda one: question_key(one.text) in keys)

    async def _forget_hints(self, falls: Callable[[RouterLabel], bool]) -> None:
        if self._shared is not None:
            await self._shared.forget_hints(falls)


class SharedLessons:
    """Keeps ratings and hints as records of an assistant, and passes each on to the learner here.

    Without a `learner` it only forgets.
    """

    def __init__(self, store: RecordStore, learner: RatingLearner | None) -> None:
        self._store = store
        self._learner = learner
        self._taught: dict[str, str] = {}
        self._version: bytes | None = None
        self._lock = asyncio.Lock()
        self._found: list[RouterLabel] = []
        if learner is not None and learner.takes_hints:
            learner.share = self._found.append

    async def add(self, rated: Rated) -> None:
        """Store a rating and learn from it; others learn from it when they look."""
        await self._store.put_record("", LESSON, new_id(), plain.encode(rated))
        await self._changed()

    async def forget(self, user: str) -> None:
        """Remove what a person taught, here and elsewhere."""
        self._leave_out(lambda one: one.user == user)
        for key, body in (await self._store.records("", LESSON)).items():
            if _read(body).user == user:
                await self._store.delete_record("", LESSON, key)
        await self._delete_hints(lambda one: one.user == user)
        await self._changed()

    async def forget_replies(self, gone: Collection[str]) -> None:
        """Remove what some replies taught, here and elsewhere."""
        for key, body in (await self._store.records("", LESSON)).items():
            if _read(body).utt_id in gone:
                await self._store.delete_record("", LESSON, key)
        self._leave_out(lambda one: one.reply in gone)
        await self._delete_hints(lambda one: one.reply in gone)
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
            if self._learner is None or version == self._version:
                return
            stored = await self._store.records("", LESSON)
            hints = await self._store.records("", HINT) if self._learner.takes_hints else {}
            gone = {user for key, user in self._taught.items() if key not in stored | hints}
            for user in gone:
                self._learner.person_deleted(user)
                self._taught = {key: one for key, one in self._taught.items() if one != user}
            for key, body in stored.items():
                if key not in self._taught:
                    rated = _read(body)
                    self._taught[key] = rated.user
                    self._learner.reply_rated(rated)
            for key, body in hints.items():
                if key not in self._taught:
                    hint = _read_hint(body)
                    self._taught[key] = hint.user
                    self._learner.hint_found(hint)
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

    async def _changed(self) -> None:
        await self._put_version()
        await self.refresh()

    async def _put_version(self) -> None:
        await self._store.put_record("", VERSION, _KEY, new_id().encode().join((b'"', b'"')))


async def deleted_replies(
    store: Store, taught: Iterable[RouterLabel], user: str | None = None
) -> set[str]:
    """Return the replies that taught something and are no more, of one person if one is named."""
    replies = {one.reply for one in taught if one.reply and user in (None, one.user)}
    return {one for one in replies if await store.owner_of(one) is None}


async def forget_person(store: Store, user: str | None) -> None:
    """Remove what a person taught, or, without one, what dialogs did that were deleted.

    No assistant runs on the store, unless others share it.
    """
    for file in await store.records("", FILE):
        journal = LabelJournal(Path(file))
        if user is None:
            gone = await deleted_replies(store, journal.read())
            journal.leave_out(partial(_came_of, gone))
        else:
            journal.forget(user)
    if (shared := shared_store(store)) is not None and user is not None:
        await SharedLessons(shared, None).forget(user)


def _read(body: bytes) -> Rated:
    return msgspec.json.decode(body, type=Rated)


def _read_hint(body: bytes) -> RouterLabel:
    return msgspec.json.decode(body, type=RouterLabel)


def _came_of(replies: Collection[str], label: RouterLabel) -> bool:
    return label.reply in replies
