"""Crossing: the numbers of a turn's answers, by the cross-encoder that a ranker learned with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, CrossEncoder, UserQuestion
from prolocutor.errors import ConfigError, ProlocutorError, ServiceLate
from prolocutor.plugins.pairing.encoders.patience import Patience
from prolocutor.plugins.pairing.model_files import Model
from prolocutor.plugins.pairing.question_response.cross_blend import NO_NUMBERS, Numbers

SETTING: Final = "cross_encoder"
"""The setting of a ranker's model that names the cross-encoder that it learned with."""


class CrossReading(msgspec.Struct, frozen=True):
    """The numbers of the answers to a question, and what went wrong, if anything did."""

    numbers: Numbers = NO_NUMBERS
    fault: str = ""


class Crossing:
    """Asks a cross-encoder, for `seconds` at most (`Patience`)."""

    def __init__(self, encoder: CrossEncoder, seconds: float | None = None) -> None:
        self.id = encoder.id
        self._encoder, self._patience = encoder, Patience(seconds)

    async def of(self, question: UserQuestion, answers: Sequence[AgentAnswer]) -> CrossReading:
        """Return the numbers of the answers; raise nothing for any text."""
        texts = [*dict.fromkeys(one.text for one in answers)]
        try:
            self._patience.check()
            pairs = [(question.text, text) for text in texts]
            found = await self._patience.of(self._encoder.numbers(pairs))
        except ServiceLate as late:
            return self._failed(str(late))
        except ProlocutorError as error:
            return self._failed(f"failed: {error}")
        numbers = zip(texts, found, strict=True)
        return CrossReading({text: number for text, number in numbers if number is not None})

    def _failed(self, why: str) -> CrossReading:
        return CrossReading(fault=f"the cross-encoder {self.id} {why}")


def check_cross_encoder(model: Model, given: str | None) -> None:
    """Raise `ConfigError` unless a cross-encoder is given just if the model learned with that one.

    `given` is the id of the model of a cross-encoder.
    """
    wanted = model.settings.get(SETTING)
    if wanted == given:
        return
    if wanted is None:
        what = f"the model {model.id} was trained without a cross-encoder: leave it out"
        raise ConfigError(f"{what}, or train with --cross-encoder", key=SETTING)
    if given is None:
        what = f"the model {model.id} was trained with {wanted}: give cross_encoder: FOLDER"
        raise ConfigError(what, key=SETTING)
    what = f"the model {model.id} was trained with {wanted}, and {given} is given"
    raise ConfigError(f"{what}; give that one, or train again", key=SETTING)
