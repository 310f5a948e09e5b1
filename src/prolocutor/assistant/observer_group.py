"""ObserverGroup: the observers of an assistant; their errors are logged, not raised."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from prolocutor.contracts.observer import (
    BreakerObserver,
    Following,
    Joining,
    Learner,
    ObservedAssistant,
    Observer,
    Outcome,
    TurnBegun,
    TurnObserver,
    TurnRecord,
)
from prolocutor.contracts.store import NewRecord, OpenedTurn, Store
from prolocutor.errors import StoreError
from prolocutor.pipeline.ledger import LedgerEntry

log = logging.getLogger(__name__)


class ObserverGroup:
    """Passes events on to observers, in the order in which they were added."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self.observers: list[TurnObserver] = []
        """The observers that get the records of turns."""
        self.followers: list[Following] = []
        """The observers that follow turns while they run."""
        self.learners: list[Learner] = []
        """The observers that learn from ratings."""
        self._of_breakers: list[BreakerObserver] = []
        self._joining: list[Joining] = []
        self._kinds: tuple[tuple[type, list[Any]], ...] = (
            (TurnObserver, self.observers),
            (Following, self.followers),
            (Learner, self.learners),
            (BreakerObserver, self._of_breakers),
            (Joining, self._joining),
        )
        self.add(*observers)

    def add(self, *observers: Observer) -> None:
        """Pass events on to an observer from now on."""
        for one in observers:
            for kind, kept in self._kinds:
                if isinstance(one, kind):
                    kept.append(one)

    def join(self, name: str, connectors: Mapping[tuple[str, str], str | None]) -> None:
        """Introduce the assistant to the observers that want to know it."""
        place = ObservedAssistant(name=name, connectors=connectors, follow=self.followers.append)
        for one in self._joining:
            _run_guarded(partial(one.joined, place))

    def remove(self, observer: Observer) -> None:
        """Stop passing events on to an observer."""
        for _, kept in self._kinds:
            if observer in kept:
                kept.remove(observer)

    @contextmanager
    def following(self, follower: Following) -> Iterator[None]:
        """Let an observer follow the turns during the block."""
        self.add(follower)
        try:
            yield
        finally:
            self.remove(follower)

    def turn_begun(self, begun: TurnBegun) -> None:
        """Pass on the beginning of a turn."""
        for follower in self.followers:
            _run_guarded(partial(follower.turn_begun, begun))

    def service_asked(self, turn_id: str, service: str, stage: str) -> None:
        """Pass on the call of a service."""
        for follower in self.followers:
            _run_guarded(partial(follower.service_asked, turn_id, service, stage))

    def service_settled(
        self, turn_id: str, service: str, stage: str, outcome: Outcome, seconds: float
    ) -> None:
        """Pass on the outcome of a service."""
        for follower in self.followers:
            settled = partial(follower.service_settled, turn_id, service, stage, outcome, seconds)
            _run_guarded(settled)

    def dialog_waits(self, dialog_id: str) -> None:
        """Pass on a dialog's call for an operator."""
        for follower in self.followers:
            _run_guarded(partial(follower.dialog_waits, dialog_id))

    def turn_ended(self, record: TurnRecord) -> None:
        """Pass on the record of a turn."""
        for observer in tuple(self.observers):
            _run_guarded(partial(observer.turn_ended, record))

    def breaker_changed(self, service: str, state: str) -> None:
        """Pass on the new state of a service's breaker."""
        for observer in self._of_breakers:
            _run_guarded(partial(observer.breaker_changed, service, state))

    async def start_learners(self, store: Store) -> None:
        """Start the learners; the store is open."""
        await self._teach(lambda one: one.start(store))

    async def refresh_learners(self) -> None:
        """Let the learners learn from new rows, of this replica and of others."""
        await self._teach(lambda one: one.refresh())

    async def forget(self, user: str | None) -> None:
        """Let the learners forget deleted rows, of a person or of all."""
        await self._teach(lambda one: one.forget(user))

    def collect_lessons(self, record: TurnRecord) -> list[NewRecord]:
        """Return the lessons of a turn, to be stored with it; the last of each kind and key."""
        lessons: dict[tuple[str, str], NewRecord] = {}

        def add(learner: Learner) -> None:
            lessons.update({(one.kind, one.key): one for one in learner.take_lessons(record)})

        for learner in self.learners:
            _run_guarded(partial(add, learner))
        return [*lessons.values()]

    async def _teach(self, teach: Callable[[Learner], Awaitable[None]]) -> None:
        for learner in tuple(self.learners):
            try:
                await teach(learner)
            except StoreError:
                raise
            except Exception:
                log.exception("an observer raised an exception, which is ignored")


def _run_guarded(pass_on: Callable[[], None]) -> None:
    try:
        pass_on()
    except Exception:
        log.exception("an observer raised an exception, which is ignored")


class FollowedTurn:
    """The `LedgerWatch` of a followed turn."""

    def __init__(self, opened: OpenedTurn, observers: ObserverGroup) -> None:
        opening = opened.opening
        self._turn_id = opening.turn_id
        self._observers = observers
        observers.turn_begun(
            TurnBegun(
                turn_id=opening.turn_id,
                dialog_id=opened.dialog_id,
                user=opening.user,
                channel=opening.channel_type,
                text=opening.text,
                at=opening.started,
            )
        )

    def note_asked(self, entry: LedgerEntry) -> None:
        """Pass on that a service is asked."""
        step = entry.step
        self._observers.service_asked(self._turn_id, step.name, step.stage_name)

    def note_settled(self, entry: LedgerEntry) -> None:
        """Pass on the outcome of a service, if it was called."""
        if entry.started is None or entry.outcome is None:
            return
        step, seconds = entry.step, (entry.ended or entry.started) - entry.started
        self._observers.service_settled(
            self._turn_id, step.name, step.stage_name, entry.outcome, seconds
        )
