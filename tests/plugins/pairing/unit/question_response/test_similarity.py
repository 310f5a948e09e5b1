"""Rankers by models: near answers first, calibrated logits."""

import asyncio
from collections.abc import Sequence

import pytest

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.curve_fitting import fit_rising
from prolocutor.plugins.pairing.question_response import cross_encoder, similarity
from tests.plugins.pairing.unit.encoders.made import Broken, WordEncoder

QUESTION = UserQuestion(text="what is the capital of Peru?")
ANSWERS = [
    AgentAnswer(agent="shrug", text="Sorry, I don't know."),
    AgentAnswer(agent="atlas", text="A train."),
    AgentAnswer(agent="atlas", text="The capital of Peru is Lima."),
]


class Lengths:
    """Scores a pair by the length of the answer."""

    async def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [float(len(answer)) for _, answer in pairs]


async def test_the_nearest_answer_comes_first_and_one_encoding_serves_all() -> None:
    encoder = WordEncoder()

    found = await similarity.fit(TrainingData(encoder=encoder)).rank(QUESTION, ANSWERS, {})

    assert [(one.agent, one.position) for one in found] == [
        ("atlas", 1), ("atlas", 0), ("shrug", 0),
    ]  # fmt: skip
    assert "near to the question" in found[0].reason
    assert encoder.asked == [QUESTION.text, *(one.text for one in ANSWERS)]


async def test_where_the_encoder_fails_the_answers_are_ranked_without_it() -> None:
    found = await similarity.fit(TrainingData(encoder=Broken())).rank(QUESTION, ANSWERS, {})

    assert (found[0].agent, found[0].position) == ("atlas", 1)
    assert "nobody answers" in found[0].fault


class Silent(WordEncoder):
    """Never answers."""

    async def encode(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        await asyncio.Event().wait()
        return []

    async def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        await self.encode([answer for _, answer in pairs])
        return []


async def test_a_silent_model_is_waited_for_once_and_then_left_alone() -> None:
    encoder, scorer = Silent(), Silent()
    rankers = (
        similarity.fit(TrainingData(encoder=encoder, seconds=0.01)),
        cross_encoder.CrossEncoderRanker(scorer).within(0.01),
    )

    for ranker in rankers:
        first = await ranker.rank(QUESTION, ANSWERS, {})
        again = await ranker.rank(QUESTION, ANSWERS, {})
        assert first[0].agent == again[0].agent == "atlas"
        assert "is silent for 0.01 s" in first[0].fault
        assert "a moment ago" in again[0].fault
    assert len(encoder.asked) == 1 + len(scorer.asked) == 1 + len(ANSWERS)


def test_numbers_that_are_higher_for_what_is_wrong_say_nothing() -> None:
    curve = fit_rising([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 0.0, 0.0])

    assert curve(4.0) == curve(1.0) == pytest.approx(0.5)


async def test_logits_rank_and_labels_make_probabilities_of_them() -> None:
    labelled = [
        LabelledQuestion(
            question=UserQuestion(text=f"q{n}"),
            agents={"long": 1.0},
            gold=frozenset({"long"}),
            answers={"long": "x" * (20 + n), "short": "x" * (10 + n)},
        )
        for n in range(30)
    ]
    bare = await cross_encoder.fit(TrainingData(pair_scorer=Lengths()))
    taught = await cross_encoder.fit(TrainingData(pair_scorer=Lengths(), labelled=labelled))

    for ranker in (bare, taught):
        found = await ranker.rank(QUESTION, ANSWERS, {})
        assert found[0].position == 1
    assert (await bare.rank(QUESTION, ANSWERS, {}))[0].probability > 0.999
    assert await taught.rank(QUESTION, [], {}) == []
    middle = AgentAnswer(agent="a", text="x" * 32)
    (one,) = await taught.rank(QUESTION, [middle], {})
    assert 0.3 < one.probability < 0.8


async def test_without_a_model_there_is_no_ranker() -> None:
    with pytest.raises(BadInput, match="encoder"):
        similarity.fit(TrainingData())
    with pytest.raises(BadInput, match="scores pairs"):
        await cross_encoder.fit(TrainingData())
