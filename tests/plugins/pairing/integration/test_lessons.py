"""What thumbs and labels in a store teach a router, and when it is forgotten."""

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.operator_desk import LabelledTurn, OperatorLabel, OperatorLabels
from prolocutor.cli.owner import DirectChanges
from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.pairing import Card, UserQuestion
from prolocutor.contracts.store import Store
from prolocutor.dialog.dialog import thumb
from prolocutor.plan.pipeline import Service
from prolocutor.plugins.pairing import lessons
from prolocutor.plugins.pairing.lessons import AT_ONCE, CHECK, Lessons
from prolocutor.plugins.pairing.model_reloading import ReloadedModel, VersionedMethod
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.plugins.postgresql.replicas import succession
from prolocutor.stores.store_catalog import open_store
from prolocutor.testing.fake_service import FakeService
from prolocutor.testing.sample_turns import a_closing, open_new_turn
from tests.unit.assistant.talks import assistant
from tests.waiting import until

NAMES = ["red", "green", "blue"]
QUESTION = "where is the old key?"


class School:
    """A router that learns from a store, and the turns of people."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.now = 1e9
        self.lessons = Lessons(NAMES, clock=lambda: self.now)

        def load() -> VersionedMethod[Any]:
            router = LearnedRouter([Card(name=name) for name in NAMES])
            router.learn_all(self.lessons.standing())
            return VersionedMethod(router, "learned")

        self.lessons.pupil = ReloadedModel(folder / "model", load)

    async def says(self, text: str, agent: str = "red", user: str = "ann") -> str:
        """Let a person say something to which an agent replies; return the reply's id."""
        self.now += 10
        opened = await open_new_turn(self.store, user, text)
        record = TurnRecord(
            turn_id=opened.opening.turn_id,
            dialog_id=opened.dialog_id,
            user=user,
            channel="test",
            started=self.now,
            seconds=0.1,
            attempt=1,
            text=text,
            response="Here.",
            active_skill=agent,
            confidence=0.5,
            by="selector",
            chosen=[f"{agent}.0"],
            asked=[agent],
            services=[],
            hypotheses=[],
            faults=[],
            utt_id=opened.opening.bot_utt_id,
        )
        await self.store.close_turn(a_closing(opened, skill=agent))
        return record.utt_id

    async def rates(self, *ratings: Any, agent: str = "red", question: str = QUESTION) -> None:
        """Let bob ask and rate the reply, once or more."""
        utt_id = await self.says(question, agent, "bob")
        for rating in ratings:
            await self.store.rate_utterance(utt_id, rating, "bob", "")
        await self.lessons.refresh()

    def learned(self) -> list[tuple[str, float]]:
        """Return what the router in use has learned: person and weight."""
        found = self.lessons.pupil.latest.method.lessons
        return [(one.user, one.weight) for one in found]

    def best(self) -> str:
        found: str = self.lessons.pupil.latest.method.route(UserQuestion(text=QUESTION))[0].agent
        return found


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    made = open_store("memory:")
    await made.open()
    yield made
    await made.aclose()


async def school_of(store: Store, folder: Path) -> School:
    school = School(store, folder)
    await school.lessons.start(store)
    return school


@pytest.fixture
async def school(store: Store, tmp_path: Path) -> School:
    return await school_of(store, tmp_path)


@pytest.mark.parametrize(
    ("rating", "right"),
    [
        (True, True), (1, True), ("up", True), (" Good ", True), ("👍", True),
        (False, False), (0, False), (-1, False), ("down", False), ("-1", False),
        (4, None), (0.5, None), ("so so", None), (None, None), ([1], None),
    ],
)  # fmt: skip
def test_a_thumb_is_read(rating: Any, right: bool | None) -> None:
    assert thumb(rating) is right


@pytest.mark.parametrize(
    ("ratings", "agent", "expected"),
    [
        ([1], "red", [({"red": 0.9}, 0.5)]),
        (["down"], "red", [({"red": 0.0, "green": 0.25, "blue": 0.25}, 0.25)]),
        ([-1, 1], "red", [({"red": 0.9}, 0.5)]),
        ([1, 5], "red", [({"red": 0.9}, 0.5)]),
        ([1, None], "red", []),
        ([5, 3], "red", []),
        ([1], "guide", []),
    ],
    ids=["up", "down", "the last one", "no stars", "taken back", "stars alone", "another's"],
)
async def test_the_last_thumb_on_a_reply_teaches(
    school: School, ratings: list[Any], agent: str, expected: list[Any]
) -> None:
    await school.rates(*ratings, agent=agent)

    taught = school.lessons.pupil.latest.method.lessons
    assert [(one.agents, one.weight) for one in taught] == expected
    assert list(taught) == school.lessons.lessons()


