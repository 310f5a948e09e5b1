"""Meanings: vectors by the encoder of the model, or the fault for which there are none."""

import asyncio
from collections.abc import Sequence

import pytest

from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.encoders.meanings import (
    EncoderMark,
    EncoderWiring,
    Meanings,
    ask_for_mark,
    check_encoder,
    open_meanings,
)
from prolocutor.plugins.pairing.model_files import Model, training_card
from tests.plugins.pairing.unit.encoders.made import WordEncoder

pytest.importorskip("numpy", reason="NumPy (the extra learn)")


class NarrowEncoder(WordEncoder):
    """Another encoder, of shorter vectors."""

    name = "narrow"

    async def encode(self, texts: Sequence[str]) -> list[list[float]]:
        return [vector[:8] for vector in await super().encode(texts)]

    def encode_now(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] * 8 for _ in texts]


class SilentEncoder(WordEncoder):
    """Answers the first call, and no other."""

    async def encode(self, texts: Sequence[str]) -> list[list[float]]:
        if self.asked:
            await asyncio.Event().wait()
        return await super().encode(texts)


class EmptyEncoder(WordEncoder):
    """Gives every text zeros."""

    async def encode(self, texts: Sequence[str]) -> list[list[float]]:
        return [[0.0, 0.0] for _ in texts]


def bare() -> Model:
    return Model(role="router", method="learned", agents=[], card=training_card(0))


async def test_fixed_texts_are_encoded_once_and_always_there() -> None:
    encoder = WordEncoder()
    meanings = Meanings(encoder, await ask_for_mark(encoder), fixed=["a card"])

    await meanings.encode(["rain"])
    encoder.asked.clear()
    found = await meanings.encode(["sun"])

    assert encoder.asked == ["sun"]
    assert set(found.vectors) == {"a card", "sun"}


async def test_another_encoder_is_refused_by_name() -> None:
    meanings = Meanings(NarrowEncoder(), await ask_for_mark(WordEncoder()))

    first, second = await meanings.encode(["rain"]), await meanings.encode(["rain"])

    assert not first.vectors
    assert "WordEncoder" in first.fault
    assert "'narrow' gives vectors of 8 numbers instead of 64" in first.fault
    assert second.fault == first.fault


async def test_an_encoder_that_fails_is_a_fault_and_asked_again() -> None:
    encoder = WordEncoder()
    meanings = Meanings(encoder, await ask_for_mark(encoder))

    encoder.broken = True
    failed = await meanings.encode(["rain"])
    encoder.broken = False

    assert failed.fault == "the encoder 'WordEncoder' failed: nobody answers"
    assert (await meanings.encode(["rain"])).vectors


async def test_a_silent_encoder_is_waited_for_once_and_then_left_alone() -> None:
    encoder = SilentEncoder()
    meanings = Meanings(encoder, await ask_for_mark(encoder), seconds=0.01)

    assert "gave no answer for 0.01 s" in (await meanings.encode(["rain"])).fault
    assert "a moment ago" in (await meanings.encode(["rain"])).fault


async def test_an_encoder_for_which_a_turn_had_no_more_time_is_left_alone() -> None:
    encoder = SilentEncoder()
    meanings = Meanings(encoder, await ask_for_mark(encoder), seconds=60)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await meanings.encode(["rain"])

    assert "gave no answer for 60 s a moment ago" in (await meanings.encode(["rain"])).fault


async def test_an_encoder_of_zeros_has_no_mark() -> None:
    with pytest.raises(ConfigError, match="gives vectors of zeros"):
        await ask_for_mark(EmptyEncoder())


async def test_a_mark_stays_with_its_model() -> None:
    mark = await ask_for_mark(WordEncoder())

    assert EncoderMark.of_model(mark.mark_model(bare())) == mark
    assert EncoderMark.of_model(bare()) is None


async def test_a_model_and_an_encoder_go_together_or_are_refused() -> None:
    marked = (await ask_for_mark(WordEncoder())).mark_model(bare())

    with pytest.raises(ConfigError, match="was trained with the encoder WordEncoder"):
        open_meanings(marked, None)
    with pytest.raises(ConfigError, match="trained without an encoder"):
        open_meanings(bare(), EncoderWiring(WordEncoder()))
    with pytest.raises(ConfigError, match="does not fit this encoder"):
        check_encoder(marked, NarrowEncoder(), has_endpoint=False)
    check_encoder(marked, None, has_endpoint=True)
