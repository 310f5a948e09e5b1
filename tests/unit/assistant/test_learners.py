"""Observers that learn from ratings are told of all that they learn from, and have to forget."""

import logging
from typing import Any

import pytest

from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store import NewRecord, Store
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

    async def refresh(self) -> None:
        self.told.append("refresh")

    def take_lessons(self, record: TurnRecord) -> list[NewRecord]:
        return [NewRecord("taught", record.utt_id, b'"hi"')]

    async def forget(self, user: str | None) -> None:
        self.told.append(f"forget {user}")
        if self._fault is not None:
            raise self._fault


async def test_a_learner_is_told_of_ratings_and_deletions_and_adds_to_turns() -> None:
    pupil = Pupil()
    async with assistant(echo(), observers=[pupil]) as it:
        reply = await it.reply("hi", user="ann")
        await it.archive.rate(reply.utt_id, 1, "bob")
        (taught,) = await it.store.records_since("taught")
        await it.archive.delete("ann", "main")
        await it.archive.delete_older("2999-01-01")
        await it.archive.delete_person("ann")

    assert pupil.told == [
        "start",
        "refresh",
        "forget ann",
        "forget None",
        "forget ann",
    ]
    assert taught.user == "ann"
    assert taught.key == reply.utt_id


async def test_who_is_removed_is_told_nothing_more() -> None:
    pupil = Pupil()
    async with assistant(echo(), observers=[pupil]) as it:
        it.observers.remove(pupil)
        await it.archive.delete_person("ann")

    assert pupil.told == ["start"]


async def test_a_learner_that_cannot_forget_is_an_error_where_the_store_fails_alone(
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
