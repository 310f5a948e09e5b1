"""SharedStore: the promises of a store of several replicas beside `Store`.

A replica is a process that serves an assistant. Any number of them use the same database; nothing
else connects them. A store without this protocol belongs to a single process, and nothing here
applies to it.

**Life cycle.** `open`, then `join` once, then `beat` every quarter of a lease; `aclose` leaves, and
others take over at once. `open` alone does not join: a command that reads or deletes is no replica.
(At the first turn of a store before `join` it joins by itself, with `DEFAULT_LEASE`.) A replica
whose lease has run out is declared dead by the first replica to look, by the database's clock
alone. From then on whatever it writes under its old number is refused, for ever.

**One turn at a time for each person**, at a single replica. The journal's row of an open turn is
the lease on its person, and (turn, attempt, replica) its fence:

- `open_turn` raises `PersonBusy` while another turn of the person is open or the person is held, at
  any replica, this one included, or where an older ticket waits. The caller has a ticket then,
  under its `turn_id`. It calls again with the same `turn_id`, or calls `withdraw`.

**Changes of other replicas are seen.** The cached data of a person (heads, profiles,
windows) is validated by a version that every change of theirs raises: turns, deliveries, closing,
ratings, deletion, at any replica.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from prolocutor.contracts.shared_store import WakeUps
from prolocutor.contracts.store import AgendaEntry, Store, UnfinishedTurn
from prolocutor.dialog.ids import TurnId


class ReplicaStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A replica as the database sees it.

    - `left` are the seconds until its lease runs out, negative afterwards.
    - `open_turns` it has now, `waiting` tickets it has, `takeovers` is the number of turns taken
      over from dead replicas.
    - `joined` is a time in seconds (UNIX), by the database's clock.
    """

    number: int
    url: str
    joined: float
    left: float
    dead: bool = False
    open_turns: int = 0
    waiting: int = 0
    takeovers: int = 0


class StandbyStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of replication, as the database confirms it.

    `named`: a commit waits for a standby. `connected` counts the standbys, `lag` is the delay of
    the last in seconds, None where our user may not see it (PostgreSQL: `GRANT pg_monitor`).
    """

    named: bool = False
    connected: int = 0
    lag: float | None = None


class StoreTraffic(msgspec.Struct, frozen=True):
    """The traffic to the database so far: the trips of turns, and their shared calls.

    `misuses` counts the calls failed by a wrong use of a connection.
    """

    trips: int = 0
    calls: int = 0
    misuses: int = 0


class CounterUse(msgspec.Struct, frozen=True):
    """A replica's counts since its last report: `spent` of a counter's `period` seconds."""

    name: str
    spent: float
    period: float


class CounterTotals(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of all replicas.

    - `ahead`: the seconds until a counter is empty, for reported counters and counters more than
      half full.
    - `open_elsewhere`: the number of open sockets of a name at other replicas, by their reports.
    - `replicas`: how many live.
    """

    ahead: Mapping[str, float] = {}
    open_elsewhere: Mapping[str, int] = {}
    replicas: int = 1


class SharedCounters(Protocol):
    """Counters in a shared store. They need not survive a crash of the database."""

    async def count_together(
        self, uses: Sequence[CounterUse], opened: Mapping[str, int]
    ) -> CounterTotals:
        """Add the counts of this replica, and return the counts of all.

        `opened`: how many of a name are open here now; 0 takes the name back, and so does the end
        of this replica.
        """


class SharedStore(WakeUps, Protocol):
    """The methods for replicas beside `Store`; the module describes `Store` for replicas."""

    async def join(self, lease: float, url: str = "") -> int:
        """Become a replica under a new number; return it.

        `lease` is in seconds; `url` is where others reach this replica, "" if nowhere.
        """

    async def beat(self) -> bool:
        """Prolong the lease of this replica.

        Return False where it was declared dead: it has joined again, under a new number, and has
        forgotten its cached persons.
        """

    async def inherit(self, limit: int = 1000) -> list[UnfinishedTurn]:
        """Declare replicas with an ended lease dead, take over up to `limit` turns of the dead.

        Return all open turns of this replica after that, oldest first, its own included. `attempts`
        counts the runs so far; `resume_turn` starts the next. Tickets, holds and claims of the dead
        are void.
        """

    async def abandon_turn(self, turn_id: TurnId) -> None:
        """Close an open turn of this replica without a reply; do nothing without such a turn.

        It is for an unreadable turn (`PersonUnreadable`). `open_turn` does so by itself.
        """

    async def claim_due(self, limit: int = 100) -> list[AgendaEntry]:
        """Return up to `limit` entries due by the database's clock, earliest first.

        They are claimed by this replica, until they are delivered, replaced or struck or it is
        dead: another replica does not get them. Its earlier open claims are included.
        """

    async def take_ticket(self, user: str, ticket: str) -> None:
        """Queue up for a person ahead of time; `ticket` is a `turn_id` or an id to hold.

        Tickets of living replicas are served in the order in which they were taken. A caller's
        earlier ticket stays. Nothing happens where the person is unknown.
        """

    async def withdraw(self, user: str, ticket: str) -> None:
        """Hand a ticket back, if any."""

    async def hold(self, user: str, ticket: str) -> None:
        """Hold a person for work outside of turns: no turn is opened until `release`.

        Raise `PersonBusy` as `open_turn` does; the caller has a ticket then. A person who is
        unknown can be held too. Holding again with the same ticket is not an error.
        """

    async def release(self, user: str, ticket: str) -> None:
        """Release a person, if they are held with this ticket."""

    async def feed_ends(self, users: Sequence[str]) -> dict[str, int]:
        """Return `feed_end` of many persons by a single query; unknown persons are left out."""

    async def replicas(self) -> list[ReplicaStatus]:
        """Return the living replicas, and the replicas dead for less than a day, by number."""

    async def standbys(self) -> StandbyStatus:
        """Return the state of the database's standbys."""

    def clock(self) -> float:
        """Return the database's time in seconds (UNIX).

        It is measured with each beat and carried on by the monotonic clock.
        """

    @property
    def counters(self) -> SharedCounters:
        """The counters of quotas, for all replicas."""

    @property
    def lease_left(self) -> float:
        """Seconds until this replica's lease runs out, by its own monotonic clock."""

    @property
    def traffic(self) -> StoreTraffic:
        """The trips of turns so far, and the calls of the database in which they were gathered."""


class ReplicaStore(Store, SharedStore, Protocol):
    """A whole store of several replicas."""
