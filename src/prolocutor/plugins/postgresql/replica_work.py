"""ReplicaWork: takeovers, tickets, holds and claims, on the line for other changes."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from time import monotonic
from typing import Any, Final, TypeVar

from prolocutor.contracts.store import AgendaEntry, OpenedTurn, UnfinishedTurn, unpack_opening
from prolocutor.dialog.ids import TurnId
from prolocutor.errors import DeclaredDead, NotFound, PersonBusy, StoreAway, TakenOver
from prolocutor.plugins.postgresql.database_line import Row
from prolocutor.plugins.postgresql.lanes import JobLane
from prolocutor.plugins.postgresql.membership import Membership
from prolocutor.plugins.postgresql.openings import MAX_INT, resumed_turn
from prolocutor.plugins.postgresql.reader import read_entries
from prolocutor.plugins.postgresql.replicas.shared_store import ReplicaStatus, StandbyStatus
from prolocutor.plugins.postgresql.statements import SQL, shown_text, stored_text
from prolocutor.stores.statements import make_struct

STATEMENT_TIMEOUT: Final = 10.0
"""Seconds for a statement of a replica."""

T = TypeVar("T")

_Given = tuple[str, str]
"""User and ticket."""


class ReplicaWork:
    """The work of a replica beside turns. Failed releases are repeated with a beat."""

    def __init__(self, lane: JobLane, membership: Membership) -> None:
        self._lane = lane
        self._membership = membership
        self._holds: dict[_Given, int] = {}
        """Who is held, and under which number."""
        self._to_release: set[_Given] = set()
        self._to_withdraw: set[_Given] = set()

    async def beat(self) -> bool:
        """Prolong the lease; repeat failed releases."""
        living = await self._membership.beat()
        for user, ticket in list(self._to_release):
            if (user, ticket) not in self._to_release:
                continue  # it was granted meanwhile, or handed back
            await self._hint_rows("release_person", stored_text(user), stored_text(ticket))
            self._to_release.discard((user, ticket))
        for user, ticket in list(self._to_withdraw):
            if (user, ticket) not in self._to_withdraw:
                continue  # it was granted meanwhile, or handed back
            await self._hint_rows("withdraw_ticket", stored_text(user), stored_text(ticket))
            self._to_withdraw.discard((user, ticket))
        await self._hint_rows("forget_requests")
        return living

    async def inherit(self, limit: int = 1000) -> list[UnfinishedTurn]:
        """Take over the turns of dead replicas; return all turns of this replica.

        Shortly after the first connection, within a lease, expired leases prove nothing: perhaps
        nobody could reach the database to prolong them.
        """
        lease = self._membership.lease
        settled = monotonic() - self._membership.connected_at > lease
        number = await self._membership.require_number()
        return _unfinished_turns(
            await self._hint_rows("inherit_turns", number, lease, settled, limit)
        )

    async def unfinished_turns(self) -> list[UnfinishedTurn]:
        """Return the open turns of this replica and of dead replicas, oldest first."""
        return _unfinished_turns(await self._rows("unfinished_turns", self._membership.number))

    async def resume_turn(self, turn_id: TurnId, window: int | None, hypotheses: int) -> OpenedTurn:
        """Start another run of an open turn."""
        try:
            return await self._resume_turn(turn_id, window, hypotheses)
        except DeclaredDead:
            if not self._membership.alone:
                raise
            await self._membership.rejoin()
            return await self._resume_turn(turn_id, window, hypotheses)

    async def _resume_turn(
        self, turn_id: TurnId, window: int | None, hypotheses: int
    ) -> OpenedTurn:
        number = await self._membership.require_number()
        reach = None if window is None else min(window, MAX_INT)
        (row,) = await self._rows(
            "resume_turn", number, stored_text(turn_id), reach, hypotheses > 0
        )
        if row["status"] == "none":
            raise NotFound(f"no turn {turn_id} is open", field="turn_id")
        if row["status"] == "busy":
            raise PersonBusy(f"turn {turn_id} is run by another replica")
        return resumed_turn(row, unpack_opening(row["opening"]), window, hypotheses, number)

    async def abandon_turn(self, turn_id: TurnId) -> None:
        """Close an unreadable open turn of this replica."""
        number = await self._membership.require_number()
        await self._rows("abandon_turn", number, stored_text(turn_id))

    async def claim_due(self, limit: int = 100) -> list[AgendaEntry]:
        """Claim due entries."""
        return read_entries(
            await self._rows("claim_due", await self._membership.require_number(), limit)
        )

    async def take_ticket(self, user: str, ticket: str) -> None:
        """Queue up for a person."""
        number = await self._membership.require_number()
        await self._rows("take_ticket", number, stored_text(user), stored_text(ticket))

    async def withdraw(self, user: str, ticket: str) -> None:
        """Return a ticket; a lost call is repeated with a beat."""
        self._to_withdraw.add((user, ticket))
        await self._rows("withdraw_ticket", stored_text(user), stored_text(ticket))
        self._to_withdraw.discard((user, ticket))

    async def hold(self, user: str, ticket: str) -> None:
        """Hold a person; raise `PersonBusy` if others come first."""
        number = await self._membership.require_number()
        try:
            rows = await self._rows("hold_person", number, stored_text(user), stored_text(ticket))
        except StoreAway:
            self._to_release.add((user, ticket))  # it may have been granted
            self._to_withdraw.add((user, ticket))
            raise
        if not rows[0][0]:
            raise PersonBusy(
                f"a turn of {user!r} is open, or other replicas wait for or hold this person"
            )
        self._to_release.discard((user, ticket))
        self._to_withdraw.discard((user, ticket))
        self._holds[user, ticket] = number

    async def release(self, user: str, ticket: str) -> None:
        """Release a person; a lost call is repeated with a beat."""
        self._holds.pop((user, ticket), None)
        self._to_release.add((user, ticket))
        await self._rows("release_person", stored_text(user), stored_text(ticket))
        self._to_release.discard((user, ticket))

    async def held(self, user: str, change: Awaitable[T]) -> T:
        """Change a held person; raise `TakenOver` if the hold was lost."""
        held = {number for (hold, _), number in self._holds.items() if hold == user}
        lost = TakenOver(f"{user!r} is not held any more: this replica was declared dead")
        if held - {self._membership.number}:
            if isinstance(change, Coroutine):
                change.close()
            raise lost
        try:
            return await change
        except DeclaredDead:
            if held:
                raise lost from None
            raise

    async def standbys(self) -> StandbyStatus:
        """Return the state of the server's standbys."""
        return make_struct(StandbyStatus, (await self._rows("standbys"))[0])

    async def replicas(self) -> list[ReplicaStatus]:
        """Return the living replicas, and the replicas dead for less than a day."""
        return [
            ReplicaStatus(
                number=row["replica"],
                url=row["url"],
                joined=row["joined"],
                left=row["left_"],
                dead=row["dead"],
                open_turns=row["open_turns"],
                waiting=row["waiting"],
                takeovers=row["takeovers"],
            )
            for row in await self._rows("replicas")
        ]

    async def _hint_rows(self, name: str, *values: Any) -> list[Row]:
        """Run a statement on the line for hints, where no long statement runs.

        The hint does not wait for the disk, but the start of the next run does, so a takeover is
        durable before the run.
        """
        return await self._membership.fetch(name, *values, within=STATEMENT_TIMEOUT)

    async def _rows(self, name: str, *values: Any) -> list[Row]:
        return await self._lane.fetch(SQL[name], *values, within=STATEMENT_TIMEOUT)


def _unfinished_turns(rows: list[Row]) -> list[UnfinishedTurn]:
    return [
        UnfinishedTurn(
            turn_id=TurnId(row[0]), user=shown_text(row[1]), started=row[2], attempts=row[3]
        )
        for row in rows
    ]
