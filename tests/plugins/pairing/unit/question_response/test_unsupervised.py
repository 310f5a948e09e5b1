"""The ranker that needs no labels."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, TrainingData, UserQuestion
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.model_files import training_card
from prolocutor.plugins.pairing.question_response.unsupervised import UnsupervisedRanker, fit
from tests.plugins.pairing.unit.question_response.echo_pairs import ECHO_PAIRS

RANKER = UnsupervisedRanker()


def first(question: str, **texts: str) -> str:
    answers = [AgentAnswer(agent=agent, text=text) for agent, text in texts.items()]
    return UnsupervisedRanker().rank(UserQuestion(text=question), answers, {})[0].agent


def test_an_answer_about_the_question_goes_before_a_refusal() -> None:
    assert first("what is the capital of Peru", a="Sorry, what was that?", b="Lima") == "b"


def test_an_answer_of_the_kind_that_was_asked_for_goes_first() -> None:
    assert first("how many bones has a hand", a="Hands are useful", b="27 bones") == "b"


def test_an_empty_answer_goes_last() -> None:
    assert first("hello there", a="", b="Hello!") == "b"


def test_nobody_answered_is_no_error() -> None:
    assert UnsupervisedRanker().rank(UserQuestion(text="hello"), [], {}) == []


def test_what_an_agent_always_says_counts_less_and_is_still_ranked() -> None:
    canned = "I have many things to sell."
    asked = [
        LabelledQuestion(
            question=UserQuestion(text=f"question {n}"), agents={}, answers={"shop": canned}
        )
        for n in range(60)
    ]
    answers = [
        AgentAnswer(agent="shop", text=canned),
        AgentAnswer(agent="else", text="Bread and butter."),
    ]
    question = UserQuestion(text="what is for sale")
    before = {
        one.agent: one.probability for one in UnsupervisedRanker().rank(question, answers, {})
    }
    after = {
        one.agent: one.probability
        for one in fit(TrainingData(labelled=asked)).rank(question, answers, {})
    }
    assert 0 < after["shop"] < before["shop"]


def test_two_answers_of_one_agent_are_told_apart_by_position() -> None:
    answers = [
        AgentAnswer(agent="a", text="Sorry?"),
        AgentAnswer(agent="a", text="Lima is the capital"),
    ]
    ranked = UnsupervisedRanker().rank(UserQuestion(text="capital of Peru"), answers, {})
    assert [(one.agent, one.position) for one in ranked] == [("a", 1), ("a", 0)]


def test_every_pairing_says_why() -> None:
    answers = [AgentAnswer(agent="a", text="Lima is the capital of Peru")]
    assert (
        "asked"
        in UnsupervisedRanker().rank(UserQuestion(text="capital of Peru"), answers, {})[0].reason
    )


def test_labels_make_no_difference() -> None:
    plain = [
        LabelledQuestion(
            question=UserQuestion(text=f"n {n}"), agents={}, answers={"a": f"say {n}", "b": "no"}
        )
        for n in range(5)
    ]
    told = [msgspec.structs.replace(one, agents={"b": 1.0}, gold=frozenset("b")) for one in plain]
    answers = [AgentAnswer(agent="a", text="say 1"), AgentAnswer(agent="b", text="no")]
    question = UserQuestion(text="say")
    assert fit(TrainingData(labelled=told)).rank(question, answers, {}) == fit(
        TrainingData(labelled=plain)
    ).rank(question, answers, {})


def test_a_model_of_it_ranks_the_same() -> None:
    asked = [
        LabelledQuestion(
            question=UserQuestion(text="hi"), agents={}, answers={"a": "hello", "b": "no"}
        )
    ]
    made = fit(TrainingData(labelled=asked))
    again = UnsupervisedRanker.of_model(made.to_model(training_card(1)))
    answers = [AgentAnswer(agent="a", text="hello"), AgentAnswer(agent="b", text="nothing")]
    question = UserQuestion(text="hello")
    assert again.rank(question, answers, {}) == made.rank(question, answers, {})


def test_a_model_without_a_log_is_refused() -> None:
    model = fit(TrainingData()).to_model(training_card(0))
    with pytest.raises(ConfigError, match="holds no log"):
        UnsupervisedRanker.of_model(msgspec.structs.replace(model, parts={}))


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=4))
def test_any_text_is_ranked_with_a_probability(question: str, texts: list[str]) -> None:
    answers = [AgentAnswer(agent=str(place), text=text) for place, text in enumerate(texts)]
    ranked = UnsupervisedRanker().rank(UserQuestion(text=question), answers, {})
    assert sorted(one.agent for one in ranked) == [answer.agent for answer in answers]
    assert all(0 <= one.probability <= 1 for one in ranked)
    assert ranked == sorted(ranked, key=lambda one: -one.probability)


def test_an_answer_that_repeats_the_question_does_not_beat_a_sure_one() -> None:
    chosen = [RANKER.rank(asked, [echo, right], {})[0].agent for asked, right, echo in ECHO_PAIRS]

    assert len(chosen) == 200
    assert chosen.count("knows") >= 190


def test_an_answer_that_repeats_the_question_is_worth_less_without_confidences_too() -> None:
    pairs = [
        (asked, *(AgentAnswer(agent=one.agent, text=one.text) for one in answers))
        for asked, *answers in ECHO_PAIRS
    ]
    chosen = [RANKER.rank(asked, [echo, right], {})[0].agent for asked, right, echo in pairs]

    assert chosen.count("knows") >= 170
