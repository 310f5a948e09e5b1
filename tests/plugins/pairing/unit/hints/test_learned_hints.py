"""What hints teach beside thumbs, what replaces them, and when they are forgotten."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prolocutor.contracts.observer import Rated, TurnRecord
from prolocutor.contracts.pairing import Card, UserQuestion
from prolocutor.durations import DAY
from prolocutor.plugins.pairing.hints.hint_lessons import standing
from prolocutor.plugins.pairing.hints.turn_hints import HintSettings
from prolocutor.plugins.pairing.model_reloading import ReloadedModel, VersionedMethod
from prolocutor.plugins.pairing.question_agent.label_journal import LabelJournal
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter
from prolocutor.plugins.pairing.rating_learner import RatingLearner

NAMES = ["red", "green", "blue"]
QUESTION = "where is the old key?"


class Clock:
    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


class School:
    """A router that learns, its journal, and the turns of people."""

    def __init__(self, folder: Path, hints: HintSettings | None = HintSettings()) -> None:  # noqa: B008
        self.journal = LabelJournal(folder / "lessons")
        self.clock = Clock()
        self.numbers: Iterator[int] = iter(range(1, 10_000))

        def load() -> VersionedMethod[Any]:
            router = LearnedRouter([Card(name=name) for name in NAMES])
            router.learn_all(standing(self.journal.read(), hints, self.clock()))
            return VersionedMethod(router, "learned")

        self.kept: ReloadedModel[Any] = ReloadedModel(folder, load)
        self.learner = RatingLearner(self.kept, self.journal, NAMES, hints=hints, clock=self.clock)

    def says(self, text: str, agent: str = "red", user: str = "ann") -> str:
        """Let a person say something to which an agent replies; return the reply's id."""
        utt_id = f"u{next(self.numbers)}"
        self.clock.now += 10
        record = TurnRecord(
            turn_id=utt_id,
            dialog_id=f"of {user}",
            user=user,
            channel="test",
            started=self.clock.now,
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
            utt_id=utt_id,
        )
        self.learner.turn_ended(record)
        return utt_id

    def rates(self, rating: int, agent: str, question: str = QUESTION) -> None:
        rated = Rated(utt_id="r", user="bob", question=question, agent=agent, rating=rating)
        self.learner.reply_rated(rated)

    def learned(self) -> list[tuple[str, str, float]]:
        """Return what the router in use has learned: person, kind ("" for a thumb), weight."""
        lessons = self.kept.latest.method.lessons
        return [(one.user, one.hint.kind if one.hint else "", one.weight) for one in lessons]

    def best(self) -> str:
        found: str = self.kept.latest.method.route(UserQuestion(text=QUESTION))[0].agent
        return found


@pytest.fixture
def school(tmp_path: Path) -> School:
    return School(tmp_path)


def test_a_hint_is_learned_at_once_with_its_small_weight_and_kept(school: School) -> None:
    utt_id = school.says(QUESTION)
    school.says("no, that is wrong")

    assert school.learned() == [("ann", "rejected", HintSettings().rejected)]
    (hint,) = school.learner.hints()
    assert hint.hint is not None
    assert (hint.text, hint.hint.agent, hint.hint.utt_id) == (QUESTION, "red", utt_id)
    assert school.best() != "red"
    assert school.learner.lessons() == []


def test_hints_are_off_unless_they_are_switched_on(tmp_path: Path) -> None:
    off = School(tmp_path, None)
    off.says(QUESTION)
    off.says("no, that is wrong")
    assert (off.learned(), off.journal.read(), off.learner.hints()) == ([], [], [])

    on = School(tmp_path)
    on.says(QUESTION)
    on.says("thanks")
    assert [one for _, one, _ in on.learned()] == ["thanked"]
    assert School(tmp_path).learned() == on.learned()
    assert School(tmp_path, None).learned() == []


def test_a_thumb_replaces_the_hints_of_its_question_and_keeps_others_away(school: School) -> None:
    for user in ("ann", "cid", "dan"):
        school.says(QUESTION, "red", user)
        school.says("thanks", "red", user)
    assert school.best() == "red"

    school.rates(1, "blue")
    assert school.learned() == [("bob", "", 0.5)]
    assert school.best() == "blue"
    school.says("Where is the OLD key", "red", "eve")
    school.says("thanks", "red", "eve")
    assert school.learned() == [("bob", "", 0.5)]
    assert school.learner.hints() == []


def test_an_operators_label_replaces_hints_too(school: School) -> None:
    school.says(QUESTION)
    school.says("thanks")
    school.learner.questions_labelled(["Where is the old key"])
    assert (school.learned(), school.journal.read()) == ([], [])


def test_one_person_says_a_thing_once_and_all_together_no_more_than_a_thumb(
    school: School,
) -> None:
    for _ in range(5):
        school.says(QUESTION)
        school.says("wrong")
    assert len(school.learned()) == 1

    for number in range(20):
        school.says(QUESTION, "red", f"user {number}")
        school.says("wrong", "red", f"user {number}")
    assert sum(weight for *_, weight in school.learned()) <= 0.5


def test_what_a_person_hinted_goes_with_them_and_their_turns_as_well(school: School) -> None:
    school.says(QUESTION)
    school.says("wrong")
    school.says("what is the colour of the sky")
    school.says(QUESTION, "red", "cid")
    school.says("wrong", "red", "cid")

    school.learner.person_deleted("ann")
    assert school.learned() == [("cid", "rejected", HintSettings().rejected)]
    school.says("thanks")
    assert school.learned() == [("cid", "rejected", HintSettings().rejected)]


def test_what_was_learned_of_a_reply_goes_with_the_reply(school: School) -> None:
    utt_id = school.says(QUESTION)
    school.says("wrong")
    school.rates(1, "blue", "what is the colour of the sky")
    school.learner.replies_deleted([utt_id, "another"])
    assert school.learned() == [("bob", "", 0.5)]


def test_old_hints_are_forgotten_and_the_latest_are_kept(tmp_path: Path) -> None:
    few = School(tmp_path, HintSettings(keep=30 * DAY, most=10))
    for number in range(25):
        few.says(f"what is the number of room {number}", "red", f"user {number}")
        few.says("thanks", "red", f"user {number}")
    users = [user for user, *_ in few.learned()]
    assert users[-1] == "user 24"
    assert 5 <= len(users) <= 10

    few.clock.now += 31 * DAY
    few.says(QUESTION)
    few.says("thanks")
    assert [user for user, *_ in few.learned()] == ["ann"]
    assert len(few.journal.read()) == 1
