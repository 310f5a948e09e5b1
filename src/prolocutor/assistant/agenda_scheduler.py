"""Ringer: says what stands on the agenda when it is due, once, in its person's queue."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec.structs import replace

from prolocutor.assistant.agenda_delivery import AgendaDelivery, DueOutcome, Postponed
from prolocutor.assistant.notification import NOTIFICATIONS
from prolocutor.assistant.person_queues import PersonQueues
from prolocutor.contracts.store import AgendaEntry, Store
from prolocutor.dialog import notices, rounds
from prolocutor.errors import Conflict, StoreError

log = logging.getLogger(__name__)

AT_ONCE: Final = 32
"""People who are told something at the same time; those who wait behind a turn do not count."""

IN_A_ROW: Final = 20
"""Things that one person is told before somebody else, or a turn of theirs, has a chance."""

BATCH: Final = 100
LONGEST_SLEEP: Final = 60.0
"""Seconds after which the clock on the wall is looked at, which may have been set."""

MOST_KEYS: Final = 100
"""Keys of notifications that were said, kept for each person for a client that asks again."""

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 60.0
"""Seconds before the store, or a person's delivery, is tried again: doubled each time."""


class AgendaScheduler:
    """Tells everybody what is due, one sleeper for all.

    Where a dialog waits for an answer, entries wait until nothing is asked any more
    (`round_ended`). `settle` stores what is owed to a person from an earlier turn.
    """

    def __init__(
        self,
        store: Store,
        queues: PersonQueues,
        deliveries: AgendaDelivery,
        *,
        settle: Callable[[str], Awaitable[None]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._queues = queues
        self._deliveries = deliveries
        self._settle = settle
        self._clock = clock
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._sleeper: asyncio.Task[None] | None = None
        self._until = float("inf")
        self._running = 0
        self._entered: set[str] = set()
        self._held: set[tuple[str, str]] = set()
        self._failed: dict[str, tuple[int, float]] = {}

    def start(self) -> None:
        """Begin with what is due already."""
        self._sleeper = asyncio.create_task(self._keep(), name="agenda")

    async def aclose(self) -> None:
        """Tell nobody anything more but those whose turn it is; the agenda keeps the rest."""
        if self._sleeper is not None:
            self._sleeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._sleeper

    def expect(self, due: float) -> None:
        """Something is on the agenda for that time."""
        if due < self._until:
            self._news.set()

    def round_ended(self, user: str, dialog: str) -> None:
        """A dialog waits for nothing any more: what waited for that is said."""
        if (user, dialog) in self._held:
            self._held.discard((user, dialog))
            self._news.set()

    def forget(self, user: str) -> None:
        """Nothing of a person waits any more: they are deleted."""
        self._held = {held for held in self._held if held[0] != user}

    async def notify(self, entry: AgendaEntry) -> bool:
        """Say something now, if no round is open, else when it ends; in the person's queue.

        False if it waits. What was said under the same key is not said again; `Conflict` where the
        key came with something else.
        """
        user, said = entry.user, None
        await self._settle(user)
        notice = notices.decode(entry.body)
        if notice.digest is not None:
            said = await self._said_before(entry, notice.digest)
        if said is not None:
            return said
        await self._store.schedule(entry)
        try:
            done = await self._say_due(user)
        except StoreError as error:
            log.warning("a notification waits: %s", error)
            done = set()
        if (entry.skill, entry.key) in done:
            return True
        self.expect(entry.due)
        return False

    # -- the sleeper ------------------------------------------------------------------------

    async def _keep(self) -> None:
        failures = 0
        while True:
            self._news.clear()
            self._until = float("inf")
            try:
                await self._look()
                failures = 0
            except Exception as error:
                failures += 1
                self._until = self._clock() + _pause(failures)
                log.log(_level(error), "the agenda cannot be read: %s", error, exc_info=_bug(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, self._until - self._clock())):
                    await self._news.wait()

    async def _look(self) -> None:
        """Have everybody told who has something due; find out when the next thing is."""
        now = self._clock()
        for user in await self._due_people(now):
            while self._running >= AT_ONCE:
                self._room.clear()
                await self._room.wait()
            if user not in self._entered:
                self._enter(user)
        later = await self._store.next_due(now)
        retries = [until for _, until in self._failed.values() if until > now]
        self._until = min([now + LONGEST_SLEEP, *retries] + ([] if later is None else [later]))

    async def _due_people(self, now: float) -> list[str]:
        """Return the people who have something due and can be told it, up to a number."""
        limit = BATCH
        while True:
            entries = await self._store.due(now, limit)
            people = list(dict.fromkeys(one.user for one in entries if self._is_free(one, now)))
            if people and len(entries) == limit:
                self._news.set()  # there may be more
            if people or len(entries) < limit:
                return people
            limit *= 4

    def _is_free(self, entry: AgendaEntry, now: float) -> bool:
        user = entry.user
        if user in self._entered or (user, entry.dialog_name) in self._held:
            return False
        return user not in self._failed or self._failed[user][1] <= now

    def _enter(self, user: str) -> None:
        self._entered.add(user)
        place = self._queues.enter(user, partial(self._tell, user), patient=True)
        place.add_done_callback(partial(self._told, user))

    def _told(self, user: str, place: asyncio.Future[None]) -> None:
        self._entered.discard(user)
        error = None if place.cancelled() else place.exception()
        if error is None:
            self._failed.pop(user, None)
        else:
            times = self._failed.get(user, (0, 0.0))[0] + 1
            self._failed[user] = (times, self._clock() + _pause(times))
            log.log(_level(error), "a person cannot be told: %s", error, exc_info=_bug(error))
        self._news.set()

    # -- in a person's queue ----------------------------------------------------------------

    async def _tell(self, user: str) -> None:
        self._running += 1
        try:
            await self._settle(user)
            await self._say_due(user)
        finally:
            self._running -= 1
            self._room.set()

    async def _say_due(self, user: str) -> set[tuple[str, str]]:
        """Say what is due, in order, where no round is open; give the entries that are settled."""
        now = self._clock()
        asking: dict[str, bool] = {}
        settled: set[tuple[str, str]] = set()
        for entry in await self._store.entries(user):
            if entry.due > now or len(settled) == IN_A_ROW:
                break
            dialog = entry.dialog_name
            if dialog not in asking:
                state = rounds.decode(await self._store.round(user, dialog))
                asking[dialog] = self._deliveries.is_awaited(state.waiting)
            if asking[dialog]:
                self._held.add((user, dialog))
                continue
            self._held.discard((user, dialog))
            try:
                due = await self._deliveries.due(entry, now)
            except Postponed as error:
                log.warning("an entry of the agenda is put off: %s", error, exc_info=True)
                due = DueOutcome(again=replace(entry, due=now + LONGEST_PAUSE))
            if await self._deliveries.deliver(entry, due):
                settled.add((entry.skill, entry.key))
                asking[dialog] = due.asks
        return settled

    async def _said_before(self, entry: AgendaEntry, digest: str) -> bool | None:
        """Return whether the same was said, or is still to be said; None: it is new."""
        kept = []
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
                kept.append(other.key)
        for key in kept[: max(0, len(kept) + 1 - MOST_KEYS)]:
            await self._store.strike(entry.user, NOTIFICATIONS, key)
        return None


def _pause(times: int) -> float:
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(times - 1, 10)))


def _bug(error: BaseException) -> bool:
    return not isinstance(error, StoreError)


def _level(error: BaseException) -> int:
    return logging.ERROR if _bug(error) else logging.WARNING
