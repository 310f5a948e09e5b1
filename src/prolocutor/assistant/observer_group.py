"""ObserverGroup: the observers of one assistant; an error in one of them is logged, not raised."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from prolocutor.contracts.observer import (
    Following,
    Observer,
    Outcome,
    Rated,
    RatingObserver,
    TurnBegun,
    TurnRecord,
)

log = logging.getLogger(__name__)


class ObserverGroup:
    """Passes events on to observers, in the order in which they were added."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self.observers: list[Observer] = []
        self.followers: list[Following] = []
        """The observers that follow turns while they run."""
        self.add(*observers)

    def add(self, *observers: Observer) -> None:
        """Pass on what happens from now on."""
        for one in observers:
            self.observers.append(one)
            if isinstance(one, Following):
                self.followers.append(one)

    def remove(self, observer: Observer) -> None:
        """Pass nothing more on to an observer."""
        self.observers.remove(observer)
        if observer in self.followers:
            self.followers.remove(observer)

    @contextmanager
    def following(self, follower: Following) -> Iterator[None]:
        """Let an observer follow the turns for as long as the block runs."""
        self.add(follower)
        try:
            yield
        finally:
            self.remove(follower)

    @property
    def has_learners(self) -> bool:
        """Whether an observer learns from ratings."""
        return any(isinstance(one, RatingObserver) for one in self.observers)

    def turn_begun(self, begun: TurnBegun) -> None:
        """Pass on that a turn has begun, to those who follow turns."""
        for follower in self.followers:
            _guarded(partial(follower.turn_begun, begun))

    def service_asked(self, turn_id: str, service: str, stage: str) -> None:
        """Pass on that a service is asked."""
        for follower in self.followers:
            _guarded(partial(follower.service_asked, turn_id, service, stage))

    def service_settled(
        self, turn_id: str, service: str, stage: str, outcome: Outcome, seconds: float
    ) -> None:
        """Pass on what became of a service that was asked."""
        for follower in self.followers:
            settled = partial(follower.service_settled, turn_id, service, stage, outcome, seconds)
            _guarded(settled)

    def dialog_waits(self, dialog_id: str) -> None:
        """Pass on that a person is wanted in a dialog."""
        for follower in self.followers:
            _guarded(partial(follower.dialog_waits, dialog_id))

    def turn_ended(self, record: TurnRecord) -> None:
        """Pass on the record of a turn."""
        for observer in tuple(self.observers):
            _guarded(partial(observer.turn_ended, record))

    def breaker_changed(self, service: str, state: str) -> None:
        """Pass on the new state of a service's breaker."""
        for observer in self.observers:
            _guarded(partial(observer.breaker_changed, service, state))

    def reply_rated(self, rated: Rated) -> None:
        """Pass on a rating, to the observers that learn from ratings."""
        for observer in self.observers:
            if isinstance(observer, RatingObserver):
                _guarded(partial(observer.reply_rated, rated))

    def person_deleted(self, user: str) -> None:
        """Pass on that a person was deleted, to the observers that learn from ratings."""
        for observer in self.observers:
            if isinstance(observer, RatingObserver):
                _guarded(partial(observer.person_deleted, user))


def _guarded(pass_on: Callable[[], None]) -> None:
    try:
        pass_on()
    except Exception:
        log.exception("an observer raised, which it must not")
