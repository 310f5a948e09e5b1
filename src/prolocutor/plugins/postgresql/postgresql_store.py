"""The PostgreSQL store: any number of replicas on one database, durable by group commit."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from prolocutor.contracts.shared_store import ReplicaStatus, StoreTraffic
from prolocutor.contracts.store import (
    ALL_DIALOGS,
    MAX_AGENDA_ENTRIES,
    AgendaEntry,
    AnsweredRequest,
    Delivery,
    DialogQuery,
    FeedRow,
    OpenedTurn,
    TurnClosing,
    TurnOpening,
    UnfinishedTurn,
)
from prolocutor.contracts.store.store_options import StoreContext
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.ids import DialogId, TurnId
from prolocutor.dialog.thumbs import thumb
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance
from prolocutor.errors import StoreError
from prolocutor.plugins.postgresql import migrations, store_url
from prolocutor.plugins.postgresql.closings import Closings
from prolocutor.plugins.postgresql.conversations import PostgresqlConversationStore
from prolocutor.plugins.postgresql.counters import PostgresqlCounters
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
from prolocutor.plugins.postgresql.turn_records import PostgresqlTurnRecords
from prolocutor.plugins.postgresql.wake_ups import PostgresqlWakeUps

log = logging.getLogger(__name__)


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
        """Read the URL."""
        store_url.parse(url)
        return cls(url=url)

    def build(self, context: StoreContext) -> PostgresqlStore:
        """Return the store."""
        return PostgresqlStore(self.url, durability=context.durability)

    def transfer(self) -> PostgresqlTransfer:
        """Return what copies it."""
        return PostgresqlTransfer(self.url)


class PostgresqlStore(PostgresqlConversationStore):
    """Dialogs in a PostgreSQL database, which any number of replicas share.

    `durability` is `full` (a reply that was given survives a crash of the server) or `relaxed` (the
    last ones may be lost then). It uses five connections: one for each trip of a turn, one for
    other changes, one to read and one for beats and hints.
    """

    def __init__(self, url: str, *, durability: str = "full") -> None:
        self._url = store_url.parse(url)
        self._durability = durability
        self.remembered = Remembered()
        """What is remembered of persons."""
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
        self._replicas = ReplicaWork(lines.changes, self._membership, self._others)

    async def open(self) -> None:
        """Connect, and bring the database up to date."""
        try:
            await self._lines.changes.open()
            await migrations.migrate(self._lines.changes, self._url)
            await self._lines.open()
        except BaseException:
            await self.aclose()
            raise
        self._is_open = True

    async def aclose(self) -> None:
        """Finish what was submitted, leave, and close the connections."""
        if self._is_open:
            await self.openings.drained()
            await self.closings.drained()
            await self._others.drained()
            await self._reader.drained()
            await self.turn_records.drained()
            await self._wake_ups.sent()
            with suppress(StoreError):  # then others take over when the lease has run out
                await self._membership.leave()
            await self._membership.drained()
        self._is_open = False
        await self._lines.aclose()

    @property
    def lines(self) -> list[DatabaseLine]:
        """The connections, that of first trips first."""
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
            calls=sum(lane.calls for lane in lanes), trips=sum(lane.trips for lane in lanes)
        )

    @property
    def commits(self) -> int:
        """Calls of both trips so far; with durability `full` each waited once for the disk."""
        return self.openings.calls + self.closings.calls

    # Turns

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Store what was said, durably, and return what the turn starts from."""
        opened: OpenedTurn | AnsweredRequest = await self.openings.submit(opening)
        return opened

    async def close_turn(self, closing: TurnClosing) -> None:
        """Store all that the turn added and close it."""
        await self.closings.submit(closing)

    async def unfinished_turns(self) -> list[UnfinishedTurn]:
        """Return the open turns of this replica and of dead ones, oldest first."""
        return await self._replicas.unfinished_turns()

    async def resume_turn(self, turn_id: TurnId, window: int | None, hypotheses: int) -> OpenedTurn:
        """Count one more attempt, durably, and return what the turn starts from."""
        return await self._replicas.resume_turn(turn_id, window, hypotheses)

    async def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        """End the active dialog of that name."""
        return await self._replicas.held(user, self._others.close_dialog(user, dialog_name))

    # The feed

    async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Return up to `limit` rows with `n > after`, ascending."""
        return await self._reader.feed(user, after, limit)

    async def feed_end(self, user: str) -> int:
        """Return the number of the last row ever written for this person, 0 if none."""
        return (await self._reader.feed_ends([user])).get(user, 0)

    async def feed_tail(
        self, user: str, dialog_name: str, limit: int = 10, after: int | None = None
    ) -> list[FeedRow]:
        """Return the last rows of one dialog name, or the first after the message `after`."""
        return await self._reader.feed_tail(user, dialog_name, limit, after)

    async def round(self, user: str, dialog_name: str) -> bytes:
        """Return the round of the active dialog of that name."""
        return await self._reader.round(user, dialog_name)

    # The agenda and the records

    async def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry, in place of one of the same user, skill and key."""
        await self._others.schedule(entry, limit)

    async def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; return False if there is none."""
        return await self._others.strike(user, skill, key)

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        """Return the entries with `due <= now`, earliest first."""
        return await self._reader.due(now, limit)

    async def next_due(self, after: float) -> float | None:
        """Return the earliest `due` later than `after`."""
        return await self._reader.next_due(after)

    async def entries(self, user: str, skill: str | None = None) -> list[AgendaEntry]:
        """Return a person's entries (of one skill), earliest first."""
        return await self._reader.entries(user, skill)

    async def deliver(self, delivery: Delivery) -> bool:
        """Write the messages and settle the entry; return False if the entry is gone."""
        return await self._replicas.held(delivery.user, self._others.deliver(delivery))

    async def put_record(self, user: str, kind: str, key: str, body: bytes) -> None:
        """Write a document, in place of the one of this kind and key."""
        await self._others.put_record(user, kind, key, body)

    async def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key, in the order in which they were first written."""
        return await self._reader.records(user, kind)

    async def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; return False if there is none."""
        return await self._others.delete_record(user, kind, key)

    # The archive

    async def dialog(self, dialog_id: str) -> Dialog | None:
        """Return a whole dialog by `dialog_id` or `_id`."""
        return await self._reader.dialog_by_id(dialog_id)

    async def turn(self, utt_id: str) -> list[HumanUtterance | BotUtterance]:
        """Return what was said to the reply with this `utt_id`, and the reply."""
        return await self._reader.turn(utt_id)

    async def active_dialog_id(self, user: str, dialog_name: str = "main") -> DialogId | None:
        """Return the `dialog_id` of the person's active dialog of that name."""
        return await self._reader.active_dialog_id(user, dialog_name)

    async def dialog_ids(self, query: DialogQuery = ALL_DIALOGS) -> list[DialogId]:
        """Return the ids of the dialogs that match, oldest first."""
        return await self._reader.dialog_ids(query)

    async def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the dialog's."""
        await self._others.rate_dialog(dialog_id, rating, user, at)

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the utterance's."""
        await self._others.rate_utterance(utt_id, rating, user, at)
        await self.turn_records.note_thumb(utt_id, thumb(rating))

    async def owner_of(self, id_: str) -> str | None:
        """Return the user whose dialog or utterance this is."""
        return await self._reader.owner_of(id_)

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs; return False if unknown.

        PostgreSQL keeps deleted rows in its files until they are vacuumed, and in its write-ahead
        log and backups until these are removed.
        """
        return await self._replicas.held(user, self._others.delete_person(user))

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`; return their number."""
        deleted, last = 0, 0
        while dates := await self._reader.last_dates(last):
            last = dates[-1][0]
            for number, date in dates:
                if date < before:
                    deleted += await self._others.delete_old_dialog(number, before)
        return deleted

    async def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first, without holding up the turns."""
        async for person, number in self._reader.dialogs(user):
            if (dialog := await self._reader.whole(person, number)) is not None:
                yield dialog

    # Replicas

    async def join(self, lease: float, url: str = "") -> int:
        """Become a replica under a number that was never used; return it."""
        if self._durability == "full" and not self._lines.standbys:
            log.warning(
                "%s: synchronous_standby_names is empty: what is confirmed is on one server only, "
                "and is lost with it; name a quorum, such as 'ANY 1 (db2, db3)'",
                self._url.shown,
            )
        return await self._membership.join(lease, url)

    async def beat(self) -> bool:
        """Prolong the lease; return False where this replica was declared dead and joined again."""
        return await self._replicas.beat()

    async def inherit(self, limit: int = 1000) -> list[UnfinishedTurn]:
        """Declare dead whose lease has run out, take over their turns; return all that we have."""
        return await self._replicas.inherit(limit)

    async def claim_due(self, limit: int = 100) -> list[AgendaEntry]:
        """Return entries that are due by the database's clock, claimed by this replica."""
        return await self._replicas.claim_due(limit)

    async def take_ticket(self, user: str, ticket: str) -> None:
        """Queue up for a person before it is one's turn."""
        await self._replicas.take_ticket(user, ticket)

    async def withdraw(self, user: str, ticket: str) -> None:
        """Hand a ticket back, if there is one."""
        await self._replicas.withdraw(user, ticket)

    async def hold(self, user: str, ticket: str) -> None:
        """Hold a person for work that is no turn."""
        await self._replicas.hold(user, ticket)

    async def release(self, user: str, ticket: str) -> None:
        """Release a person, if they are held with this ticket."""
        await self._replicas.release(user, ticket)

    async def feed_ends(self, users: Sequence[str]) -> dict[str, int]:
        """Return `feed_end` of many persons in one query; unknown ones are left out."""
        return await self._reader.feed_ends(users)

    async def replicas(self) -> list[ReplicaStatus]:
        """Return the replicas that live, and those that died less than a day ago, by number."""
        return await self._replicas.replicas()

    def wake(self, user: str) -> None:
        """Send a hint that this person has something new, or is free."""
        if self._is_open:
            self._wake_ups.wake(user)

    def on_wake(self, listener: Callable[[str], None]) -> None:
        """Call the listener for each hint of another replica."""
        self._wake_ups.on_wake(listener)

    def clock(self) -> float:
        """Return the database's time in seconds (UNIX), as measured at the last beat."""
        return self._membership.clock()

    @property
    def lease_left(self) -> float:
        """Seconds until this replica's lease runs out, by its own monotonic clock."""
        return self._membership.lease_left
