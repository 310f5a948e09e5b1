"""DialogArchive: changes of dialogs outside of turns; a person's names at all doors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final

from prolocutor.assistant.agenda_scheduler import AgendaScheduler
from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.handovers import Handovers
from prolocutor.assistant.journal import Journal
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.operator_desk import OperatorLabels
from prolocutor.assistant.turn_record import RecordKeeping
from prolocutor.assistant.turns import Turns, check_words, checked_dialog
from prolocutor.contracts.store import RecordStore, Store
from prolocutor.dialog import rounds
from prolocutor.dialog.ids import timestamp
from prolocutor.dialog.inputs import EarlierTurn, TurnInput
from prolocutor.dialog.rounds import PendingAsk

PREFIX: Final = "door-prefix"
"""The kind of the records that name what doors put before the names of their persons."""


class DialogArchive:
    """Begins, closes and deletes dialogs, each in the queue of its person; stores ratings."""

    def __init__(
        self,
        store: Store,
        turns: Turns,
        *,
        journal: Journal,
        listeners: FeedListeners,
        scheduler: AgendaScheduler,
        observers: ObserverGroup,
        handovers: Handovers,
        labels: OperatorLabels,
        records: RecordKeeping,
        max_text: int,
    ) -> None:
        self._store = store
        self._turns = turns
        self._journal = journal
        self._listeners = listeners
        self._scheduler = scheduler
        self._observers = observers
        self._handovers = handovers
        self._labels = labels
        self._records = records
        self._max_text = max_text
        self.forgetting: list[Callable[[str], Awaitable[None]]] = []
        """Remove a door's own data of a person; called before the person is deleted."""

        self.around_deletion: list[Callable[[], AbstractAsyncContextManager[None]]] = []
        """Contexts around each deletion; doors remove their own data of deleted dialogs there."""

    async def waiting(self, user: str, dialog: str | None = None) -> PendingAsk | None:
        """Return the open ask of a dialog, or None."""
        return rounds.decode(await self._store.round(user, checked_dialog(dialog))).waiting

    async def begin(
        self,
        turns: Sequence[EarlierTurn],
        user: str,
        dialog: str | None = None,
        *,
        channel: str = "python",
    ) -> bool:
        """Start a dialog with earlier utterances; no agent is called.

        Return False, and change nothing, if a dialog of this name has begun.
        """
        name = checked_dialog(dialog)
        if await self._store.active_dialog_id(user, name) is not None:
            return False
        for number, one in enumerate(turns):
            check_words(one.reply, self._max_text)
            input = TurnInput(one.text, user, name, channel=channel, retold=one)
            await self._turns.begin(input, counts=number == 0)
        return True

    async def close(self, user: str, dialog: str | None = None) -> str | None:
        """End a dialog and return its id, or None; the next input starts a new dialog."""
        return await self._turns.alone(user, partial(self._close, user, checked_dialog(dialog)))

    async def delete(self, user: str, dialog: str) -> int:
        """Delete a person's dialogs of a name, also closed dialogs; return their number."""
        work = partial(self._delete, user, checked_dialog(dialog))
        async with self._around_deletion():
            return await self._turns.alone(user, work)

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last turn was before a time (ISO 8601); return their number."""
        async with self._around_deletion():
            deleted = await self._store.delete_older(before)
            await self._replies_deleted(None)
        return deleted

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all their data; return False for an unknown person.

        A name without the prefix of a door stands for the person at all doors.
        """
        is_deleted = False
        async with self._around_deletion():
            for name in await list_names(self._store, user):
                is_deleted |= await self._turns.alone(name, partial(self._delete_person, name))
        return is_deleted

    async def rate(self, utt_id: str, rating: Any, user: str | None) -> None:
        """Store a rating of an utterance by `user`, and let learners learn it.

        Raise `NotFound` for an unknown utterance.
        """
        if self._records.recorder is not None:
            await self._records.recorder.settle()
        await self._store.rate_utterance(utt_id, rating, user, timestamp())
        await self._observers.refresh_learners()

    @asynccontextmanager
    async def _around_deletion(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in self.around_deletion:
                await stack.enter_async_context(one())
            yield

    # -- in a person's queue ----------------------------------------------------------------

    async def _close(self, user: str, dialog: str) -> str | None:
        closed = await self._store.close_dialog(user, dialog)
        self._scheduler.round_ended(user, dialog)
        if closed is not None:
            await self._handovers.forget(user, closed)
        return closed

    async def _delete(self, user: str, dialog: str) -> int:
        await self._close(user, dialog)
        await self._journal.settle(user)
        deleted = await self._store.delete_conversation(user, dialog)
        await self._replies_deleted(user)
        self._listeners.wake(user)
        return deleted

    async def _delete_person(self, user: str) -> bool:
        self._journal.forget(user)
        await self._handovers.forget(user)
        # What is kept beside goes first: the store overwrites that too, and knows what was theirs.
        await self._labels.forget(user)
        for forget in self.forgetting:
            await forget(user)
        deleted = await self._store.delete_person(user)
        await self._observers.forget(user)
        self._scheduler.forget(user)
        self._listeners.wake(user)
        return deleted

    async def _replies_deleted(self, user: str | None) -> None:
        await self._observers.forget(user)
        if await self._labels.forget_deleted(user):
            await self._store.erase()


async def note_prefixes(store: RecordStore, prefixes: Collection[str]) -> None:
    """Note the prefixes of doors; names at removed doors stay, as do the dialogs there."""
    stored = await store.records("", PREFIX)
    for prefix in prefixes:
        if prefix and prefix not in stored:
            await store.put_record("", PREFIX, prefix, b"true")


async def list_names(store: RecordStore, user: str) -> list[str]:
    """Return all names of a person; a name with the prefix of a door is the name at that door."""
    prefixes = await store.records("", PREFIX)
    if any(user.startswith(prefix) for prefix in prefixes):
        return [user]
    return [user, *(prefix + user for prefix in prefixes)]
