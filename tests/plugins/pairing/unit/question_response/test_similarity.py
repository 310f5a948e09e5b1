"""The ranker by cosine: near answers first."""

import asyncio
from collections.abc import Sequence

import pytest

from prolocutor.contracts.pairing import AgentAnswer, TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.question_response import similarity
from tests.plugins.pairing.unit.encoders.made import Broken, WordEncoder

QUESTION = UserQuestion(text="what is the capital of Peru?")
ANSWERS = [
    AgentAnswer(agent="shrug", text="Sorry, I don't know."),
    AgentAnswer(agent="atlas", text="A train."),
    AgentAnswer(agent="atlas", text="The capital of Peru is Lima."),
]


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


async def test_a_silent_model_is_waited_for_once_and_then_left_alone() -> None:
    encoder = Silent()
    ranker = similarity.fit(TrainingData(encoder=encoder, seconds=0.01))

    first = await ranker.rank(QUESTION, ANSWERS, {})
    again = await ranker.rank(QUESTION, ANSWERS, {})

    assert first[0].agent == again[0].agent == "atlas"
    assert "is silent for 0.01 s" in first[0].fault
    assert "a moment ago" in again[0].fault
    assert len(encoder.asked) == 1 + len(ANSWERS)


def test_without_an_encoder_there_is_no_ranker() -> None:
    with pytest.raises(BadInput, match="encoder"):
        similarity.fit(TrainingData())
