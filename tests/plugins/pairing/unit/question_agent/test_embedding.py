"""The router by vectors: near to cards, and nearer to labelled questions."""

import pytest

from prolocutor.contracts.pairing import TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.question_agent.embedding import fit
from prolocutor.plugins.pairing.question_agent.meant_methods import MeantRouter
from tests.plugins.pairing.unit.encoders.made import WordEncoder
from tests.plugins.pairing.unit.question_agent.made import CARDS, LABELLED


async def router(*, labels: bool = True) -> MeantRouter:
    labelled = LABELLED if labels else ()
    return await fit(TrainingData(cards=CARDS, labelled=labelled, encoder=WordEncoder()))


@pytest.mark.parametrize(
    ("text", "agent"),
    [("will it rain tomorrow", "weather"), ("play some jazz", "music"), ("my balance", "bank")],
)
async def test_the_nearest_card_is_chosen_without_labels(text: str, agent: str) -> None:
    found = await (await router(labels=False)).route(UserQuestion(text=text))

    assert found[0].agent == agent
    assert found[0].reason.startswith("its card: ")
    assert sum(one.probability for one in found) == pytest.approx(1)


async def test_labelled_questions_are_nearer_and_quoted() -> None:
    found = await (await router()).route(UserQuestion(text="do I need an umbrella in Paris"))

    assert found[0].agent == "weather"
    assert found[0].reason == "right for: do I need an umbrella"
    assert all(0 < one.probability < 1 for one in found)


async def test_a_follow_up_stays_where_it_belongs() -> None:
    question = UserQuestion(
        text="and in Peru?",
        said_before="will it rain in Oslo",
        answered_before="No.",
        agent_before="weather",
    )

    found = await (await router()).route(question)

    assert (found[0].agent, found[0].reason) == ("weather", "a follow-up")


async def test_where_the_encoder_fails_cards_choose() -> None:
    encoder = WordEncoder()
    made = await fit(TrainingData(cards=CARDS, labelled=LABELLED, encoder=encoder))
    encoder.broken = True

    found = await made.route(UserQuestion(text="will it rain tomorrow"))

    assert found[0].agent == "weather"
    assert "nobody answers" in found[0].fault


async def test_an_encoder_is_needed() -> None:
    with pytest.raises(BadInput, match="needs an encoder"):
        await fit(TrainingData(cards=CARDS))
