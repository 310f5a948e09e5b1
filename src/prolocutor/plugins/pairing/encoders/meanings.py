"""Meanings: the vectors of the texts of a turn, by the encoder that a model was trained with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from prolocutor.contracts.pairing import Encoder, Pairing
from prolocutor.errors import ConfigError, ProlocutorError, ServiceLate
from prolocutor.plugins.pairing.encoders.encoder_mark import PROBES, EncoderMark, mark_of, name_of
from prolocutor.plugins.pairing.encoders.patience import Patience
from prolocutor.plugins.pairing.encoders.text_vectors import NO_VECTORS, TextMeaning, Vectors


class Meanings:
    """Asks an encoder for vectors, after making sure that it is the one of `mark`, if given.

    `fixed` are texts needed in every turn (those of cards): their vectors are kept. `seconds`
    bounds a call (`Patience`).
    """

    def __init__(
        self,
        encoder: Encoder,
        mark: EncoderMark | None,
        *,
        fixed: Iterable[str] = (),
        seconds: float | None = None,
    ) -> None:
        self.mark = mark
        self._encoder, self._patience = encoder, Patience(seconds)
        self._fixed = dict.fromkeys(fixed)
        self._kept: dict[str, Any] = {}
        self._is_known = False
        self._refused = ""

    async def of(self, texts: Sequence[str]) -> TextMeaning:
        """Return the vectors of these texts and of the fixed ones; raise nothing for any text."""
        fault = self._refused
        if not fault:
            try:
                self._patience.check()
                return TextMeaning(await self._patience.of(self._vectors(texts)))
            except ServiceLate as late:
                fault = str(late)
            except ProlocutorError as error:
                fault = self._refused or f"failed: {error}"
        return TextMeaning(NO_VECTORS, f"the encoder {name_of(self._encoder)!r} {fault}")

    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        wanted = [*dict.fromkeys(texts)]
        first = [] if self._is_known else [*PROBES, *self._fixed]
        found = await self._encoder.encode([*first, *wanted])
        if first:
            self._check(found[: len(PROBES)])
            fixed = map(_vector, found[len(PROBES) : len(first)])
            self._kept = dict(zip(self._fixed, fixed, strict=True))
            self._is_known = True
        return self._kept | dict(zip(wanted, map(_vector, found[len(first) :]), strict=True))

    def _check(self, probes: Sequence[Sequence[float]]) -> None:
        mark = self.mark
        difference = mark and mark.difference(probes, name_of(self._encoder))
        if difference:
            self._refused = f"is not used: {difference}"
            raise ConfigError(difference)


async def vectors_of(encoder: Encoder, texts: Iterable[str]) -> Vectors:
    """Return the vectors of texts to learn from; errors of the encoder propagate."""
    wanted = [*dict.fromkeys(texts)]
    return dict(zip(wanted, map(_vector, await encoder.encode(wanted)), strict=True))


async def trained_meanings(encoder: Encoder, fixed: Iterable[str] = ()) -> Meanings:
    """Return the meanings of a method that is trained with this encoder now."""
    return Meanings(encoder, await mark_of(encoder), fixed=fixed)


def with_fault(pairings: Sequence[Pairing], fault: str) -> list[Pairing]:
    """Return pairings of which the first one says what went wrong, if anything did."""
    found = list(pairings)
    if fault and found:
        found[0] = msgspec.structs.replace(found[0], fault=fault)
    return found


def _vector(numbers: Sequence[float]) -> Any:
    import numpy as np

    return np.asarray(numbers, np.float32)
