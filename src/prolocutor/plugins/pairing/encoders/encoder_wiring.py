"""EncoderWiring: an encoder that an assistant has, for models that were trained with one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from prolocutor.contracts.pairing import Encoder
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.encoders.encoder_mark import PROBES, EncoderMark
from prolocutor.plugins.pairing.encoders.meanings import Meanings
from prolocutor.plugins.pairing.model_files import Model

GIVE_ONE = "give encoder: FOLDER, or connector: openai_embeddings, call: {url: ..., model: ...}"


class PresentEncoder(Protocol):
    """An encoder in this process, which can be asked without waiting."""

    name: str

    def encode_now(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text."""


class EncoderWiring(msgspec.Struct, frozen=True):
    """An encoder, and for how many seconds a turn may wait for it (None: as long as it takes)."""

    encoder: Encoder
    seconds: float | None = None


def meanings_of(
    model: Model, wired: EncoderWiring | None, fixed: Iterable[str] = ()
) -> Meanings | None:
    """Return what gives a model the vectors that it reads, None for one that reads none.

    `ConfigError` if it needs an encoder and there is none, or the other way round.
    """
    mark = _mark_of(model, there=wired is not None)
    if mark is None or wired is None:
        return None
    return Meanings(wired.encoder, mark, fixed=fixed, seconds=wired.seconds)


def check_encoder(model: Model, encoder: PresentEncoder | None, *, has_endpoint: bool) -> None:
    """Raise `ConfigError` unless the encoder at hand is the one that a model was trained with.

    What is behind an endpoint is compared when it is first asked.
    """
    mark = _mark_of(model, there=has_endpoint or encoder is not None)
    if mark is None or encoder is None:
        return
    if difference := mark.difference(encoder.encode_now(PROBES), encoder.name):
        what = f"the model {model.id} does not fit this encoder: {difference}"
        raise ConfigError(f"{what}; give that one, or train again", key="encoder")


def _mark_of(model: Model, *, there: bool) -> EncoderMark | None:
    """Return the mark of a model; `ConfigError` unless an encoder is there just if it has one."""
    mark = EncoderMark.of_model(model)
    if mark is None and there:
        what = f"the model {model.id} was trained without an encoder: leave the encoder out"
        raise ConfigError(f"{what}, or train it with --encoder", key="encoder")
    if mark is not None and not there:
        what = f"the model {model.id} was trained with the encoder {mark.fingerprint}"
        raise ConfigError(f"{what}: {GIVE_ONE}", key="encoder")
    return mark