async def test_a_thumb_that_is_turned_round_is_learned_anew(school: School) -> None:
    await school.rates(1)
    (reply,) = await school.store.ratings_since()
    await school.store.rate_utterance(reply.utt_id, -1, "bob", "")
    await school.lessons.refresh()

    assert school.learned() == [("bob", 0.25)]
    assert school.best() != "red"


async def test_many_lessons_are_learned_together(school: School) -> None:
    for number in range(AT_ONCE + 1):
        utt_id = await school.says(f"question {number}")
        await school.store.rate_utterance(utt_id, 1, "ann", "")
    await school.lessons.refresh()

    assert len(school.learned()) == AT_ONCE + 1


async def test_an_operators_label_counts_in_full_until_it_is_taken_back(school: School) -> None:
    utt_id = await school.says(QUESTION)
    turns = [LabelledTurn(utt_id=utt_id, user="ann", text=QUESTION)]
    label = OperatorLabel(id="1", at=0.0, by="eve", agents=["blue"], turns=turns)
    await OperatorLabels(school.store).add(label)
    await school.lessons.refresh()
    learned, best = school.learned(), school.best()
    await OperatorLabels(school.store).delete("1")
    await school.lessons.refresh()

    assert learned == [("ann", 1.0)]
    assert best == "blue"
    assert school.lessons.lessons() == []
    assert school.learned() == []


async def test_what_a_person_taught_goes_with_them(school: School) -> None:
    await school.rates(1)
    utt_id = await school.says("how high is the tower", user="cid")
    await school.store.rate_utterance(utt_id, -1, "cid", "")
    await school.lessons.refresh()

    await school.store.delete_person("bob")
    await school.lessons.forget("bob")

    assert school.learned() == [("cid", 0.25)]


async def test_what_is_taught_at_one_replica_is_learned_and_forgotten_at_others(
    store: Store, tmp_path: Path
) -> None:
    one, other = await school_of(store, tmp_path), await school_of(store, tmp_path)
    await one.rates(1)
    utt_id = await one.says("how high is the tower", user="cid")
    await store.rate_utterance(utt_id, -1, "cid", "")
    await other.lessons.refresh()
    assert sorted(other.learned()) == [("bob", 0.5), ("cid", 0.25)]

    await DirectChanges(store).delete_person("bob")
    other.now += CHECK
    await other.lessons.refresh()
    assert other.learned() == [("cid", 0.25)]


async def test_two_replicas_on_postgresql_follow_each_other(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(succession, "FEED_POLL", 0.02)
    monkeypatch.setattr(lessons, "CHECK", 0.0)
    stores = [open_store(database) for _ in range(2)]
    one, other = (School(store, tmp_path) for store in stores)
    skill = Service("red", FakeService(lambda _: {"text": "There.", "confidence": 0.9}))
    async with (
        assistant(skill, store=stores[0], observers=[one.lessons]) as here,
        assistant(skill, store=stores[1], observers=[other.lessons]) as there,
    ):
        reply = await here.reply(QUESTION, user="ann")
        await here.archive.rate(reply.utt_id, 1, "ann")
        await until(lambda: other.learned() == [("ann", 0.5)])
        reply = await there.reply("how high is the tower?", user="bob")
        await there.archive.rate(reply.utt_id, -1, "bob")
        await until(lambda: len(one.learned()) == 2)
        await there.archive.delete("ann", "main")
        await until(lambda: [one for one, *_ in one.learned()] == ["bob"])
        assert other.learned() == one.learned()
        await here.archive.delete_person("bob")
        await until(lambda: other.learned() == [])


def a_line(text: str, utt_id: str = "", user: str = "ann") -> str:
    return json.dumps({"text": text, "agents": {"red": 0.9}, "user": user, "utt_id": utt_id})


async def test_a_folder_that_cannot_be_written_is_said_and_loses_nothing(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    (tmp_path / "file").write_text("")
    school = await school_of(store, tmp_path / "file")
    await school.rates(1)

    assert school.learned() == [("bob", 0.5)]
    assert "no model can be written: Not a directory" in caplog.text
    assert school.lessons.pupil.problem in caplog.text
    assert (await school_of(store, tmp_path)).lessons.pupil.problem == ""
    assert (tmp_path / "model").is_dir()


def test_many_labels_are_learned_as_one_by_one(tmp_path: Path) -> None:
    labels = [RouterLabel(f"word{n} of {n % 3}", {NAMES[n % 3]: 1.0}) for n in range(60)]
    router = LearnedRouter([Card(name=name) for name in NAMES])
    router.learn_all(labels)
    assert router.lessons == labels
