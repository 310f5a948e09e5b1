"""SharedModel: a database in memory for several stores, with a clock that is moved by hand."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from prolocutor.plugins.postgresql.replicas.shared_store import ReplicaStatus
from tests.model_store.state import ModelState


class SharedModel:
    """What the replicas of one database share."""

    def __init__(self) -> None:
        self.now = time.time()
        self.state = ModelState()
        self.away = False
        """Whether the database cannot be reached; then every call raises `StoreError`."""
        self.hints = True
        """Whether hints arrive at other replicas."""
        self.replicas: list[ModelReplica] = []
        self.taken: dict[str, PersonLease] = {}
        """Whose person is busy: an open turn, or a hold."""
        self.waiting: dict[str, list[tuple[str, ModelReplica]]] = {}
        """Tickets by person, in order."""
        self.claims: dict[tuple[str, str, str], ModelReplica] = {}
        self.stored: dict[str, int] = {}
        """The attempt that stored a turn, by the turn's id."""
        self.empty_at: dict[str, tuple[float, float]] = {}
        """When a counter of a quota is empty again, and its period, by name."""
        self.open_at: dict[str, dict[ModelReplica, int]] = {}
        """How many of a name are open, by replica."""
        self.listeners: dict[object, Callable[[str], None]] = {}
        """What hears the hints, by the store that listens."""

    def first_in_line(self, user: str) -> str | None:
        """Return the oldest ticket of a living replica."""
        line = self.waiting.get(user, [])
        alive = (one for one, owner in line if not owner.dead and owner.alive_until >= self.now)
        return next(alive, None)

    def status(self) -> list[ReplicaStatus]:
        """Return all replicas."""
        open_turns = Counter(one.replica for one in self.taken.values() if one.attempt)
        waiting = Counter(owner for line in self.waiting.values() for _, owner in line)
        return [
            ReplicaStatus(
                number=replica.number,
                url=replica.url,
                joined=replica.joined,
                dead=replica.dead,
                left=replica.alive_until - self.now,
                open_turns=open_turns[replica],
                waiting=waiting[replica],
                takeovers=replica.takeovers,
            )
            for replica in self.replicas
        ]


class ModelReplica:
    """One replica: its number, and until when it lives."""

    __slots__ = ("alive_until", "dead", "joined", "lease", "number", "takeovers", "url")

    def __init__(self, number: int, lease: float, url: str, now: float) -> None:
        self.number, self.lease, self.url, self.joined = number, lease, url, now
        self.alive_until = now + lease
        self.dead = False
        self.takeovers = 0


class PersonLease:
    """A person whom a replica has, for an open turn (`attempt` above 0) or a hold."""

    __slots__ = ("attempt", "id", "replica")

    def __init__(self, id_: str, replica: ModelReplica, attempt: int = 0) -> None:
        self.id, self.replica, self.attempt = id_, replica, attempt
