"""Rankers that read vectors: trained, saved, loaded, and without their encoder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from prolocutor.assistant.runner import run
from prolocutor.contracts.pairing import AgentAnswer, Card, UserQuestion
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.encoders.meanings import EncoderWiring
from prolocutor.plugins.pairing.model_files import load_model, save_model, training_card
from tests.plugins.pairing.unit.encoders.made import WordEncoder
from tests.plugins.pairing.unit.question_response.test_learned import (
    AGENTS,
    ANSWERS,
    QUESTION,
    lessons,
)

WITHOUT: Final = "the extra learn is not installed"
learned_training = pytest.importorskip(
    "prolocutor.plugins.pairing.question_response.learned_training", reason=WITHOUT
)
meant = pytest.importorskip(
    "prolocutor.plugins.pairing.question_agent.loaded_router", reason=WITHOUT
)
meaning = pytest.importorskip("prolocutor.plugins.pairing.answer_meaning", reason=WITHOUT)

CARDS: Final = [Card(name="wise", description="Knows the weight of things, in grams.")]
PRIOR: Final = dict.fromkeys(AGENTS, 0.3)


@cache
def made() -> Any:
    with_encoder = msgspec.structs.replace(lessons(), encoder=WordEncoder(), cards=CARDS)
    return run(learned_training.fit(with_encoder))


def loaded(folder: Path, encoder: WordEncoder) -> Any:
    model = load_model(folder)
    ranker = learned_training.LearnedRanker.of_model(model, CARDS)
    return meant.attach_encoder(ranker, model, EncoderWiring(encoder))


def test_a_loaded_ranker_says_the_same_and_goes_on_without_its_encoder(tmp_path: Path) -> None:
    save_model(tmp_path / "model", made().to_model(training_card(80)))
    encoder = WordEncoder()
    ranker = loaded(tmp_path / "model", encoder)

    first = run(made().rank(QUESTION, ANSWERS, PRIOR))
    again = run(ranker.rank(QUESTION, ANSWERS, PRIOR))
    encoder.broken = True
    without = run(ranker.rank(QUESTION, ANSWERS, PRIOR))

    assert [one.agent for one in again] == [one.agent for one in first]
    assert again[0].probability == pytest.approx(first[0].probability, abs=1e-3)
    assert [one.agent for one in (first[0], without[0])] == ["wise", "wise"]
    assert again[0].fault == ""
    assert without[0].fault == "the encoder 'WordEncoder' failed: nobody answers"
    assert ranker.at_once.rank(QUESTION, ANSWERS, PRIOR) == [
        msgspec.structs.replace(one, fault="") for one in without
    ]


def test_a_model_with_vectors_needs_an_encoder(tmp_path: Path) -> None:
    save_model(tmp_path / "model", made().to_model(training_card(80)))

    with pytest.raises(ConfigError, match=r"the encoder WordEncoder \("):
        meant.attach_encoder(made(), load_model(tmp_path / "model"), None)


def test_an_answer_is_compared_with_question_card_others_and_usual_words() -> None:
    lesson = lessons().labelled
    encoder = WordEncoder()
    texts = ["weigh iris", "iris weigh ten", "ten weigh", "Sorry, I did not get that."]
    texts += [*meaning.lesson_texts(lesson), *meaning.documents(CARDS[0])]
    vectors = run(meaning_vectors(encoder, texts))
    memory = meaning.MeaningMemory.from_lessons(lesson, vectors, CARDS)
    answers = [
        AgentAnswer(agent="wise", text="iris weigh ten"),
        AgentAnswer(agent="vague", text="ten weigh"),
        AgentAnswer(agent="dumb", text="Sorry, I did not get that."),
    ]

    rows = [
        dict(zip(meaning.NAMES, row, strict=True))
        for row in memory.rows("weigh iris", answers, vectors)
    ]

    assert rows[0]["meant"] > rows[1]["meant"] > rows[2]["meant"]
    assert [row["rank_meant"] for row in rows] == [0, 1, 2]
    assert rows[0]["lead_meant"] > 0 > rows[1]["lead_meant"]
    assert rows[0]["meant_agreement"] > rows[2]["meant_agreement"]
    assert rows[2]["meant_usual"] == pytest.approx(1, abs=1e-4)
    assert rows[0]["meant_well"] > rows[2]["meant_well"]
    assert rows[1]["meant_card"] == 0 < rows[0]["meant_card"]
    assert memory.rows("not encoded", answers, vectors) == [meaning.ABSENT] * 3


def test_nobody_has_answered() -> None:
    assert run(made().rank(UserQuestion(text="?"), [], {})) == []


async def meaning_vectors(encoder: WordEncoder, texts: list[str]) -> Any:
    from prolocutor.plugins.pairing.encoders.meanings import embed_texts

    return await embed_texts(encoder, texts)
