"""Rankers by models: near answers first, calibrated logits."""

from collections.abc import Sequence

import pytest

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.pairing.question_response import cross_encoder, similarity
from tests.unit.pairing.encoders.made import Broken, WordEncoder

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
