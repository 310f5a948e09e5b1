"""AgendaDelivery: from an entry of the agenda that is due to its messages in the feed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.assistant.feed import FeedListeners, reply_messages
from prolocutor.assistant.handovers import HANDOVERS, Handovers
from prolocutor.assistant.rounds import choice_pages
from prolocutor.assistant.rounds.effects import closing_of, pending_ask
from prolocutor.assistant.rounds.secrets import Secrets
from prolocutor.contracts.programs import ProgramRunner
from prolocutor.contracts.store import AgendaEntry, Delivery, NewDialog, Store
from prolocutor.dialog import notices, rounds
from prolocutor.dialog.ids import DialogId, new_ids, timestamp
from prolocutor.dialog.inputs import OPERATOR
from prolocutor.dialog.messages import checked_messages, with_owner
from prolocutor.dialog.notices import Notice
from prolocutor.dialog.recurrence import next_time
from prolocutor.dialog.rounds import PendingAsk, Round
from prolocutor.durations import DAY, HOUR, MINUTE
from prolocutor.reading.libraries import load_ahead

log = logging.getLogger(__name__)

NOTIFICATIONS: Final = "@notify"
"""The skill name of notifications on the agenda; no skill can have it."""

LATE: Final = 60.0
"""Seconds of delay from which on a message says that it is late."""


class Postponed(Exception):
    """A program could not carry out its entry; it is tried again later."""


class DueOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What comes of an entry that is due: messages, an ask, and the entry that replaces it.

    `entries` and `struck` change the rest of the agenda. `ends_handover`: a dialog goes back to the
    assistant.
    """

    messages: list[dict[str, Any]] = []
    waiting: PendingAsk | None = None
    skill: str = ""
    again: AgendaEntry | None = None
    entries: Sequence[AgendaEntry] = ()
    struck: Sequence[tuple[str, str]] = ()
    ends_handover: bool = False

    @property
    def asks(self) -> bool:
        """Whether the messages ask for an answer."""
        return self.waiting is not None


