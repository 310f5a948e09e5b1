"""Observers: several as one; what one of them does wrong stays its own."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from prolocutor.contracts.observer import Observer, TurnRecord

log = logging.getLogger(__name__)


class Observers:
    """Several observers as one. One that raises is logged, and the others and the turn go on."""

    def __init__(self, observers: Iterable[Observer] = ()) -> None:
        self._all = list(observers)

    def __len__(self) -> int:
        """The number of observers."""
        return len(self._all)

    def __iter__(self) -> Iterator[Observer]:
        """Return the observers in their order."""
        return iter(self._all)

    def append(self, observer: Observer) -> None:
        """Add one more."""
        self._all.append(observer)

    def turn_ended(self, record: TurnRecord) -> None:
        """Show each of them a turn."""
        for observer in self._all:
            try:
                observer.turn_ended(record)
            except Exception:
                log.exception("%s failed at turn %s", type(observer).__name__, record.turn_id)

    def breaker_changed(self, service: str, state: str) -> None:
        """Tell each of them of a breaker."""
        for observer in self._all:
            try:
                observer.breaker_changed(service, state)
            except Exception:
                log.exception("%s failed at the breaker of %s", type(observer).__name__, service)
