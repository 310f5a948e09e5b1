"""The PostgreSQL store: any number of replicas on a database, durable by group commit."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from operator import attrgetter
from time import monotonic
from typing import Annotated, Any, Concatenate, Final, ParamSpec, TypeVar

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant_settings import ReplicaSettings
from prolocutor.contracts.shared_store import BrokerWakeUps
from prolocutor.contracts.store import (
    AnsweredRequest,
    Delivery,
    OpenedTurn,
    TurnClosing,
    TurnOpening,
)
from prolocutor.contracts.store_options import StoreContext
from prolocutor.dialog.dialog import Dialog, thumb
from prolocutor.dialog.ids import DialogId
from prolocutor.errors import StoreError
from prolocutor.plugins.postgresql import store_url
from prolocutor.plugins.postgresql.closings import Closings
from prolocutor.plugins.postgresql.database_line import DatabaseLine
from prolocutor.plugins.postgresql.database_lines import DatabaseLines
from prolocutor.plugins.postgresql.lanes import Lane
from prolocutor.plugins.postgresql.membership import Membership
from prolocutor.plugins.postgresql.openings import Openings
from prolocutor.plugins.postgresql.outside_turns import OutsideTurns
from prolocutor.plugins.postgresql.postgresql_transfer import PostgresqlTransfer
from prolocutor.plugins.postgresql.reader import PostgresqlReader
from prolocutor.plugins.postgresql.remembered import Remembered
from prolocutor.plugins.postgresql.replica_work import ReplicaWork
from prolocutor.plugins.postgresql.replicas.shared_store import (
    CounterTotals,
    CounterUse,
    StoreTraffic,
)
from prolocutor.plugins.postgresql.replicas.succession import Succession
from prolocutor.plugins.postgresql.turn_records import PostgresqlTurnRecords
from prolocutor.plugins.postgresql.wake_ups import PostgresqlWakeUps

STATEMENT_TIMEOUT: Final = 5.0
"""Seconds for a statement about quotas and services."""

CLEANUP_INTERVAL: Final = 60.0
"""Seconds between two deletions of counters that are empty."""

P = ParamSpec("P")
T = TypeVar("T")

MAX_DELETED_DIALOGS: Final = 20
"""Old dialogs that one transaction deletes at most: turns of their persons wait for it."""
_ANY_DATE: Final = "9999"
"""Greater than every time."""

log = logging.getLogger(__name__)


class PostgresqlCounters:
    """The counters of all replicas, by three statements at most, which do not wait for a disk."""

    def __init__(self, membership: Membership) -> None:
        self._membership = membership
        self._tidied = 0.0

    async def count_together(
        self, uses: Sequence[CounterUse], opened: Mapping[str, int]
    ) -> CounterTotals:
        """Add this replica's counts; return the sums of all replicas."""
        fetch, number = self._membership.fetch, await self._membership.require_number()
        ahead: dict[str, float] = {}
        if uses:
            names, spent = [use.name for use in uses], [use.spent for use in uses]
            periods = [use.period for use in uses]
            rows = await fetch("add_to_counters", names, spent, periods, within=STATEMENT_TIMEOUT)
            ahead = {row[0]: row[1] for row in rows}
        if opened:
            numbers = list(opened.values())
            await fetch("set_open", number, list(opened), numbers, within=STATEMENT_TIMEOUT)
        elsewhere: dict[str, int] = {}
        replicas = 1
        for kind, name, value in await fetch("counter_totals", number, within=STATEMENT_TIMEOUT):
            if kind == "ahead":
                ahead[name] = value
            elif kind == "open":
                elsewhere[name] = round(value)
            else:
                replicas = max(1, round(value))
        if monotonic() > self._tidied + CLEANUP_INTERVAL:
            self._tidied = monotonic()
            await fetch("forget_counters", within=STATEMENT_TIMEOUT)
        return CounterTotals(ahead=ahead, open_elsewhere=elsewhere, replicas=replicas)


class Postgresql(msgspec.Struct, frozen=True, kw_only=True):
    """Dialogs in a PostgreSQL database, which any number of replicas share."""

    url: Annotated[
        str,
        Meta(
            description="`postgresql://user@host1,host2/database`, with libpq's options and"
            " `schema=NAME` for one of several assistants."
        ),
    ]

    @classmethod
    def from_url(cls, url: str) -> Postgresql:
        """Return the options for a URL."""
        store_url.parse(url)
        return cls(url=url)

    def build(self, context: StoreContext) -> PostgresqlStore:
        """Return the store."""
        return PostgresqlStore(self.url, durability=context.durability)

    def transfer(self) -> PostgresqlTransfer:
        """Return the transfer of the store."""
        return PostgresqlTransfer(self.url)


_READER, _OTHERS = attrgetter("_reader"), attrgetter("_others")
_REPLICAS: Final = attrgetter("_replicas")
"""Parts of the store."""


