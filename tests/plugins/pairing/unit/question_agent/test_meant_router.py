"""Routers that read vectors: trained, saved, loaded, and without their encoder."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from prolocutor.contracts.pairing import TrainingData, UserQuestion
from prolocutor.plugins.pairing.encoders.meanings import EncoderWiring
from prolocutor.plugins.pairing.method_catalog import load_fit
from prolocutor.plugins.pairing.model_files import save_model, training_card
from prolocutor.plugins.pairing.question_agent.loaded_router import load_router_model
from tests.plugins.pairing.unit.encoders.made import WordEncoder
from tests.plugins.pairing.unit.question_agent.made import CARDS, LABELLED

# Importing it takes seconds, so that is left to the tests.
pytestmark = pytest.mark.skipif(
    find_spec("sklearn") is None, reason="scikit-learn (the extra learn)"
)


SAME = {"drizzle": "rain", "tune": "song", "cash": "money"}


class Thesaurus(WordEncoder):
    """Knows that some words mean the same."""

    name = "thesaurus"

    def _vector(self, text: str) -> list[float]:
        return super()._vector(" ".join(SAME.get(word, word) for word in text.split()))


async def test_other_words_of_the_same_meaning_are_routed_after_loading_too(
    tmp_path: Path,
) -> None:
    training = TrainingData(cards=CARDS, labelled=LABELLED * 3, encoder=Thesaurus())
    made: Any = await load_fit("learned", "router")(training)
    save_model(tmp_path / "model", made.to_model(training_card(1)))
    loaded = load_router_model(tmp_path / "model", CARDS, EncoderWiring(Thesaurus())).router

    for text, agent in (("drizzle", "weather"), ("tune", "music"), ("cash", "bank")):
        asked = UserQuestion(text=text)
        first, again = await made.route(asked), await loaded.route(asked)
        assert first[0].agent == agent
        assert first[0].fault == ""
        assert again[0].agent == agent
        assert again[0].probability == pytest.approx(first[0].probability, abs=1e-3)


async def test_without_its_encoder_a_router_goes_by_words() -> None:
    encoder = Thesaurus()
    made: Any = await load_fit("learned", "router")(
        TrainingData(cards=CARDS, labelled=LABELLED, encoder=encoder)
    )
    encoder.broken = True

    found = await made.route(UserQuestion(text="will it rain in Oslo"))

    assert found[0].agent == "weather"
    assert found[0].fault == "the encoder 'thesaurus' failed: nobody answers"
