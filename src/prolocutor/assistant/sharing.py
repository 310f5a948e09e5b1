"""Sharing: the contract of a store that several processes share with the assistants on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from prolocutor.assistant.assistant_settings import ReplicaSettings
from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.person_queues import PersonQueues
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.shared_store import BrokerWakeUps
from prolocutor.contracts.store import AgendaEntry, OpenedTurn, Store

T = TypeVar("T")


class Place(Protocol):
    """The place of a piece of work in line for a person; `since` is when it was tried last."""

    ticket: str
    since: float


class PersonLine(Protocol):
    """Gives each person to one process at a time, in the order in which work came in anywhere."""

    max_sleep: float
    """Seconds between looks for due entries of processes that died."""

    def enter(
        self, queues: PersonQueues, user: str, work: Callable[[Any], Awaitable[T]]
    ) -> asyncio.Future[T]:
        """Do work in a person's queue, with its place in line."""

    async def open(self, place: Any, attempt: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `attempt`, tried until it does not raise `PersonBusy`."""

    async def while_held(self, user: str, work: Callable[[], Awaitable[T]], place: Any = None) -> T:
        """Do work that is not a turn while no process opens a turn of the person."""

    async def due(self, now: float, limit: int) -> list[AgendaEntry]:
        """Return the due entries that this process delivers."""

    async def reply_to(self, opened: OpenedTurn) -> TurnResult:
        """Return the result of a turn that another process stored."""


class SharedCount(Protocol):
    """Counts together with other processes, from its start to its end."""

    def start(self) -> None:
        """Begin, in the background."""

    async def aclose(self) -> None:
        """Stop."""


class Sharing(Protocol):
    """This process as a member of a shared store; it takes over the turns of dead
    processes.
    """

    listeners: FeedListeners
    line: PersonLine
    reachable: bool
    """Whether the store answered the last time."""

    def share_quotas(
        self, rates: Mapping[str, Any], sockets: Mapping[str, Any], ready: Callable[[], bool]
    ) -> SharedCount:
        """Return the counters of these quotas over all processes (`web/quotas.py`), by their names.

        Nothing is counted together while `ready` says no.
        """

    @property
    def running(self) -> int:
        """The number of turns that were taken over and run now."""

    def join(
        self, *, journal: Any, turns: Any, scheduler: Any, switches: Any, learners: Any
    ) -> None:
        """Get to know the parts of the assistant (`assistant/assembly.py`), once they are made."""

    async def start(self) -> None:
        """Join the processes, and take over the turns of processes that died."""

    def decline(self) -> None:
        """Take over nothing more: this process is going to leave."""

    async def aclose(self, grace: float | None = None) -> None:
        """Wait for the turns that were taken over, and leave."""

    def gauges(self) -> Sequence[tuple[str, str, Callable[[], float]]]:
        """Return names, explanations and values of metrics."""


def is_shared(store: object) -> bool:
    """Return whether several processes can share a store."""
    return hasattr(type(store), "share")


def find_sharing(
    store: Store, replica: ReplicaSettings, broker: BrokerWakeUps | None, timeout: float
) -> Sharing | None:
    """Return this process as a member of a shared store; None where it has the store
    alone.

    `timeout` is how long work may wait for a person, in seconds.

    """
    share: Callable[..., Sharing] | None = getattr(store, "share", None)
    return None if share is None else share(replica, broker, timeout)
