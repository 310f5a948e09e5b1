"""What replicas are taught by ratings: all learn it, and forget it with the person."""

from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from prolocutor.assistant import succession
from prolocutor.contracts.observer import Rated
from prolocutor.plugins.pairing.lessons import Lessons
from prolocutor.plugins.pairing.rating_learner import RatingLearner
from tests.model_store.shared_model_store import SharedModelStore
from tests.model_store.shared_state import SharedModel
from tests.unit.assistant.talks import assistant
from tests.unit.assistant.test_replicas import until


class Pupil:
    """Stands for a `RatingLearner` without hints."""

    takes_hints = False
    file: Path | None = None

    def __init__(self) -> None:
        self.lessons: list[Any] = []

    def turn_ended(self, _: object) -> None:
        """Learn from ratings alone."""

    def reply_rated(self, rated: Rated) -> None:
        self.lessons.append(rated.rating)

    def taught(self) -> list[Any]:
        return []

    def person_deleted(self, _: str) -> None:
        self.lessons.clear()


async def test_what_is_learned_at_one_replica_is_learned_and_forgotten_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(succession, "FEED_POLL", 0.02)
    database, pupils = SharedModel(), [Pupil(), Pupil(), Pupil()]
    taught = [Lessons(cast(RatingLearner, one)) for one in pupils]
    made = [partial(assistant, store=SharedModelStore(database), observers=[one]) for one in taught]
    async with made[0]() as one, made[1]():
        reply = await one.reply("hi", user="ann")
        for rating in (1, -1):
            await one.archive.rate(reply.utt_id, rating, "ann")
        await until(lambda: pupils[1].lessons == [1, -1])
        async with made[2]():
            assert pupils[2].lessons == [1, -1]  # it learns what was taught before it came
            await one.archive.delete_person("ann")
            await until(lambda: not pupils[2].lessons)
            await until(lambda: not pupils[1].lessons)

    assert pupils[0].lessons == []
    assert [one for one in (await all_records(database)).values() if b"ann" in one] == []


async def all_records(database: SharedModel) -> dict[str, bytes]:
    store = SharedModelStore(database)
    await store.open()
    return await store.records("", "lesson")
