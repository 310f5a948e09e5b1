"""ObserverGroup: the observers of one assistant; an error in one of them is logged, not raised."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from prolocutor.contracts.observer import Observer, Rated, RatingObserver, TurnRecord

log = logging.getLogger(__name__)


class ObserverGroup:
    """Passes events on to observers, in the order of `observers`, which may change at any time."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self.observers = list(observers)

    @property
    def has_learners(self) -> bool:
        """Whether an observer learns from ratings."""
        return any(isinstance(one, RatingObserver) for one in self.observers)

    def turn_ended(self, record: TurnRecord) -> None:
        """Pass on the record of a turn."""
        for observer in self.observers:
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
