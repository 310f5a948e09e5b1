"""PersonAccess: the replica with the turn of a person, and the work of other replicas meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any, Final, Self, TypeVar

from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.person_queues import PersonQueues
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.store import AgendaEntry, OpenedTurn
from prolocutor.dialog import plain
from prolocutor.dialog.agent_state import bot_utterance_to_state
from prolocutor.dialog.dialog import BotUtterance
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.errors import DeclaredDead, Overloaded, PersonBusy, Stopping, StoreError, TakenOver
from prolocutor.plugins.postgresql.replicas.shared_store import ReplicaStore

T = TypeVar("T")


FIRST_PAUSE: Final = 0.05
MAX_PAUSE: Final = 1.0
"""Seconds until a person is tried again without a hint: half as many again each time."""

_MAX_ROWS = 200
"""Rows of the feed that are searched for the closing of a turn."""

MAX_REJOINS: Final = 3
"""Times that one call joins again after this replica was declared dead."""


class TicketPlace:
    """A piece of work in line for a person: its ticket, and when it gives up (None: never).

    `tried` is set once the store knows of it; the work behind it may then queue up. `since` is
    when it was tried last.
    """

    __slots__ = ("has_ticket", "queueing", "since", "started", "ticket", "tried", "until", "user")

    def __init__(self, user: str, until: float | None) -> None:
        self.user, self.until = user, until
        self.ticket = new_id()
        self.tried = asyncio.Event()
        self.queueing: asyncio.Task[None] | None = None
        self.has_ticket = False
        self.started = False
        self.since = monotonic()


class PersonAccess:
    """Waits until a person is free at all replicas, in the order in which work came in.

    This replica's own work is in `PersonQueues`; waiting work takes its ticket at the store when it
    comes in, so the order holds across replicas. `timeout` is the same as there. `lease` is
    the time for which a dead replica's claims last, in seconds.
    """

    def __init__(
        self, store: ReplicaStore, listeners: FeedListeners, *, timeout: float, lease: float
    ) -> None:
        self.max_sleep = lease
        """Seconds after which the claims of a replica that died are looked for."""
        self._store = store
        self._listeners = listeners
        self._timeout = timeout
        self._lines: dict[str, list[TicketPlace]] = {}
        self._to_hand_back: dict[str, str] = {}
        self._to_release: dict[str, str] = {}
        self._tasks = BackgroundTasks("place in line")
        self.leaving = False
        """Whether this replica is going to leave: endless waits then give up."""
        self.busy = 0
        """The number of places that wait for another replica."""

    def enter(
        self, queues: PersonQueues, user: str, work: Callable[[TicketPlace], Awaitable[T]]
    ) -> asyncio.Future[T]:
        """Do `work` in a person's queue, with a place in line at all replicas."""
        place = self.place(user)
        try:
            done = queues.enter(user, lambda: self._run_in_place(place, work))
        except BaseException:
            self.leave(place)
            raise
        done.add_done_callback(lambda _: self._leave_if_refused(place, done))
        return done

    async def _run_in_place(
        self, place: TicketPlace, work: Callable[[TicketPlace], Awaitable[T]]
    ) -> T:
        place.started = True
        try:
            return await work(place)
        finally:
            self.leave(place)

    def _leave_if_refused(self, place: TicketPlace, done: asyncio.Future[Any]) -> None:
        # Work whose caller went away still runs; work that the queue refused does not.
        if not place.started and not done.cancelled():
            self.leave(place)

    def place(self, user: str) -> TicketPlace:
        """Take a place in line; it is to be left in the end."""
        place = TicketPlace(user, monotonic() + self._timeout)
        line = self._lines.setdefault(user, [])
        if line:
            place.queueing = self._tasks.start(self._queue_up(place, line[-1]))
        line.append(place)
        return place

    def leave(self, place: TicketPlace) -> None:
        """Leave a place, whether its work was done or not."""
        line = self._lines.get(place.user, [])
        if place in line:
            line.remove(place)
            if not line:
                del self._lines[place.user]
        place.tried.set()
        if place.has_ticket or place.queueing is not None:
            self._tasks.start(self._hand_back(place))

    async def open(self, place: TicketPlace, attempt: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `attempt`, tried until it does not raise `PersonBusy`.

        Raise `Overloaded` when the wait is too long.
        """
        place.started = True
        if place.queueing is not None:
            await place.queueing
        pauses = Pauses(self._listeners, place.user, place.until)
        try:
            with pauses:
                return await self._try_until_open(place, attempt, pauses)
        except Exception:
            place.has_ticket = True  # there may be one, if its answer was lost
            raise
        finally:
            place.tried.set()

    async def _try_until_open(
        self, place: TicketPlace, attempt: Callable[[], Awaitable[T]], pauses: Pauses
    ) -> T:
        rejoins = 0
        while True:
            place.since = monotonic()
            try:
                result = await attempt()
            except PersonBusy:
                place.has_ticket = True
            except DeclaredDead:
                rejoins += 1
                if rejoins > MAX_REJOINS:
                    raise
                await self._store.beat()
                continue
            else:
                if _uses_ticket(result, place.ticket):
                    place.has_ticket = False
                return result
            if self.leaving and place.until is None:
                raise Stopping("the assistant is shutting down")
            place.tried.set()
            self.busy += 1
            try:
                if not await pauses.pause():
                    raise Overloaded(f"waited {self._timeout:g} seconds for an earlier turn")
            finally:
                self.busy -= 1

    async def while_held(
        self, user: str, work: Callable[[], Awaitable[T]], place: TicketPlace | None = None
    ) -> T:
        """Do work outside of turns while no replica opens a turn of the person.

        Without a `place` in line it waits for as long as it takes.
        """
        place, own = place or TicketPlace(user, None), place is None
        store, ticket = self._store, place.ticket
        try:
            await self.open(place, lambda: store.hold(user, ticket))
            return await work()
        finally:
            self._to_release[ticket] = user
            with suppress(StoreError):
                await store.release(user, ticket)
                self._to_release.pop(ticket, None)
                self._listeners.wake_others(user)
            if own:
                self.leave(place)

    def pauses(self, user: str) -> Pauses:
        """Return the pauses between looks for news of a person, up to the time limit of work."""
        return Pauses(self._listeners, user, monotonic() + self._timeout)

    async def due(self, now: float, limit: int) -> list[AgendaEntry]:
        """Return this replica's due entries; the database's clock counts."""
        del now
        return await self._store.claim_due(limit)

    async def reply_to(self, opened: OpenedTurn) -> TurnResult:
        """Return the stored result of a turn; raise `TakenOver` if there is none in time."""
        opening = opened.opening
        with self.pauses(opening.user) as pauses:
            while True:
                try:
                    if (found := await self._find(opened)) is not None:
                        return found
                except StoreError:
                    pass  # the database may be back in time
                if not await pauses.pause():
                    raise TakenOver(f"another replica runs turn {opening.turn_id}; ask again later")

    async def tidy(self) -> None:
        """Hand back and release the tickets and claims left over by failures."""
        for ticket, user in list(self._to_hand_back.items()):
            await self._store.withdraw(user, ticket)
            self._to_hand_back.pop(ticket, None)
        for ticket, user in list(self._to_release.items()):
            await self._store.release(user, ticket)
            self._to_release.pop(ticket, None)

    # -- inside -----------------------------------------------------------------------------

    async def _queue_up(self, place: TicketPlace, before: TicketPlace) -> None:
        """Take a ticket once the store knows of the work before, unless its turn has come."""
        await before.tried.wait()
        if not place.started:
            place.has_ticket = True
            with suppress(StoreError):
                await self._store.take_ticket(place.user, place.ticket)
            place.tried.set()

    async def _hand_back(self, place: TicketPlace) -> None:
        if place.queueing is not None:
            await place.queueing
        if place.has_ticket:
            self._to_hand_back[place.ticket] = place.user
            with suppress(StoreError):
                await self._store.withdraw(place.user, place.ticket)
                self._to_hand_back.pop(place.ticket, None)
                self._listeners.wake_others(place.user)

    async def _find(self, opened: OpenedTurn) -> TurnResult | None:
        opening = opened.opening
        turn = await self._store.turn(opening.bot_utt_id)
        if not turn or not isinstance(reply := turn[-1], BotUtterance):
            return None
        return TurnResult(
            turn_id=opening.turn_id,
            dialog_id=opened.dialog_id,
            human_utt_id=opening.utt_id,
            user=opening.user,
            n=opened.feed,
            waiting=await self._waiting(opened, reply),
            reply_state=plain.encode(bot_utterance_to_state(reply)),
        )

    async def _waiting(self, opened: OpenedTurn, reply: BotUtterance) -> PendingAsk | None:
        """Return the clients' view of the ask left open by the turn."""
        for row in await self._store.feed(opened.opening.user, opened.feed, _MAX_ROWS):
            if row.closing is not None:
                closing = plain.decode(row.closing)
                if closing["ask"] is None:
                    return None
                return PendingAsk(
                    ask=closing["ask"],
                    skill=reply.active_skill,
                    code=closing.get("code", []),
                    entities=closing.get("entities", {}),
                )
        return None


class Pauses:
    """Pauses between two tries: until there is news of a person, or for a while."""

    def __init__(self, listeners: FeedListeners, user: str, until: float | None) -> None:
        self._listening = listeners.listening(user)
        self._until = until
        self._seconds = FIRST_PAUSE

    def __enter__(self) -> Self:
        self._news = self._listening.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._listening.__exit__(*error)

    async def pause(self) -> bool:
        """Pause; return False when it is time to give up."""
        left = self._seconds if self._until is None else self._until - monotonic()
        if left <= 0:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self._seconds, left)):
                await self._news.wait()
        self._news.clear()
        self._seconds = min(self._seconds * 1.5, MAX_PAUSE)
        return True


def _uses_ticket(result: object, ticket: str) -> bool:
    """Return whether the store has taken a ticket back: the turn is open, the person held."""
    return result is None or (isinstance(result, OpenedTurn) and result.opening.turn_id == ticket)