class AgendaDelivery:
    """Reads entries and delivers them.

    `skills` can get answers, `programs` runs programs, each for at most `deadline` seconds.
    """

    def __init__(
        self,
        store: Store,
        *,
        skills: Sequence[str],
        programs: ProgramRunner,
        secrets: Secrets,
        listeners: FeedListeners,
        deadline: float,
        new_dialog_attributes: bytes,
        handovers: Handovers,
    ) -> None:
        self._store = store
        self._skills = frozenset(skills)
        self._programs = programs
        self._secrets = secrets
        self._listeners = listeners
        self._deadline = deadline
        self._new_dialog_attributes = new_dialog_attributes
        self._handovers = handovers

    async def due(self, entry: AgendaEntry, now: float, state: Round) -> DueOutcome:
        """Return what comes of an entry, nothing if it cannot be read; `Postponed`: not yet.

        `state` is the round of its dialog.
        """
        if entry.skill == HANDOVERS:
            if state.handover is None:
                return DueOutcome()
            messages = [self._handovers.ended(state.handover)]
            return DueOutcome(messages=messages, skill=OPERATOR, ends_handover=True)
        dropped = _dropped(entry.dropped)
        try:
            notice = notices.decode(entry.body)
            due = None if notice.program is not None else self._of_notice(entry, notice, now)
        except Exception:
            log.exception(
                "the entry %s of %s cannot be read and is dropped", entry.key, entry.skill
            )
            return DueOutcome(messages=dropped)
        if due is None:
            due = await self._of_program(entry)
        return replace(due, messages=[*dropped, *due.messages])

    def must_wait(self, entry: AgendaEntry, state: Round) -> bool:
        """Return whether an entry must wait: an answer is expected, or a person has the dialog."""
        if entry.skill == HANDOVERS:
            return False
        taken = state.handover is not None and bool(state.handover.by)
        return taken or self._is_awaited(state.waiting)

    def _is_awaited(self, waiting: PendingAsk | None) -> bool:
        """Return whether an answer is expected, by a skill that still exists."""
        return waiting is not None and (not waiting.skill or waiting.skill in self._skills)

    async def deliver(self, entry: AgendaEntry, due: DueOutcome, state: Round) -> bool:
        """Deliver it and settle the entry; return False if that is not on the agenda any more.

        `state` is the round of the dialog before.
        """
        after = None
        if due.ends_handover:
            taken = state.handover is not None and state.handover.by
            after = replace(state, handover=None, ended=state.handover if taken else None)
        elif due.asks:
            after = Round(waiting=due.waiting, handover=state.handover, ended=state.ended)
        rows: list[bytes] = []
        if due.messages:
            rows = reply_messages("", due.messages, due.skill, None)
        human_id, dialog_id, id_, bot_id = new_ids(4)
        delivered = await self._store.deliver(
            Delivery(
                user=entry.user,
                dialog_name=entry.dialog_name,
                messages=rows,
                closing=closing_of(due.waiting if after is None else after.waiting),
                round=None if after is None else rounds.encode(after),
                entry=entry,
                again=due.again,
                entries=due.entries,
                struck=due.struck,
                date_time=timestamp(),
                new_dialog=NewDialog(
                    human_id=human_id,
                    dialog_id=DialogId(dialog_id),
                    id=id_,
                    bot_id=bot_id,
                    attributes=self._new_dialog_attributes,
                ),
            )
        )
        if delivered and rows:
            self._secrets.forget(entry.user)
            self._listeners.wake(entry.user)
        if delivered and due.asks:
            load_ahead()
        if delivered and due.ends_handover and state.handover is not None:
            await self._handovers.expired(entry, state.handover)
        return delivered

    def _of_notice(self, entry: AgendaEntry, notice: Notice, now: float) -> DueOutcome:
        if notice.said:
            return DueOutcome()
        messages = checked_messages(notice.messages)
        messages = with_owner(messages, notice.skill)
        waiting = None
        if notice.ask is not None and notice.skill in self._skills:
            waiting = pending_ask(messages, notice.ask, notice.skill, context=notice.context)
            messages = choice_pages.first_page(messages, waiting)
        messages = _late(messages, now - entry.due)
        again = _again(entry, notice, now)
        return DueOutcome(messages=messages, waiting=waiting, skill=notice.skill, again=again)

    async def _of_program(self, entry: AgendaEntry) -> DueOutcome:
        try:
            async with asyncio.timeout(self._deadline):
                run = await self._programs.due(entry)
        except Exception as error:
            raise Postponed(f"the program {entry.key} failed: {error!r}") from error
        words, waiting = run.words, None
        if words.ask is not None:
            asked = pending_ask(words.messages, words.ask, words.skill, context=run.context)
            waiting = replace(asked, code=run.code, entities=run.entities)
        return DueOutcome(
            messages=list(words.messages),
            waiting=waiting,
            skill=words.skill,
            entries=run.entries,
            struck=run.struck,
        )


def _again(entry: AgendaEntry, notice: Notice, now: float) -> AgendaEntry | None:
    """Return the entry that replaces this one: its next time, or the mark that it was delivered."""
    if notice.every is not None:
        first = entry.due if notice.first is None else notice.first
        due = next_time(first, notice.every, notice.timezone, max(now, entry.due))
        return replace(entry, due=due, dropped=0)
    if entry.skill == NOTIFICATIONS and notice.digest is not None:
        mark = Notice(digest=notice.digest, said=True)
        return replace(entry, due=now + DAY, body=notices.encode(mark), dropped=0)
    return None


def _dropped(number: int) -> list[dict[str, Any]]:
    if not number:
        return []
    what = "1 earlier message was" if number == 1 else f"{number:,} earlier messages were"
    return [{"type": "text", "text": f"({what} dropped)"}]


def _late(messages: list[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    """Add to the first text how late it is, if that is more than a minute."""
    if not messages or seconds <= LATE:
        return messages
    late = f"({_length(seconds)} late)"
    for position, message in enumerate(messages):
        if message["type"] == "text":
            marked = {**message, "text": f"{message['text']} {late}"}
            return [*messages[:position], marked, *messages[position + 1 :]]
    return [{"type": "text", "text": late}, *messages]


def _length(seconds: float) -> str:
    sizes = {"day": DAY, "hour": HOUR, "minute": MINUTE}
    unit = next(name for name, size in sizes.items() if seconds >= size)
    number = int(seconds // sizes[unit])
    return f"{number:,} {unit}{'' if number == 1 else 's'}"
