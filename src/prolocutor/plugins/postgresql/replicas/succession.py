"""Succession: this replica among the replicas of its store, and the turns of the dead."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from prolocutor.assistant.agenda_scheduler import AgendaScheduler
from prolocutor.assistant.assistant_settings import ReplicaSettings
from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.journal import Journal
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.services import ServiceSwitches
from prolocutor.assistant.turn_runner import TurnRunner
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.shared_store import BrokerWakeUps, WakeUps
from prolocutor.contracts.store import UnfinishedTurn
from prolocutor.errors import PersonUnreadable, StoreError
from prolocutor.plugins.postgresql.replicas.person_access import PersonAccess
from prolocutor.plugins.postgresql.replicas.shared_quotas import SharedQuotas
from prolocutor.plugins.postgresql.replicas.shared_store import (
    ReplicaStore,
    StandbyStatus,
    StoreTraffic,
)
from prolocutor.web.quotas import OpenCounters, RateCounters

log = logging.getLogger(__name__)


FEED_POLL: Final = 5.0
"""Seconds after which the feeds that are listened to are looked up, since hints may be lost."""

ROUND_POLL: Final = 30.0
"""Seconds after which entries that wait for the end of a round are looked at again."""

MAX_RECOVERIES: Final = 64
"""Turns of dead replicas that run at once here."""


MAX_READS: Final = 5
"""Tries to read an unreadable turn, with pauses of 1, 2, 4 and 8 seconds."""


class Succession:
    """Beats, and takes over the turns of silent replicas.

    Turns taken over run beside this replica's queues: the store lets no other turn of the person
    begin meanwhile. A turn opened by this replica unknowingly (the answer was lost) is taken up in
    the same way.
    """

    def __init__(
        self,
        store: ReplicaStore,
        settings: ReplicaSettings,
        broker: BrokerWakeUps | None,
        timeout: float,
    ) -> None:
        self._store = store
        self._settings = settings
        self._wake_ups: WakeUps = store if broker is None else BrokerOrStore(broker, store)
        self.listeners = FeedListeners(self._wake_ups)
        self.line = PersonAccess(store, self.listeners, timeout=timeout, lease=settings.lease)
        self._places = asyncio.Semaphore(MAX_RECOVERIES)
        self._living = BackgroundTasks("succession")
        self._looking = BackgroundTasks("look at switches")
        self._taking_up = BackgroundTasks("recovery")
        self._recoveries: set[str] = set()
        """The ids of the turns that were taken over and run now."""
        self._put_off: dict[str, tuple[int, float]] = {}
        """The turns that could not be read: how often, and until when they are left alone."""
        self._settling: set[str] = set()
        """The users whose last turn is being stored."""
        self._ends: dict[str, int] = {}
        self._heir = True
        self.standbys: StandbyStatus | None = None
        """The last known state of the store's standbys."""
        self.reachable = False
        """Whether the store answered the last time."""

    def join(
        self,
        *,
        journal: Journal,
        turns: TurnRunner,
        scheduler: AgendaScheduler,
        switches: ServiceSwitches,
        learners: ObserverGroup,
    ) -> None:
        """Get to know the parts of the assistant."""
        self._journal, self._turns = journal, turns
        self._scheduler, self._switches, self._learners = scheduler, switches, learners

    def share_quotas(
        self,
        rates: Mapping[str, RateCounters],
        sockets: Mapping[str, OpenCounters],
        ready: Callable[[], bool],
    ) -> SharedQuotas:
        """Return the counters of these quotas over all replicas."""
        return SharedQuotas(self._store.counters, rates, sockets, ready=ready)

    @property
    def waiting(self) -> int:
        """The pieces of work waiting for a person at another replica."""
        return self.line.busy

    @property
    def takeovers(self) -> int:
        """Turns run again here after an interruption, here or elsewhere."""
        return self._turns.taken_up

    def gauges(self) -> Sequence[tuple[str, str, Callable[[], float]]]:
        """Return names, explanations and values of a replica's metrics."""
        return [
            (
                "prolocutor_trips_a_call",
                "Trips of turns that shared one call of the database, on average",
                lambda: _trips_a_call(self._store.traffic),
            ),
            (
                "prolocutor_takeovers",
                "Turns that were cut off, here or elsewhere, and taken up here",
                lambda: self.takeovers,
            ),
            (
                "prolocutor_refused_late_writes",
                "Turns that ran here and were stored by another replica",
                lambda: self._turns.refused,
            ),
            (
                "prolocutor_lease_left",
                "Seconds until others take over from this replica",
                lambda: self._store.lease_left,
            ),
            (
                "prolocutor_synchronous_standbys_named",
                "Whether a commit waits for a standby (1), or is on one server only (0)",
                lambda: math.nan if self.standbys is None else self.standbys.named,
            ),
            (
                "prolocutor_standbys",
                "Standbys that are connected to the database",
                lambda: math.nan if self.standbys is None else self.standbys.connected,
            ),
            (
                "prolocutor_replication_lag_seconds",
                "By how much the last standby is behind; NaN where we may not see it (pg_monitor)",
                lambda: (
                    math.nan
                    if (standbys := self.standbys) is None or standbys.lag is None
                    else standbys.lag
                ),
            ),
            (
                "prolocutor_store_misuses",
                "Calls of the database that failed by a fault of Prolocutor; there should be none",
                lambda: self._store.traffic.misuses,
            ),
            (
                "prolocutor_busy_people",
                "Pieces of work that wait for a person at another replica",
                lambda: self.waiting,
            ),
        ]

    @property
    def running(self) -> int:
        """The number of running turns taken over."""
        return len(self._recoveries)

    async def start(self) -> None:
        """Join, and take over the turns of the dead."""
        self._wake_ups.on_wake(self._take_hint)
        await self._store.join(self._settings.lease, self._settings.url)
        await self._beat()
        self._living.start(self._live())
        self._living.start(self._poll())

    def decline(self) -> None:
        """Take over no more turns, and no timers: this replica is going to leave."""
        self._heir = False
        self.line.leaving = True

    async def aclose(self, grace: float | None = None) -> None:
        """Wait for the turns taken over, and stop beating."""
        await self._taking_up.wait_until_ended(grace)
        for tasks in (self._living, self._taking_up, self._looking):
            await tasks.aclose()

    # -- living -----------------------------------------------------------------------------

    async def _live(self) -> None:
        quarter = self._settings.lease / 4
        due = monotonic()
        while True:
            due = max(due + quarter, monotonic())
            await asyncio.sleep(due - monotonic())
            beating = self._living.start(self._beat())
            await asyncio.wait({beating}, timeout=self._settings.lease)
            if not beating.done():
                self._lost(StoreError("it does not answer"))
                await asyncio.wait({beating})

    async def _beat(self) -> None:
        try:
            if not await self._store.beat():
                log.warning("this replica was declared dead and joined again")
            for turn in await self._store.inherit() if self._heir else ():
                self._take_up(turn)
            self._settle_owed()
            await self.line.tidy()
        except StoreError as error:
            self._lost(error)
        except Exception:
            log.exception("the turns of other replicas could not be read")
        else:
            if not self.reachable:
                log.info("the store can be reached")
            self.reachable = True

    def _lost(self, error: StoreError) -> None:
        if self.reachable:
            log.warning("the store cannot be reached, no turns are taken: %s", error)
        self.reachable = False

    def _take_up(self, turn: UnfinishedTurn) -> None:
        turn_id = turn.turn_id
        if turn_id in self._journal.in_hand or turn_id in self._recoveries:
            return
        if monotonic() < self._put_off.get(turn_id, (0, 0.0))[1]:
            return
        self._recoveries.add(turn_id)
        recovery = self._taking_up.start(self._recover(turn))
        recovery.add_done_callback(lambda _: self._recoveries.discard(turn_id))

    async def _recover(self, turn: UnfinishedTurn) -> None:
        async with self._places:
            try:
                await self._turns.recover(turn)
                self._put_off.pop(turn.turn_id, None)
            except PersonUnreadable:
                await self._put_off_or_abandon(turn)

    async def _put_off_or_abandon(self, turn: UnfinishedTurn) -> None:
        times = self._put_off.pop(turn.turn_id, (0, 0.0))[0] + 1
        if times < MAX_READS:
            self._put_off[turn.turn_id] = times, monotonic() + 2.0 ** (times - 1)
            return
        with suppress(StoreError):  # else it is tried once more
            await self._store.abandon_turn(turn.turn_id)
            log.error("turn %s of %r is closed: it cannot be read", turn.turn_id, turn.user)
            self.listeners.wake(turn.user)

    def _settle_owed(self) -> None:
        """Store the results whose storing has failed before.

        This runs beside the queues: work that waits there for the person may wait for this.
        """
        for user in self._journal.unstored:
            if user not in self._settling:
                self._settling.add(user)
                self._living.start(self._settle(user))

    async def _settle(self, user: str) -> None:
        try:
            with suppress(StoreError):
                await self._journal.settle(user)
                self.listeners.wake(user)
        finally:
            self._settling.discard(user)

    # -- hints ------------------------------------------------------------------------------

    def _take_hint(self, user: str) -> None:
        """Take a hint of another replica; "" stands for everyone, and for switched services."""
        if user == "" and not self._looking:
            self._looking.start(self._switches.look_again())
        for each in self.listeners.users if user == "" else [user]:
            self.listeners.wake_here(each)
        self._scheduler.look_again(user or None)

    async def _poll(self) -> None:
        """Look for changes without a hint."""
        rounds = monotonic() + ROUND_POLL
        while True:
            await asyncio.sleep(FEED_POLL)
            if monotonic() >= rounds:
                rounds = monotonic() + ROUND_POLL
                self._scheduler.look_again()
            await self._look(self._look_at_feeds)
            await self._look(self._learners.refresh_learners)
            await self._look(self._switches.refresh)
            await self._look(self._look_at_standbys)

    async def _look(self, look: Callable[[], Awaitable[None]]) -> None:
        """Look for a kind of change; its failure does not stop the others."""
        try:
            await look()
        except StoreError as error:
            log.debug(
                "the changes of other replicas cannot be read: %s", error
            )  # the beat says so already
        except Exception:
            log.exception("the changes of other replicas could not be read")

    async def _look_at_feeds(self) -> None:
        users = self.listeners.users
        ends = await self._store.feed_ends(users)
        for user in users:  # those who are gone too: deleted, or in another database
            if self._ends.get(user) != ends.get(user):
                self.listeners.wake_here(user)
        self._ends = ends

    async def _look_at_standbys(self) -> None:
        try:
            self.standbys = await self._store.standbys()
        except StoreError:
            self.standbys = None
            raise


class BrokerOrStore:
    """Sends hints through the broker while it is connected, else through the store; hears both."""

    def __init__(self, broker: BrokerWakeUps, store: WakeUps) -> None:
        self._broker = broker
        self._store = store

    def wake(self, user: str) -> None:
        """Send a hint of news for this person."""
        (self._broker if self._broker.is_connected else self._store).wake(user)

    def on_wake(self, listener: Callable[[str], None]) -> None:
        """Call `listener(user)` for each hint of another replica."""
        self._broker.on_wake(listener)
        self._store.on_wake(listener)


def _trips_a_call(traffic: StoreTraffic) -> float:
    return traffic.trips / traffic.calls if traffic.calls else 0.0
