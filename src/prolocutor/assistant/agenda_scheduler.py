"""The agenda: delivers due entries to their persons."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.assistant.feed import FeedListeners, reply_messages
from prolocutor.assistant.handovers import EXPIRY_SKILL, Handovers
from prolocutor.assistant.person_queues import PersonQueues
from prolocutor.assistant.rounds import own_words
from prolocutor.assistant.rounds.effects import encode_closing, pending_ask
from prolocutor.assistant.sharing import PersonLine
from prolocutor.background import BackgroundTasks
from prolocutor.clocks import DAY, HOUR, MINUTE
from prolocutor.contracts.programs import ProgramRunner
from prolocutor.contracts.store import AgendaEntry, Delivery, NewDialog, Store
from prolocutor.dialog import rounds, schedules
from prolocutor.dialog.ids import DialogId, new_ids, timestamp
from prolocutor.dialog.inputs import OPERATOR
from prolocutor.dialog.messages import add_owner, checked_messages
from prolocutor.dialog.rounds import PendingAsk, Round
from prolocutor.dialog.schedules import Notice, next_time
from prolocutor.errors import Conflict, StoreError
from prolocutor.reading.libraries import load_ahead

log = logging.getLogger(__name__)


NOTIFICATIONS: Final = "@notify"
"""The skill name of notifications on the agenda; no skill can have it."""

LATE_SECONDS: Final = 60.0
"""Seconds of delay from which on a message says that it is late."""

MAX_CONCURRENT: Final = 32
"""Persons with a delivery at the same time; those that wait behind a turn do not count."""

MAX_IN_A_ROW: Final = 20
"""Entries delivered to one person before another person, or a turn of theirs, has a chance."""

BATCH: Final = 100
MAX_SLEEP: Final = 60.0
"""Seconds after which the wall clock is read again, since it may have been set."""

MAX_KEYS: Final = 100
"""Keys of delivered notifications that are stored for each person, against repetitions."""

FIRST_PAUSE: Final = 0.5
MAX_PAUSE: Final = 60.0
"""Seconds before the store, or a delivery to a person, is tried again: doubled each time."""


class Postponed(Exception):
    """A program could not execute its entry, which is tried again later."""


class DueOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a due entry: messages, an ask, and the entry that replaces it.

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
    `digressions` is the assistant's setting for interrupted questions.
    """

    def __init__(
        self,
        store: Store,
        *,
        skills: Sequence[str],
        programs: ProgramRunner,
        listeners: FeedListeners,
        deadline: float,
        new_dialog_attributes: bytes,
        handovers: Handovers,
        digressions: str,
    ) -> None:
        self._store = store
        self._returns = digressions == "return"
        self._skills = frozenset(skills)
        self._programs = programs
        self._listeners = listeners
        self._deadline = deadline
        self._new_dialog_attributes = new_dialog_attributes
        self._handovers = handovers

    async def due(self, entry: AgendaEntry, now: float, state: Round) -> DueOutcome:
        """Return the outcome of an entry, an empty outcome if it is unreadable; raise `Postponed`.

        `state` is the round of its dialog.
        """
        if entry.skill == EXPIRY_SKILL:
            if state.handover is None:
                return DueOutcome()
            messages = [self._handovers.end_message(state.handover)]
            return DueOutcome(messages=messages, skill=OPERATOR, ends_handover=True)
        dropped = _dropped_note(entry.dropped)
        try:
            notice = schedules.decode(entry.body)
            due = None if notice.program is not None else self._notice_outcome(entry, notice, now)
        except Exception:
            log.exception(
                "the entry %s of %s cannot be read and is dropped", entry.key, entry.skill
            )
            return DueOutcome(messages=dropped)
        if due is None:
            due = await self._run_program(entry)
        return replace(due, messages=[*dropped, *due.messages])

    def must_wait(self, entry: AgendaEntry, state: Round) -> bool:
        """Return whether an entry must wait for an answer or for an operator's dialog.

        A skill's entry without an ask is delivered in time if `digressions` is `return`.
        """
        if entry.skill == EXPIRY_SKILL:
            return False
        if state.handover is not None and state.handover.by:
            return True
        return self._is_awaited(state.waiting) and not self._interrupts(entry)

    def _interrupts(self, entry: AgendaEntry) -> bool:
        """Return whether an entry may be delivered while a question stays open."""
        if not self._returns or entry.skill not in self._skills:
            return False
        try:
            notice = schedules.decode(entry.body)
        except msgspec.DecodeError:
            return False
        return notice.ask is None and notice.program is None

    def _is_awaited(self, waiting: PendingAsk | None) -> bool:
        """Return whether an answer is expected, by a skill that still exists."""
        return waiting is not None and (not waiting.skill or waiting.skill in self._skills)

    async def deliver(self, entry: AgendaEntry, due: DueOutcome, state: Round) -> bool:
        """Deliver an outcome and settle its entry; return False if the entry is gone.

        `state` is the round of the dialog before.
        """
        after = None
        if due.ends_handover:
            taken = state.handover is not None and state.handover.by
            after = replace(state, handover=None, ended=state.handover if taken else None)
        elif due.asks:
            after = Round(waiting=due.waiting, handover=state.handover, ended=state.ended)
        rows: list[bytes] = []
        open_ask = state.waiting if after is None and self._is_awaited(state.waiting) else None
        if due.messages:
            rows = reply_messages("", due.messages, due.skill, None)
        human_id, dialog_id, id_, bot_id = new_ids(4)
        delivered = await self._store.deliver(
            Delivery(
                user=entry.user,
                dialog_name=entry.dialog_name,
                messages=rows,
                closing=encode_closing(open_ask if after is None else after.waiting),
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
            self._listeners.wake(entry.user)
        if delivered and due.asks:
            load_ahead()
        if delivered and due.ends_handover and state.handover is not None:
            await self._handovers.record_expiry(entry, state.handover)
        return delivered

    def _notice_outcome(self, entry: AgendaEntry, notice: Notice, now: float) -> DueOutcome:
        if notice.said:
            return DueOutcome()
        messages = checked_messages(notice.messages)
        messages = add_owner(messages, notice.skill)
        waiting = None
        if notice.ask is not None and notice.skill in self._skills:
            waiting = pending_ask(messages, notice.ask, notice.skill, context=notice.context)
            messages = own_words.first_page(messages, waiting)
        messages = _late(messages, now - entry.due)
        again = _again(entry, notice, now)
        return DueOutcome(messages=messages, waiting=waiting, skill=notice.skill, again=again)

    async def _run_program(self, entry: AgendaEntry) -> DueOutcome:
        try:
            async with asyncio.timeout(self._deadline):
                run = await self._programs.due(entry)
        except Exception as error:
            raise Postponed(f"the program {entry.key} failed: {error!r}") from error
        words, waiting = run.words, None
        if words.ask is not None:
            ask = pending_ask(words.messages, words.ask, words.skill, context=run.context)
            waiting = replace(ask, code=run.code, entities=run.entities)
        return DueOutcome(
            messages=list(words.messages),
            waiting=waiting,
            skill=words.skill,
            entries=run.entries,
            struck=run.struck,
        )


def _again(entry: AgendaEntry, notice: Notice, now: float) -> AgendaEntry | None:
    """Return the entry that replaces a delivered entry: its next time, or a mark of delivery."""
    if notice.every is not None:
        first = entry.due if notice.first is None else notice.first
        due = next_time(first, notice.every, notice.timezone, max(now, entry.due))
        return replace(entry, due=due, dropped=0)
    if entry.skill == NOTIFICATIONS and notice.digest is not None:
        mark = Notice(digest=notice.digest, said=True)
        return replace(entry, due=now + DAY, body=schedules.encode(mark), dropped=0)
    return None


def _dropped_note(number: int) -> list[dict[str, Any]]:
    if not number:
        return []
    what = "1 earlier message was" if number == 1 else f"{number:,} earlier messages were"
    return [{"type": "text", "text": f"({what} dropped)"}]


def _late(messages: list[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    """Add the lateness to the first text, if it exceeds a minute."""
    if not messages or seconds <= LATE_SECONDS:
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


class AgendaScheduler:
    """Delivers due entries, in the queues of their persons; a single task sleeps for all persons.

    While an ask is open in a dialog, or an operator has it, its entries wait for the end of the
    round (`round_ended`). `settle` stores the last turn of a person if that failed before. If
    replicas share the store, `line` claims due entries for this replica, and holds the person
    during a delivery.
    """

    def __init__(
        self,
        store: Store,
        queues: PersonQueues,
        deliveries: AgendaDelivery,
        *,
        settle: Callable[[str], Awaitable[None]],
        clock: Callable[[], float] = time.time,
        line: PersonLine | None = None,
    ) -> None:
        self._store = store
        self._line = line
        self._max_sleep = MAX_SLEEP if line is None else line.max_sleep
        self._queues = queues
        self._deliveries = deliveries
        self._settle = settle
        self.clock = clock
        """The time by which entries are due, in seconds (UNIX)."""
        self._changed = asyncio.Event()
        self._place_free = asyncio.Event()
        self._tasks = BackgroundTasks("agenda")
        self._next_look = float("inf")
        self._running = 0
        self._queued: set[str] = set()
        self._waiting_for_round: set[tuple[str, str]] = set()
        self._failed: dict[str, tuple[int, float]] = {}

    def start(self) -> None:
        """Start, beginning with the entries that are due already."""
        self._tasks.start(self._run())

    async def aclose(self) -> None:
        """Start no more deliveries; the other entries stay on the agenda."""
        await self._tasks.aclose()

    def expect(self, due: float) -> None:
        """Schedule a look at the agenda for a new entry's time."""
        if due < self._next_look:
            self._changed.set()

    def round_ended(self, user: str, dialog: str) -> None:
        """Deliver the entries that waited for the end of a dialog's round."""
        if (user, dialog) in self._waiting_for_round:
            self._waiting_for_round.discard((user, dialog))
            self._changed.set()

    def look_again(self, user: str | None = None) -> None:
        """Look for ended rounds of a person, or of all persons with waiting entries.

        Another replica may have ended the round.
        """
        waiting = {one for one in self._waiting_for_round if user in (None, one[0])}
        if waiting:
            self._waiting_for_round -= waiting
            self._changed.set()

    def forget(self, user: str) -> None:
        """Drop the cached state of a deleted person."""
        self._waiting_for_round = {held for held in self._waiting_for_round if held[0] != user}

    async def notify(self, entry: AgendaEntry) -> bool:
        """Deliver an entry now, or after the open round; call this in the person's queue.

        Return False if it waits. An entry with a delivered key is not delivered again; raise
        `Conflict` if the key came with another content.
        """
        user, done_before = entry.user, None
        await self._settle(user)
        notice = schedules.decode(entry.body)
        if notice.digest is not None:
            done_before = await self._find_delivery(entry, notice.digest)
        if done_before is not None:
            return done_before
        await self._store.schedule(entry)
        try:
            done = await self._deliver_due(user)
        except StoreError as error:
            log.warning("a notification is not delivered yet, because the store fails: %s", error)
            done = set()
        if (entry.skill, entry.key) in done:
            return True
        self.expect(entry.due)
        return False

    # -- the sleeping task ------------------------------------------------------------------------

    async def _run(self) -> None:
        failures = 0
        while True:
            self._changed.clear()
            self._next_look = float("inf")
            try:
                await self._queue_due()
                failures = 0
            except Exception as error:
                failures += 1
                self._next_look = self.clock() + _pause(failures)
                log.log(_level(error), "the agenda cannot be read: %s", error, exc_info=_bug(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, self._next_look - self.clock())):
                    await self._changed.wait()

    async def _queue_due(self) -> None:
        """Queue a delivery for each person with due entries; schedule the next look."""
        now = self.clock()
        for user in await self._due_persons(now):
            while self._running >= MAX_CONCURRENT:
                self._place_free.clear()
                await self._place_free.wait()
            if user not in self._queued:
                self._queue(user)
        later = await self._store.next_due(now)
        retries = [until for _, until in self._failed.values() if until > now]
        self._next_look = min(
            [now + self._max_sleep, *retries] + ([] if later is None else [later])
        )

    async def _due_persons(self, now: float) -> list[str]:
        """Return up to a number of persons with entries that can be delivered now."""
        limit = BATCH
        find_due = self._store.due if self._line is None else self._line.due
        while True:
            entries = await find_due(now, limit)
            persons = list(dict.fromkeys(one.user for one in entries if self._is_free(one, now)))
            if persons and len(entries) == limit:
                self._changed.set()  # there may be more
            if persons or len(entries) < limit:
                return persons
            limit *= 4

    def _is_free(self, entry: AgendaEntry, now: float) -> bool:
        user = entry.user
        waits = (user, entry.dialog_name) in self._waiting_for_round and entry.skill != EXPIRY_SKILL
        if user in self._queued or waits:
            return False
        return user not in self._failed or self._failed[user][1] <= now

    def _queue(self, user: str) -> None:
        self._queued.add(user)
        delivered = self._queues.enter(user, partial(self._deliver, user), patient=True)
        delivered.add_done_callback(partial(self._finish_delivery, user))

    def _finish_delivery(self, user: str, delivered: asyncio.Future[None]) -> None:
        self._queued.discard(user)
        error = None if delivered.cancelled() else delivered.exception()
        if error is None:
            self._failed.pop(user, None)
        else:
            times = self._failed.get(user, (0, 0.0))[0] + 1
            self._failed[user] = (times, self.clock() + _pause(times))
            log.log(_level(error), "a delivery to a person failed: %s", error, exc_info=_bug(error))
        self._changed.set()

    # -- in a person's queue ----------------------------------------------------------------

    async def _deliver(self, user: str) -> None:
        if self._line is None:
            await self._deliver_now(user)
        else:
            await self._line.while_held(user, partial(self._deliver_now, user))

    async def _deliver_now(self, user: str) -> None:
        self._running += 1
        try:
            await self._settle(user)
            await self._deliver_due(user)
        finally:
            self._running -= 1
            self._place_free.set()

    async def _deliver_due(self, user: str) -> set[tuple[str, str]]:
        """Deliver due entries in order, unless a round is open; return the settled entries."""
        now = self.clock()
        states: dict[str, Round] = {}
        settled: set[tuple[str, str]] = set()
        for entry in await self._store.entries(user):
            if entry.due > now or len(settled) == MAX_IN_A_ROW:
                break
            dialog = entry.dialog_name
            if dialog not in states:
                states[dialog] = rounds.decode(await self._store.round(user, dialog))
            state = states[dialog]
            if self._deliveries.must_wait(entry, state):
                self._waiting_for_round.add((user, dialog))
                continue
            self._waiting_for_round.discard((user, dialog))
            try:
                due = await self._deliveries.due(entry, now, state)
            except Postponed as error:
                log.warning(
                    "an entry of the agenda is put off and tried again: %s", error, exc_info=True
                )
                due = DueOutcome(again=replace(entry, due=now + MAX_PAUSE))
            if await self._deliveries.deliver(entry, due, state):
                settled.add((entry.skill, entry.key))
                if due.asks or due.ends_handover:
                    del states[dialog]
        return settled

    async def _find_delivery(self, entry: AgendaEntry, digest: str) -> bool | None:
        """Return True if an equal entry was delivered, False if one is scheduled, else None."""
        delivered = []
        for other in await self._store.entries(entry.user, NOTIFICATIONS):
            notice = schedules.decode(other.body)
            if other.key == entry.key:
                if notice.digest != digest:
                    raise Conflict(
                        "something else was to be said with the same key; use a new one",
                        field="key",
                    )
                return notice.said
            if notice.said:
                delivered.append(other.key)
        for key in delivered[: max(0, len(delivered) + 1 - MAX_KEYS)]:
            await self._store.strike(entry.user, NOTIFICATIONS, key)
        return None


def _pause(times: int) -> float:
    return float(min(MAX_PAUSE, FIRST_PAUSE * 2 ** min(times - 1, 10)))


def _bug(error: BaseException) -> bool:
    return not isinstance(error, StoreError)


def _level(error: BaseException) -> int:
    return logging.ERROR if _bug(error) else logging.WARNING