def _delegate(
    part: Callable[[PostgresqlStore], Any], method: Callable[Concatenate[Any, P], Awaitable[T]]
) -> Callable[Concatenate[PostgresqlStore, P], Coroutine[Any, Any, T]]:
    """Return a method of the store for a call of its part's method."""

    @wraps(method)
    async def hand_on(self: PostgresqlStore, /, *args: P.args, **keywords: P.kwargs) -> T:
        return await method(part(self), *args, **keywords)

    return hand_on


class PostgresqlStore:
    """Dialogs in a PostgreSQL database, which any number of replicas share.

    `durability` is `full` (given replies survive a crash of the server) or `relaxed` (the last
    replies may be lost then). It uses five connections: two for the two trips of a turn, and one
    each for other changes, for reads, for beats and hints.
    """

    def __init__(self, url: str, *, durability: str = "full") -> None:
        self._url = store_url.parse(url)
        self._durability = durability
        self.remembered = Remembered()
        """The remembered heads, profiles and windows of persons."""
        self._is_open = False
        self._lines = lines = DatabaseLines(self._url, durability)
        self._membership = Membership(
            lines.hints,
            forget=self.remembered.clear,
            renamed=lines.rename,
            cut_off=lines.break_off,
        )
        self.counters = PostgresqlCounters(self._membership)
        """The counters of quotas."""
        self._wake_ups = PostgresqlWakeUps(self._membership, self._url.schema)
        lines.listen(self._wake_ups)
        self.openings: Lane[TurnOpening] = Lane(
            lines.openings, Openings(lines.openings, self._membership, self.remembered)
        )
        """The lane of first trips."""
        self.closings: Lane[TurnClosing] = Lane(
            lines.closings, Closings(lines.closings, self._membership, self.remembered)
        )
        """The lane of second trips."""
        self._reader = PostgresqlReader(lines.reading)
        self._others = OutsideTurns(lines.changes, self._membership, self.remembered)
        self.turn_records = PostgresqlTurnRecords(lines.changes, lines.reading, self._membership)
        """The records of turns."""
        self._replicas = ReplicaWork(lines.changes, self._membership)

    async def open(self) -> None:
        """Connect, and migrate the database."""
        try:
            await self._lines.open()
        except BaseException:
            await self.aclose()
            raise
        self._is_open = True

    async def aclose(self) -> None:
        """Finish the submitted work, leave the replicas, and close the connections."""
        if self._is_open:
            await self.openings.wait_until_empty()
            await self.closings.wait_until_empty()
            await self._lines.changes.wait_until_empty()
            await self._lines.reading.wait_until_empty()
            await self._wake_ups.sent()
            with suppress(StoreError):  # then others take over when the lease has run out
                await self._membership.leave()
            await self._lines.hints.wait_until_empty()
        self._is_open = False
        await self._lines.aclose()

    @property
    def lines(self) -> list[DatabaseLine]:
        """The connections; the first lane is for first trips."""
        return self._lines.all

    @property
    def is_up(self) -> bool:
        """Whether the database answers, as far as is known."""
        return self._lines.are_up

    @property
    def number(self) -> int | None:
        """The number of this replica, None before it joined."""
        return self._membership.number

    @property
    def traffic(self) -> StoreTraffic:
        """The trips of turns so far, and the calls in which they were gathered."""
        lanes = (self.openings, self.closings)
        return StoreTraffic(
            calls=sum(lane.calls for lane in lanes),
            trips=sum(lane.trips for lane in lanes),
            misuses=sum(line.misuses for line in self.lines),
        )

    @property
    def commits(self) -> int:
        """Calls of both trips so far; with durability `full` each waited once for the disk."""
        return self.openings.calls + self.closings.calls

    # Turns

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Store the person's words durably; return the opened turn."""
        opened: OpenedTurn | AnsweredRequest = await self.openings.submit(opening)
        return opened

    async def close_turn(self, closing: TurnClosing) -> None:
        """Store all additions of the turn, and close it."""
        await self.closings.submit(closing)

    unfinished_turns = _delegate(_REPLICAS, ReplicaWork.unfinished_turns)
    resume_turn = _delegate(_REPLICAS, ReplicaWork.resume_turn)

    async def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        """End a person's active dialog of a name."""
        return await self._replicas.held(user, self._others.close_dialog(user, dialog_name))

    # The feed

    feed = _delegate(_READER, PostgresqlReader.feed)
    feed_ends = _delegate(_READER, PostgresqlReader.feed_ends)
    feed_tail = _delegate(_READER, PostgresqlReader.feed_tail)
    feed_before = _delegate(_READER, PostgresqlReader.feed_before)
    conversations = _delegate(_READER, PostgresqlReader.conversations)
    round = _delegate(_READER, PostgresqlReader.round)

    async def feed_end(self, user: str) -> int:
        """Return the number of the last feed row ever written for a person, 0 for none."""
        return (await self._reader.feed_ends([user])).get(user, 0)

    async def delete_conversation(self, user: str, dialog_name: str) -> int:
        """Delete a person's dialogs of a name in which no turn runs; return their number."""
        deleted = 0
        for number in await self._reader.dialogs_named(user, dialog_name):
            deleted += await self._others.delete_old_dialog(number, _ANY_DATE)
        return deleted

    # The agenda and the records

    schedule = _delegate(_OTHERS, OutsideTurns.schedule)
    strike = _delegate(_OTHERS, OutsideTurns.strike)
    due = _delegate(_READER, PostgresqlReader.due)
    next_due = _delegate(_READER, PostgresqlReader.next_due)
    entries = _delegate(_READER, PostgresqlReader.entries)
    put_record = _delegate(_OTHERS, OutsideTurns.put_record)
    add_amounts = _delegate(_OTHERS, OutsideTurns.add_amounts)
    delete_amounts = _delegate(_OTHERS, OutsideTurns.delete_amounts)
    amounts = _delegate(_READER, PostgresqlReader.amounts)
    change_records = _delegate(_OTHERS, OutsideTurns.change_records)
    record = _delegate(_READER, PostgresqlReader.record)
    records = _delegate(_READER, PostgresqlReader.records)
    records_since = _delegate(_READER, PostgresqlReader.records_since)
    record_count = _delegate(_READER, PostgresqlReader.record_count)
    delete_record = _delegate(_OTHERS, OutsideTurns.delete_record)

    async def deliver(self, delivery: Delivery) -> bool:
        """Write the messages and settle the entry; return False if the entry is gone."""
        return await self._replicas.held(delivery.user, self._others.deliver(delivery))

    # The archive

    dialog = _delegate(_READER, PostgresqlReader.dialog_by_id)
    turn = _delegate(_READER, PostgresqlReader.turn)
    active_dialog_id = _delegate(_READER, PostgresqlReader.active_dialog_id)
    dialog_ids = _delegate(_READER, PostgresqlReader.dialog_ids)
    ratings_since = _delegate(_READER, PostgresqlReader.ratings_since)
    rating_count = _delegate(_READER, PostgresqlReader.rating_count)
    find_owner = _delegate(_READER, PostgresqlReader.find_owner)
    rate_dialog = _delegate(_OTHERS, OutsideTurns.rate_dialog)

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to an utterance."""
        await self._others.rate_utterance(utt_id, rating, user, at)
        await self.turn_records.note_thumb(utt_id, thumb(rating))

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all their data; return False for an unknown person.

        PostgreSQL keeps deleted rows in its files until they are vacuumed, and in its write-ahead
        log and backups until these are removed.
        """
        return await self._replicas.held(user, self._others.delete_person(user))

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`; return their number."""
        deleted, last = 0, 0
        while dates := await self._reader.last_dates(last):
            last = dates[-1][0]
            old = [number for number, date in dates if date < before]
            for first in range(0, len(old), MAX_DELETED_DIALOGS):
                some = old[first : first + MAX_DELETED_DIALOGS]
                deleted += await self._others.delete_old_dialogs(some, before)
        return deleted

    async def erase(self) -> None:
        """Do nothing: PostgreSQL itself reuses the space of deleted rows."""

    async def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first, without delaying turns."""
        async for person, number in self._reader.dialogs(user):
            if (dialog := await self._reader.whole(person, number)) is not None:
                yield dialog

    # Replicas

    async def join(self, lease: float, url: str = "") -> int:
        """Become a replica under a new number; return the number."""
        if self._durability == "full" and not self._lines.standbys:
            log.warning(
                "%s: synchronous_standby_names is empty: what is confirmed is on one server only, "
                "and is lost with it; name a quorum, such as 'ANY 1 (db2, db3)'",
                self._url.shown,
            )
        return await self._membership.join(lease, url)

    def share(
        self, replica: ReplicaSettings, broker: BrokerWakeUps | None, timeout: float
    ) -> Succession:
        """Return the replica's part of a shared store."""
        return Succession(self, replica, broker, timeout)

    beat = _delegate(_REPLICAS, ReplicaWork.beat)
    inherit = _delegate(_REPLICAS, ReplicaWork.inherit)
    abandon_turn = _delegate(_REPLICAS, ReplicaWork.abandon_turn)
    claim_due = _delegate(_REPLICAS, ReplicaWork.claim_due)
    take_ticket = _delegate(_REPLICAS, ReplicaWork.take_ticket)
    withdraw = _delegate(_REPLICAS, ReplicaWork.withdraw)
    hold = _delegate(_REPLICAS, ReplicaWork.hold)
    release = _delegate(_REPLICAS, ReplicaWork.release)
    standbys = _delegate(_REPLICAS, ReplicaWork.standbys)
    replicas = _delegate(_REPLICAS, ReplicaWork.replicas)

    def wake(self, user: str) -> None:
        """Send a hint of a person's new messages, or of their turn's end."""
        if self._is_open:
            self._wake_ups.wake(user)

    def on_wake(self, listener: Callable[[str], None]) -> None:
        """Call a listener for each hint of another replica."""
        self._wake_ups.on_wake(listener)

    def clock(self) -> float:
        """Return the database's time in seconds (UNIX), as measured at the last beat."""
        return self._membership.clock()

    @property
    def lease_left(self) -> float:
        """Seconds until this replica's lease runs out, by its own monotonic clock."""
        return self._membership.lease_left
