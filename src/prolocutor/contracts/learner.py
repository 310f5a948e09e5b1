"""Learner: an observer that learns from what people say of replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from prolocutor.contracts.observer import Observer, TurnRecord
from prolocutor.contracts.store import NewRecord, Store


@runtime_checkable
class Learner(Observer, Protocol):
    """An observer that learns from rows of the store: ratings, labels, and what it adds to turns.

    The assistant awaits it: it raises `StoreError` alone.
    """

    async def start(self, store: Store) -> None:
        """Learn what the store has; it is open. Called again where that failed."""

    async def refresh(self) -> None:
        """Learn what the store has more, of this replica and of others."""

    def lessons_of(self, record: TurnRecord) -> Sequence[NewRecord]:
        """Return what a turn teaches, to be stored with it; `turn_ended` says that it is."""

    async def forget(self, user: str | None) -> None:
        """Forget what is not in the store any more: this person's, or of anybody if None."""
