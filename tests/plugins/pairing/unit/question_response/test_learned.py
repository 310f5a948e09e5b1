"""The learned ranker."""

from __future__ import annotations

import random
from functools import cache
from typing import Any, Final

import msgspec
import pytest

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, TrainingData, UserQuestion
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.pairing.model_files import load_model, save_model, training_card

WITHOUT: Final = "the extra learn is not installed"
learned_training = pytest.importorskip(
    "prolocutor.plugins.pairing.question_response.learned_training", reason=WITHOUT
)
ranking = pytest.importorskip(
    "prolocutor.plugins.pairing.question_response.learned", reason=WITHOUT
)

THINGS = "amber birch cedar daisy ember fern grape hazel iris jade kelp lilac maple nutmeg".split()
AGENTS = ("wise", "vague", "dumb")


def asked(number: int, dice: random.Random) -> LabelledQuestion:
    """Make a question that `wise` answers well, `vague` half the time, and `dumb` never."""
    first, second = dice.sample(THINGS, 2)
    knows = dice.random() < 0.5
    answers = {
        "wise": f"The weight of {first} and {second} is {dice.randint(2, 99)} grams.",
        "vague": f"{first} and {second}: {number} grams." if knows else "Which one do you mean?",
        "dumb": "Sorry, I did not get that.",
    }
    return LabelledQuestion(
        question=UserQuestion(text=f"how much weigh {first} and {second}"),
        agents={"wise": 0.8, "vague": 0.6 if knows else 0.0},
        gold=frozenset({"wise", "vague"} if knows else {"wise"}),
        answers=answers,
    )


@cache
def lessons() -> TrainingData:
    dice = random.Random(4)
    labelled = [asked(number, dice) for number in range(80)]
    return TrainingData(labelled=labelled, priors=[dict.fromkeys(AGENTS, 0.3)] * len(labelled))


@cache
def learned() -> Any:
    return learned_training.fit(lessons())


QUESTION = UserQuestion(text="how much weigh iris and jade")
ANSWERS = [
    AgentAnswer(agent="dumb", text="Sorry, I did not get that."),
    AgentAnswer(agent="vague", text="Which one do you mean?"),
    AgentAnswer(agent="wise", text="The weight of iris and jade is 12 grams."),
]


def test_what_sounds_right_goes_first() -> None:
    assert learned().rank(QUESTION, ANSWERS, {})[0].agent == "wise"


def test_a_new_agent_is_judged_by_its_answer() -> None:
    renamed = [msgspec.structs.replace(one, agent=f"new {one.agent}") for one in ANSWERS]
    assert learned().rank(QUESTION, renamed, {})[0].agent == "new wise"


def test_probabilities_are_calibrated_on_unseen_questions() -> None:
    ranked = learned().rank(QUESTION, ANSWERS, dict.fromkeys(AGENTS, 0.3))
    assert ranked[0].probability > 0.7
    assert ranked[-1].probability < 0.2


def test_the_reason_is_told_in_words() -> None:
    assert learned().rank(QUESTION, ANSWERS, {})[0].reason.startswith("for it: ")


def test_nothing_to_rank_is_no_error() -> None:
    assert learned().rank(QUESTION, [], {}) == []


def test_the_same_training_makes_the_same_model() -> None:
    again = learned_training.fit(lessons())
    card = training_card(80)
    first, second = learned().to_model(card), again.to_model(card)
    assert first.arrays.keys() == second.arrays.keys()
    assert all((first.arrays[name] == second.arrays[name]).all() for name in first.arrays)
    assert first.parts == second.parts


def test_a_model_ranks_as_what_it_was_made_of(tmp_path: object) -> None:
    save_model(f"{tmp_path}/model", learned().to_model(training_card(80)))
    again = ranking.LearnedRanker.of_model(load_model(f"{tmp_path}/model"))
    assert again.rank(QUESTION, ANSWERS, {}) == learned().rank(QUESTION, ANSWERS, {})


def test_a_model_of_other_features_is_refused() -> None:
    model = learned().to_model(training_card(80))
    other = msgspec.structs.replace(model, settings=model.settings | {"columns": ["length"]})
    with pytest.raises(ConfigError, match="train it again"):
        ranking.LearnedRanker.of_model(other)


def test_too_few_labels_are_refused_in_words() -> None:
    few = msgspec.structs.replace(lessons(), labelled=lessons().labelled[:9], priors=[])
    with pytest.raises(BadInput, match="9 questions have a right answer; 20 are needed"):
        learned_training.fit(few)


def test_questions_without_weight_teach_no_label() -> None:
    bare = [msgspec.structs.replace(one, weight=0.0) for one in lessons().labelled]
    with pytest.raises(BadInput, match="0 questions"):
        learned_training.fit(TrainingData(labelled=bare))


def test_questions_without_answers_do_no_harm() -> None:
    more = [
        *lessons().labelled,
        LabelledQuestion(question=UserQuestion(text="hi"), agents={"wise": 1.0}),
    ]
    priors = [*lessons().priors, {}]
    assert isinstance(
        learned_training.fit(TrainingData(labelled=more, priors=priors)), ranking.LearnedRanker
    )


def test_two_answers_of_one_agent_are_kept_apart() -> None:
    answers = [msgspec.structs.replace(one, agent="wise") for one in ANSWERS]

    ranked = learned().rank(QUESTION, answers, {})

    assert ranked[0].position == 2
    assert sorted(one.position for one in ranked) == [0, 1, 2]
