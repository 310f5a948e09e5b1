"""DialogChanges: what changes dialogs outside of turns, with the caches that it concerns."""

from __future__ import annotations

from typing import Any

from prolocutor.assistant.agenda_scheduler import AgendaScheduler
from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.handovers import Handovers
from prolocutor.assistant.hint_upkeep import HintUpkeep
from prolocutor.assistant.journal import Journal
from prolocutor.assistant.lesson_files import LessonFiles
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.operator_labels import OperatorLabels
from prolocutor.assistant.rounds.secrets import Secrets
from prolocutor.assistant.shared_lessons import SharedLessons
from prolocutor.contracts.observer import Rated
from prolocutor.contracts.store import Store
from prolocutor.dialog.ids import timestamp
from prolocutor.dialog.utterances import BotUtterance


class DialogChanges:
    """Closes dialogs and deletes persons, each in the queue of its person; stores ratings."""

    def __init__(
        self,
        store: Store,
        *,
        journal: Journal,
        secrets: Secrets,
        listeners: FeedListeners,
        scheduler: AgendaScheduler,
        observers: ObserverGroup,
        handovers: Handovers,
        labels: OperatorLabels,
        lessons: SharedLessons | None = None,
    ) -> None:
        self._store = store
        self._journal = journal
        self._secrets = secrets
        self._listeners = listeners
        self._scheduler = scheduler
        self._observers = observers
        self._handovers = handovers
        self._labels = labels
        self._lessons = lessons
        self.hints = HintUpkeep(store, observers, lessons)
        self.lesson_files = LessonFiles(store, observers)

    async def close_dialog(self, user: str, dialog: str) -> str | None:
        """End the active dialog of that name and return its id, if there is one."""
        self._secrets.forget(user)
        closed = await self._store.close_dialog(user, dialog)
        self._scheduler.round_ended(user, dialog)
        if closed is not None:
            await self._handovers.forget(user, closed)
        return closed

    async def delete_conversation(self, user: str, dialog: str) -> int:
        """Delete the dialogs of one name; return their number."""
        await self.close_dialog(user, dialog)
        await self._journal.settle(user)
        deleted = await self._store.delete_conversation(user, dialog)
        await self.hints.check(user)
        self._listeners.wake(user)
        return deleted

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last turn was before then; return their number."""
        deleted = await self._store.delete_older(before)
        await self.hints.check()
        return deleted

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs; return False if unknown."""
        self._journal.forget(user)
        self._secrets.forget(user)
        await self._handovers.forget(user)
        deleted = await self._store.delete_person(user)
        await self._labels.forget(user)
        self._scheduler.forget(user)
        self._observers.person_deleted(user)
        if self._lessons is not None and self._observers.has_learners:
            await self._lessons.forget(user)
        self._listeners.wake(user)
        return deleted

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None) -> None:
        """Store a rating; pass it on if it is of a reply and an observer learns from ratings."""
        await self._store.rate_utterance(utt_id, rating, user, timestamp())
        turn = await self._store.turn(utt_id) if self._observers.has_learners else []
        if len(turn) != 2:
            return
        asked, reply = turn
        assert isinstance(reply, BotUtterance)
        rated = Rated(
            utt_id=utt_id,
            user=await self._store.owner_of(utt_id) or "",
            question=asked.text,
            agent=reply.active_skill,
            rating=rating,
        )
        if self._lessons is not None:
            await self._lessons.add(rated)
        else:
            self._observers.reply_rated(rated)
