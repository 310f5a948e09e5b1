"""LessonFiles: the files beside a store in which learners keep what persons taught them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.person_access import shared_store
from prolocutor.assistant.shared_lessons import SharedLessons
from prolocutor.contracts.store import Store
from prolocutor.plugins.pairing.question_agent.label_journal import LabelJournal
from prolocutor.plugins.pairing.rating_learner import RatingLearner

KIND: Final = "lesson-file"


class LessonFiles:
    """Notes in a store where the assistants that ran on it keep lessons, and deletes from there.

    A person can so be deleted by a process that knows the store alone.
    """

    def __init__(self, store: Store, observers: ObserverGroup | None = None) -> None:
        self._store = store
        self._observers = observers or ObserverGroup(())

    async def note(self) -> None:
        """Write down the files of the learners among the observers."""
        learners = [one for one in self._observers.observers if isinstance(one, RatingLearner)]
        files = {str(one.file) for one in learners if one.file is not None}
        known = await self._store.records("", KIND) if files else ()
        for file in sorted(files.difference(known)):
            await self._store.put_record("", KIND, file, b"true")

    async def forget(self, user: str) -> None:
        """Remove what a person taught; no assistant runs on the store, unless others share it."""
        for file in await self._store.records("", KIND):
            LabelJournal(Path(file)).forget(user)
        if (shared := shared_store(self._store)) is not None:
            await SharedLessons(shared, self._observers).forget(user)
