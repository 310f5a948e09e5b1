"""Observers that learn from ratings are told of all that they learn from, and have to forget."""

import logging
from collections.abc import Collection
from typing import Any

import pytest

from prolocutor.contracts.observer import Rated, TurnRecord
from prolocutor.contracts.store import Store
from prolocutor.errors import StoreError
from tests.unit.assistant.talks import assistant, echo


class Pupil:
    """Notes what it is told; `fault` is raised where somebody is deleted."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.told: list[Any] = []
        self._fault = fault

    def turn_ended(self, record: TurnRecord) -> None: ...

    def breaker_changed(self, service: str, state: str) -> None: ...

    async def start(self, store: Store) -> None:
        self.told.append("start")

    async def refresh(self) -> None: ...

    async def reply_rated(self, rated: Rated) -> None:
        self.told.append((rated.user, rated.question, rated.agent, rated.rating))

    async def person_deleted(self, user: str) -> None:
        self.told.append(f"{user} is deleted")
        if self._fault is not None:
            raise self._fault

    async def replies_deleted(self, user: str | None = None) -> None:
        self.told.append(f"replies to {user} are deleted")

    async def questions_labelled(self, texts: Collection[str]) -> None:
        self.told.append(list(texts))


async def test_a_learner_is_told_of_ratings_and_of_what_it_has_to_forget() -> None:
    pupil = Pupil()
    async with assistant(echo(), observers=[pupil]) as it:
        reply = await it.reply("hi", user="ann")
        await it.archive.rate(reply.utt_id, 1, "bob")
        await it.observers.questions_labelled(["hi"])
        await it.archive.delete("ann", "main")
        await it.archive.delete_older("2999-01-01")
        await it.archive.delete_person("ann")

    assert pupil.told == [
        "start",
        ("ann", "hi", "echo", 1),
        ["hi"],
        "replies to ann are deleted",
        "replies to None are deleted",
        "ann is deleted",
    ]


async def test_who_is_removed_is_told_nothing_more() -> None:
    pupil = Pupil()
    async with assistant(echo(), observers=[pupil]) as it:
        it.observers.remove(pupil)
        await it.archive.delete_person("ann")

    assert pupil.told == ["start"]


async def test_what_a_learner_cannot_forget_is_an_error_where_the_store_fails_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with assistant(echo(), observers=[Pupil(StoreError("away"))]) as it:
        with pytest.raises(StoreError, match="away"):
            await it.archive.delete_person("ann")
    async with assistant(echo(), observers=[Pupil(ValueError("oops"))]) as it:
        await it.archive.delete_person("ann")

    assert [one.levelno for one in caplog.records if "an observer raised" in one.message] == [
        logging.ERROR
    ]
