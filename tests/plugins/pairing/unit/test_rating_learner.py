"""What a thumb on a reply teaches."""

import logging
from pathlib import Path
from typing import Any

import pytest

from prolocutor.contracts.observer import Rated
from prolocutor.contracts.pairing import Card, UserQuestion
from prolocutor.dialog.thumbs import thumb
from prolocutor.plugins.pairing.model_reloading import ReloadedModel, VersionedMethod
from prolocutor.plugins.pairing.question_agent.label_journal import LabelJournal
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.plugins.pairing.rating_learner import RatingLearner

NAMES = ["red", "green", "blue"]


def taught(
    folder: Path, *ratings: Any, agent: str = "red"
) -> tuple[LearnedRouter, list[RouterLabel]]:
    """Return the router after these ratings of one reply, and what is kept of them."""
    router = LearnedRouter([Card(name=name) for name in NAMES])
    journal = LabelJournal(folder / "lessons")
    kept: ReloadedModel[Any] = ReloadedModel(folder, lambda: VersionedMethod(router, "learned"))
    teaching = RatingLearner(kept, journal, NAMES)
    for rating in ratings:
        teaching.reply_rated(Rated(utt_id="1", question="where is it?", agent=agent, rating=rating))
    return router, journal.read()


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


def test_thumbs_up_teach_who_is_right_softly(tmp_path: Path) -> None:
    router, lessons = taught(tmp_path, 1)

    assert lessons == [RouterLabel("where is it?", {"red": 0.9}, 0.5, utt_id="1")]
    assert router.route(UserQuestion(text="where is it?"))[0].agent == "red"


def test_thumbs_down_teach_who_is_wrong_and_that_others_may_be_right(tmp_path: Path) -> None:
    router, lessons = taught(tmp_path, "down")

    shares = {"red": 0.0, "green": 0.25, "blue": 0.25}
    assert lessons == [RouterLabel("where is it?", shares, 0.25, utt_id="1")]
    assert router.route(UserQuestion(text="where is it?"))[-1].agent == "red"


def test_stars_and_agents_that_are_not_there_teach_nothing(tmp_path: Path) -> None:
    assert taught(tmp_path, 5, 3)[1] == []
    assert taught(tmp_path, 1, agent="guide")[1] == []


def test_a_label_that_cannot_be_kept_does_not_count_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    router = LearnedRouter([Card(name=name) for name in NAMES])
    kept: ReloadedModel[Any] = ReloadedModel(tmp_path, lambda: VersionedMethod(router, "learned"))
    teaching = RatingLearner(kept, LabelJournal(tmp_path / "no" / "lessons"), NAMES)

    teaching.reply_rated(Rated(utt_id="1", question="where?", agent="red", rating=1))

    assert list(router.lessons) == []
    assert "a rating of red taught nothing" in caplog.text


def test_what_a_person_taught_goes_when_they_are_deleted(tmp_path: Path) -> None:
    journal = LabelJournal(tmp_path / "lessons")

    def load() -> VersionedMethod[Any]:
        router = LearnedRouter([Card(name=name) for name in NAMES])
        router.learn_all(journal.read())
        return VersionedMethod(router, "learned")

    kept: ReloadedModel[Any] = ReloadedModel(tmp_path, load)
    teaching = RatingLearner(kept, journal, NAMES)
    for user, question in [("ann", "where is it?"), ("bob", "how much is it?")]:
        rated = Rated(utt_id="1", user=user, question=question, agent="red", rating=1)
        teaching.reply_rated(rated)

    teaching.person_deleted("ann")
    teaching.person_deleted("nobody")

    assert [lesson.text for lesson in kept.latest.method.lessons] == ["how much is it?"]
    assert [lesson.user for lesson in journal.read()] == ["bob"]
