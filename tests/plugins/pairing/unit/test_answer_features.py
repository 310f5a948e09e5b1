"""What a ranker sees of an answer."""

from __future__ import annotations

from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.contracts.pairing import AgentAnswer, UserQuestion
from prolocutor.plugins.pairing.agent_log import AgentLog
from prolocutor.plugins.pairing.answer_features import (
    NAMES,
    PLACE,
    answer_traits,
    features,
    features_among,
    replace_prior,
)

NOBODY = AgentLog()


def seen(name: str, question: str, *texts: str) -> list[float]:
    answers = [AgentAnswer(agent=str(number), text=text) for number, text in enumerate(texts)]
    return [row[PLACE[name]] for row in features(UserQuestion(text=question), answers, {}, NOBODY)]


@given(st.text(max_size=60), st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_every_text_gives_a_full_row_of_numbers(question: str, texts: list[str]) -> None:
    answers = [AgentAnswer(agent="one", text=text) for text in texts]
    rows = features(UserQuestion(text=question), answers, {"one": 0.5}, NOBODY)
    assert [len(row) for row in rows] == [len(NAMES)] * len(texts)
    assert all(isfinite(value) for row in rows for value in row)


def test_no_answers_give_no_rows() -> None:
    assert features(UserQuestion(text="anybody there"), [], {}, NOBODY) == []


def test_features_do_not_know_an_agent_by_name() -> None:
    texts = ["It is noon.", "Sorry?"]

    def rows(*names: str) -> list[list[float]]:
        answers = [
            AgentAnswer(agent=name, text=text) for name, text in zip(names, texts, strict=True)
        ]
        return features(UserQuestion(text="the time"), answers, dict.fromkeys(names, 0.5), NOBODY)

    assert rows("alice", "bob") == rows("carol", "dan")


def test_an_answer_about_the_question_covers_it() -> None:
    about, beside = seen(
        "covered", "how tall is the eiffel tower", "The Eiffel Tower is tall.", "Hello!"
    )
    assert about == 1
    assert beside == 0


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, I did not catch that.",
        "I don't know how to help with that",
        "Could you say that again?",
        "No results.",
        "That feature is not supported.",
        "",
    ],
)
def test_refusals_are_heard(text: str) -> None:
    assert answer_traits(text).refusal >= 0.5


@pytest.mark.parametrize("text", ["It is 20 degrees.", "Paris", "I added milk to the list."])
def test_answers_are_no_refusals(text: str) -> None:
    assert answer_traits(text).refusal < 0.5


def test_answers_are_compared_with_each_other() -> None:
    assert seen("rank_covered", "big red dog", "a big red dog", "a dog", "a cat") == [0, 1, 2]
    lead = seen("lead_covered", "big red dog", "a big red dog", "a cat")
    assert lead[0] == -lead[1] > 0


def test_two_that_say_the_same_agree() -> None:
    found = seen("agreement", "capital of Peru", "It is Lima.", "Lima, of course", "Bananas")
    assert found[0] > 0
    assert found[1] > 0
    assert found[2] == 0


def test_a_router_that_does_not_know_an_agent_is_no_verdict() -> None:
    answers = [AgentAnswer(agent="new", text="yes"), AgentAnswer(agent="old", text="yes")]
    new, old = features(UserQuestion(text="is it"), answers, {"old": 0.0}, NOBODY)
    assert new[PLACE["known"]] == 0
    assert old[PLACE["known"]] == 1
    assert new[PLACE["prior"]] > old[PLACE["prior"]]


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=5),
    st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1)),
    st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1)),
)
def test_another_prior_gives_the_features_that_it_gives_at_first(
    agents: list[str], before: dict[str, float], after: dict[str, float]
) -> None:
    question = UserQuestion(text="Will it rain in Oslo?")
    answers = [AgentAnswer(agent=name, text=f"{name} says rain") for name in agents]
    first = features(question, answers, before, AgentLog())
    assert replace_prior(first, answers, after) == features(question, answers, after, AgentLog())


@given(st.lists(st.sampled_from(["It is Lima.", "Lima", "Sorry, no idea.", "42", ""]), min_size=1))
def test_some_of_the_answers_have_the_features_that_they_have_alone(texts: list[str]) -> None:
    question = UserQuestion(text="What is the capital of Peru?")
    answers = [AgentAnswer(agent=str(number), text=text) for number, text in enumerate(texts)]
    log, prior = AgentLog([("0", "Lima")]), {"0": 0.7, "1": 0.2}
    whole = features(question, answers, prior, log)
    chosen = [*range(0, len(texts), 2)]
    alone = features(question, [answers[place] for place in chosen], prior, log)
    assert features_among(whole, question, answers, chosen) == alone
