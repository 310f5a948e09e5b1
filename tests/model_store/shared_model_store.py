"""SharedModelStore: the store of one replica on a database in memory, for tests.

It is the model of `contracts/shared_store.py`: what every shared store does, without waiting.

    database = SharedModel()
    first, second = SharedModelStore(database), SharedModelStore(database)  # two replicas
    database.now += 10.0  # both leases ran out
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prolocutor.assistant.assistant_settings import ReplicaSettings
from prolocutor.contracts.shared_store import DEFAULT_LEASE, BrokerWakeUps
from prolocutor.contracts.store import (
    AgendaEntry,
    AnsweredRequest,
    Delivery,
    OpenedTurn,
    TurnClosing,
    TurnOpening,
    UnfinishedTurn,
)
from prolocutor.dialog.ids import DialogId, TurnId
from prolocutor.errors import (
    DeclaredDead,
    NotFound,
    PersonBusy,
    RoundChanged,
    StoreError,
    TakenOver,
)
from prolocutor.plugins.postgresql.replicas.shared_store import (
    ReplicaStatus,
    StandbyStatus,
    StoreTraffic,
)
from prolocutor.plugins.postgresql.replicas.succession import Succession
from tests.model_store import ModelStore
from tests.model_store.agenda_store import ModelAgendaStore
from tests.model_store.archive_store import ModelArchiveStore
from tests.model_store.shared_counters import ModelCounters
from tests.model_store.shared_state import ModelReplica, PersonLease, SharedModel
from tests.model_store.turn_store import ModelTurnStore


class SharedModelStore(ModelStore):
    """The store of one replica."""

    def __init__(self, database: SharedModel) -> None:
        ModelTurnStore.__init__(self, database.state)
        ModelAgendaStore.__init__(self, database.state)
        ModelArchiveStore.__init__(self, database.state)
        self._database = database
        self._replica: ModelReplica | None = None
        self.counters = ModelCounters(database, self._reached)
        """The counters of quotas."""
        self._fences: dict[tuple[str, int], ModelReplica] = {}
        self._open = False
        self._doubtful: set[tuple[str, int]] = set()
        self.loses_answer = False
        """Whether the next turn is opened or closed, and the caller gets a `StoreError`."""
        self.is_cut_off = False
        """Whether this replica alone cannot reach the database."""

    @property
    def replica(self) -> ModelReplica:
        """This replica; it joins if it has not yet."""
        if self._replica is None:
            self._replica = self._joined(DEFAULT_LEASE, "")
        return self._replica

    # -- the life of a replica --------------------------------------------------------------

    async def open(self) -> None:
        """Get ready."""
        if self._database.away:
            raise StoreError("the database cannot be reached; try again later")
        self._open = True

    async def aclose(self) -> None:
        """Leave: others take over at once."""
        if self._replica is not None and not (self._database.away or self.is_cut_off):
            self._die(self._replica)
        self._open = False
        self._database.listeners.pop(self, None)

    def share(
        self, replica: ReplicaSettings, broker: BrokerWakeUps | None, timeout: float
    ) -> Succession:
        """Return what a replica does among those that share the database."""
        return Succession(self, replica, broker, timeout)

    async def join(self, lease: float, url: str = "") -> int:
        """Become a replica under a new number."""
        self._check_reachable()
        self._replica = self._joined(lease, url)
        return self._replica.number

    async def beat(self) -> bool:
        """Prolong the lease, or join again."""
        self._check_reachable()
        replica = self.replica
        if replica.dead:
            self._replica = self._joined(replica.lease, replica.url)
            return False
        replica.alive_until = self._database.now + replica.lease
        return True

    async def inherit(self, limit: int = 1000) -> list[UnfinishedTurn]:
        """Take over the turns of the dead; return all that this replica has open."""
        self._check_alive()
        database, me = self._database, self.replica
        for replica in database.replicas:
            if replica.alive_until < database.now:
                self._die(replica)
        for user, lease in list(database.taken.items()):
            if lease.replica.dead and lease.attempt == 0:
                del database.taken[user]
            elif lease.replica.dead and limit > 0:
                lease.replica = me
                me.takeovers += 1
                limit -= 1
        return [
            turn
            for turn in await super().unfinished_turns()
            if database.taken[turn.user].replica is me
        ]

    async def replicas(self) -> list[ReplicaStatus]:
        """Return all replicas."""
        return self._database.status()

    def clock(self) -> float:
        """Return the database's time."""
        return self._database.now

    @property
    def lease_left(self) -> float:
        """Seconds until the lease of this replica runs out."""
        return self.replica.alive_until - self._database.now

    @property
    def traffic(self) -> StoreTraffic:
        """Nothing goes to a database."""
        return StoreTraffic()

    # -- turns ------------------------------------------------------------------------------

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Open a turn if the person is free and nobody waits before."""
        self._check_alive()
        database, user = self._database, opening.user
        lease = database.taken.get(user)
        if lease is not None and lease.id == opening.turn_id and lease.replica is self.replica:
            return database.state.open_turns[opening.turn_id].opened
        person = database.state.persons.get(user)
        if person is not None and opening.request_key is not None:
            answered = person.answer_to(opening)
            if answered is not None:
                return answered
        self._check_free(user, opening.turn_id)
        if opening.round is not None:
            now = await super().round(user, opening.dialog_name)
            if now != opening.round:
                self._queue_up(user, opening.turn_id)
                raise RoundChanged(now)
        self._leave_line(user, opening.turn_id)
        opened = await super().open_turn(opening)
        database.taken[user] = PersonLease(opening.turn_id, self.replica, 1)
        self._fences[opening.turn_id, 1] = self.replica
        self._lose_answer()
        return opened

    async def close_turn(self, closing: TurnClosing) -> None:
        """Store a turn under its fence."""
        self._check_reachable()
        database, opened = self._database, closing.opened
        user, turn_id = opened.opening.user, opened.opening.turn_id
        run = (turn_id, opened.attempt)
        lease, fence = database.taken.get(user), self._fences.get(run)
        if run in self._doubtful and database.stored.get(turn_id) == opened.attempt:
            self._doubtful.discard(run)
            return
        mine = lease is not None and (lease.id, lease.attempt) == (turn_id, opened.attempt)
        if lease is None or not mine or lease.replica is not fence:
            if turn_id not in database.state.open_turns and turn_id not in database.stored:
                raise StoreError(f"turn {turn_id} is not open; open it first")
            raise TakenOver(f"another replica has turn {turn_id}")
        await super().close_turn(closing)
        del database.taken[user]
        database.stored[turn_id] = opened.attempt
        self._doubtful.add(run)
        self._lose_answer()
        self._doubtful.discard(run)

    async def unfinished_turns(self) -> list[UnfinishedTurn]:
        """Return the open turns of this replica and of the dead."""
        self._check_reachable()
        taken = self._database.taken
        return [
            turn
            for turn in await super().unfinished_turns()
            if taken[turn.user].replica.dead or taken[turn.user].replica is self._replica
        ]

    async def resume_turn(self, turn_id: TurnId, window: int | None, hypotheses: int) -> OpenedTurn:
        """Start another run of a turn that this replica has, or a dead one had."""
        self._check_alive()
        turn = self._database.state.open_turns.get(turn_id)
        if turn is None:
            raise NotFound(f"no turn {turn_id} is open", field="turn_id")
        lease = self._database.taken[turn.opened.opening.user]
        if lease.replica is not self.replica and not lease.replica.dead:
            raise PersonBusy(f"another replica runs turn {turn_id}")
        opened = await super().resume_turn(turn_id, window, hypotheses)
        lease.replica, lease.attempt = self.replica, opened.attempt
        self._fences[turn_id, opened.attempt] = self.replica
        return opened

    async def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        """End a dialog between two turns."""
        self._check_let_through(user)
        return await super().close_dialog(user, dialog_name)

    async def deliver(self, delivery: Delivery) -> bool:
        """Deliver between two turns."""
        self._check_let_through(delivery.user)
        entry, done = delivery.entry, await super().deliver(delivery)
        if done and entry is not None:
            self._database.claims.pop((entry.user, entry.skill, entry.key), None)
        return done

    async def delete_person(self, user: str) -> bool:
        """Delete a person between two turns."""
        self._check_let_through(user)
        lease = self._database.taken.get(user)
        if lease is not None and lease.attempt:
            del self._database.taken[user]
        return await super().delete_person(user)

    # -- tickets, holds, claims, hints ------------------------------------------------------

    async def take_ticket(self, user: str, ticket: str) -> None:
        """Queue up for a person."""
        self._check_alive()
        if user in self._database.state.persons:
            self._queue_up(user, ticket)

    async def withdraw(self, user: str, ticket: str) -> None:
        """Hand a ticket back."""
        self._check_reachable()
        self._leave_line(user, ticket)

    async def hold(self, user: str, ticket: str) -> None:
        """Hold a person for work that is not a turn."""
        self._check_alive()
        lease = self._database.taken.get(user)
        if lease is not None and (lease.id, lease.replica) == (ticket, self.replica):
            return
        self._check_free(user, ticket)
        self._leave_line(user, ticket)
        self._database.taken[user] = PersonLease(ticket, self.replica)
        self._fences[user, 0] = self.replica

    async def release(self, user: str, ticket: str) -> None:
        """Release a person."""
        self._check_reachable()
        lease = self._database.taken.get(user)
        self._fences.pop((user, 0), None)
        if lease is not None and lease.id == ticket and lease.attempt == 0:
            del self._database.taken[user]

    async def abandon_turn(self, turn_id: str) -> None:
        """Close a turn; the model has none that cannot be read."""
        raise NotImplementedError

    async def claim_due(self, limit: int = 100) -> list[AgendaEntry]:
        """Claim what is due."""
        self._check_alive()
        claims = self._database.claims
        claimed: list[AgendaEntry] = []
        for entry in await super().due(self._database.now, 1_000_000):
            key = (entry.user, entry.skill, entry.key)
            owner = claims.get(key)
            if len(claimed) < limit and (owner is None or owner.dead or owner is self.replica):
                claims[key] = self.replica
                claimed.append(entry)
        return claimed

    async def feed_ends(self, users: Sequence[str]) -> dict[str, int]:
        """Return the ends of many feeds."""
        self._check_reachable()
        persons = self._database.state.persons
        return {user: persons[user].feed_end for user in users if user in persons}

    async def standbys(self) -> StandbyStatus:
        """Return that a model has none."""
        return StandbyStatus()

    def wake(self, user: str) -> None:
        """Send a hint to the other stores."""
        for store, listener in list(self._database.listeners.items()):
            if store is not self and self._database.hints:
                listener(user)

    def on_wake(self, listener: Callable[[str], None]) -> None:
        """Call the listener for each hint of another store."""
        self._database.listeners[self] = listener

    # -- inside -----------------------------------------------------------------------------

    def _joined(self, lease: float, url: str) -> ModelReplica:
        replicas = self._database.replicas
        replicas.append(ModelReplica(len(replicas) + 1, lease, url, self._database.now))
        return replicas[-1]

    def _die(self, replica: ModelReplica) -> None:
        replica.dead = True
        for user, line in list(self._database.waiting.items()):
            self._database.waiting[user] = [one for one in line if one[1] is not replica]

    def _lose_answer(self) -> None:
        if self.loses_answer:
            self.loses_answer = False
            raise StoreError("the answer of the database was lost")

    def _reached(self) -> ModelReplica:
        self._check_reachable()
        return self.replica

    def _check_reachable(self) -> None:
        if self._database.away or self.is_cut_off or not self._open:
            raise StoreError("the database cannot be reached; try again later")

    def _check_alive(self) -> None:
        self._check_reachable()
        if self.replica.dead:
            raise DeclaredDead(f"replica {self.replica.number} was declared dead")

    def _check_free(self, user: str, ticket: str) -> None:
        """Raise `PersonBusy`, with a ticket, if a person is busy or others wait before."""
        lease = self._database.taken.get(user)
        hold_of_dead = lease is not None and lease.attempt == 0 and lease.replica.dead
        if (lease is None or hold_of_dead) and self._database.first_in_line(user) in (None, ticket):
            return
        self._queue_up(user, ticket)
        raise PersonBusy("another turn of this person is open, or others wait")

    def _check_let_through(self, user: str) -> None:
        """Raise `PersonBusy` if a person is busy, `TakenOver` if this replica's hold is gone."""
        lease = self._database.taken.get(user)
        fence = self._fences.get((user, 0))
        self._check_alive() if fence is None else self._check_reachable()
        if fence is not None and (lease is None or lease.attempt or lease.replica is not fence):
            raise TakenOver("this replica does not hold the person any more")
        if lease is not None and lease.replica is not self.replica and fence is None:
            raise PersonBusy("a turn of this person is open, or another replica holds them")

    def _queue_up(self, user: str, ticket: str) -> None:
        line = self._database.waiting.setdefault(user, [])
        if all(one != ticket for one, _ in line):
            line.append((ticket, self.replica))

    def _leave_line(self, user: str, ticket: str) -> None:
        line = self._database.waiting.get(user, [])
        self._database.waiting[user] = [one for one in line if one[0] != ticket]
