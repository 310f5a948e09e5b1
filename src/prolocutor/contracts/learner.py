"""Learner: an observer that learns from what people say of replies."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol, runtime_checkable

from prolocutor.contracts.observer import Observer, Rated
from prolocutor.contracts.store import Store


@runtime_checkable
class Learner(Observer, Protocol):
    """An observer that learns from what people say of replies, and can forget what it learned.

    The assistant awaits it: it raises `StoreError` alone.
    """

    async def start(self, store: Store) -> None:
        """Get ready; the store is open. Called again where that failed."""

    async def refresh(self) -> None:
        """Learn what was taught at other replicas, where some share the store."""

    async def reply_rated(self, rated: Rated) -> None:
        """Take note of one rating, which has been stored."""

    async def person_deleted(self, user: str) -> None:
        """Forget what this person said."""

    async def replies_deleted(self, user: str | None = None) -> None:
        """Forget what came of replies, of one person if one is named, that were deleted."""

    async def questions_labelled(self, texts: Collection[str]) -> None:
        """Forget what was guessed of questions that an operator has labelled."""
