"""AgendaScheduler: delivers the entries of the agenda when they are due, once each."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec.structs import replace

from prolocutor.assistant.agenda_delivery import (
    NOTIFICATIONS,
    AgendaDelivery,
    DueOutcome,
    Postponed,
)
from prolocutor.assistant.handovers import HANDOVERS
from prolocutor.assistant.person_queues import PersonQueues
from prolocutor.assistant.shared_agenda import SharedAgenda
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.store import AgendaEntry, Store
from prolocutor.dialog import notices, rounds
from prolocutor.dialog.rounds import Round
from prolocutor.errors import Conflict, StoreError

log = logging.getLogger(__name__)

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


class AgendaScheduler:
    """Delivers what is due, in the queue of its person; one task sleeps for all persons.

    Where an ask is open in a dialog, or a person has it, its entries wait until the round has ended
    (`round_ended`).
    `settle` stores the last turn of a person if that failed before. Where replicas share the store,
    `shared` claims what is due for this one, and holds the person meanwhile.
    """

    def __init__(
        self,
        store: Store,
        queues: PersonQueues,
        deliveries: AgendaDelivery,
        *,
        settle: Callable[[str], Awaitable[None]],
        clock: Callable[[], float] = time.time,
        shared: SharedAgenda | None = None,
    ) -> None:
        self._store = store
        self._shared = shared
        self._max_sleep = MAX_SLEEP if shared is None else shared.max_sleep
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
        """Start with what is due already."""
        self._tasks.start(self._run())

    async def aclose(self) -> None:
        """Start no more deliveries; the other entries stay on the agenda."""
        await self._tasks.aclose()

    def expect(self, due: float) -> None:
        """Note that an entry was written that is due at that time."""
        if due < self._next_look:
            self._changed.set()

    def round_ended(self, user: str, dialog: str) -> None:
        """Note that no ask is open in a dialog any more; entries that waited for that are due."""
        if (user, dialog) in self._waiting_for_round:
            self._waiting_for_round.discard((user, dialog))
            self._changed.set()

    def look_again(self, user: str | None = None) -> None:
        """Look again whether an ask is open: of one person, or of all whose entries wait for it.

        Another replica may have ended the round.
        """
        waiting = {one for one in self._waiting_for_round if user in (None, one[0])}
        if waiting:
            self._waiting_for_round -= waiting
            self._changed.set()

    def forget(self, user: str) -> None:
        """Drop what is known of a person, who is deleted."""
        self._waiting_for_round = {held for held in self._waiting_for_round if held[0] != user}

    async def notify(self, entry: AgendaEntry) -> bool:
        """Deliver an entry now, or when the open round ends; to be called in the person's queue.

        Return False if it waits. What was delivered with the same key is not delivered again;
        raise `Conflict` where the key came with something else.
        """
        user, done_before = entry.user, None
        await self._settle(user)
        notice = notices.decode(entry.body)
        if notice.digest is not None:
            done_before = await self._delivered_before(entry, notice.digest)
        if done_before is not None:
            return done_before
        await self._store.schedule(entry)
        try:
            done = await self._deliver_due(user)
        except StoreError as error:
            log.warning("a notification waits: %s", error)
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
        """Queue a delivery for each person with something due; set when to look again."""
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
        """Return the persons with something due that can be delivered now, up to a number."""
        limit = BATCH
        find_due = self._store.due if self._shared is None else self._shared.due
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
        waits = (user, entry.dialog_name) in self._waiting_for_round and entry.skill != HANDOVERS
        if user in self._queued or waits:
            return False
        return user not in self._failed or self._failed[user][1] <= now

    def _queue(self, user: str) -> None:
        self._queued.add(user)
        delivered = self._queues.enter(user, partial(self._deliver, user), patient=True)
        delivered.add_done_callback(partial(self._delivered, user))

    def _delivered(self, user: str, delivered: asyncio.Future[None]) -> None:
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
        if self._shared is None:
            await self._deliver_now(user)
        else:
            await self._shared.while_held(user, partial(self._deliver_now, user))

    async def _deliver_now(self, user: str) -> None:
        self._running += 1
        try:
            await self._settle(user)
            await self._deliver_due(user)
        finally:
            self._running -= 1
            self._place_free.set()

    async def _deliver_due(self, user: str) -> set[tuple[str, str]]:
        """Deliver what is due, in order, where no round is open; return the settled entries."""
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
                log.warning("an entry of the agenda is put off: %s", error, exc_info=True)
                due = DueOutcome(again=replace(entry, due=now + MAX_PAUSE))
            if await self._deliveries.deliver(entry, due, state):
                settled.add((entry.skill, entry.key))
                if due.asks or due.ends_handover:
                    del states[dialog]
        return settled

    async def _delivered_before(self, entry: AgendaEntry, digest: str) -> bool | None:
        """Return whether the same was delivered (False: it is scheduled), None if it is new."""
        delivered = []
        for other in await self._store.entries(entry.user, NOTIFICATIONS):
            notice = notices.decode(other.body)
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
