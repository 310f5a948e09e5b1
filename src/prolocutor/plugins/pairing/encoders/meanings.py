"""Meanings: the vectors of a turn's texts, by the encoder of a model's training."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from hashlib import sha256
from time import monotonic
from typing import Any, Final, Protocol, TypeVar

import msgspec

from prolocutor.contracts.pairing import Encoder, Pairing
from prolocutor.errors import ConfigError, ProlocutorError, ServiceLate
from prolocutor.plugins.pairing.model_files import Model

PROBES: Final = (
    "What will the weather be like in Lima tomorrow?",
    "Sorry, I don't know that one.",
    "2 Äpfel für £3.50",
)
"""The texts whose vectors tell one encoder from another."""

_ALIKE: Final = 0.98
_SETTING: Final = "encoder"
_ARRAY: Final = "encoder_probes"

Vectors = Mapping[str, Any]
"""Texts and their vectors, NumPy arrays of norm 1."""

NO_VECTORS: Final[Vectors] = {}

T = TypeVar("T")

_PAUSE: Final = 10.0
"""Seconds for which a model that was too slow is not asked again."""

_NOTICED: Final = 0.2
"""Seconds after which a call that is cancelled counts as one that was too slow."""

GIVE_ONE = "give encoder: FOLDER, or connector: openai_embeddings, call: {url: ..., model: ...}"


class EncoderMark(msgspec.Struct, frozen=True):
    """An encoder's name, for people, and its vectors of `PROBES`: 3 x width numbers.

    Vectors identify an encoder better than a name or a file's hash: the same weights behind an
    endpoint are the same encoder, new weights under an old name are another encoder.
    """

    name: str
    probes: Any

    @property
    def width(self) -> int:
        """The length of its vectors."""
        return int(self.probes.shape[1])

    @property
    def fingerprint(self) -> str:
        """The name and twelve digits of the vectors' hash."""
        return f"{self.name} ({sha256(self.probes.tobytes()).hexdigest()[:12]})"

    def difference(self, found: Sequence[Sequence[float]], name: str) -> str | None:
        """Return the difference of an encoder whose vectors of the probes are `found`, or None."""
        import numpy as np

        own, other = self.probes, np.asarray(found, np.float32)
        wanted = f"the encoder {self.fingerprint}"
        if own.shape != other.shape:
            width = f"{other.shape[-1]} numbers instead of {self.width}"
            return f"{wanted} is expected, and {name!r} gives vectors of {width}"
        alike = float((own * other).sum(axis=1).min())
        if alike >= _ALIKE:
            return None
        return f"{wanted} is expected, and {name!r} gives other vectors (cosine {alike:.2f})"

    def mark_model(self, model: Model) -> Model:
        """Return a model with this mark."""
        return msgspec.structs.replace(
            model,
            settings=model.settings | {_SETTING: self.name},
            arrays=model.arrays | {_ARRAY: self.probes},
        )

    @classmethod
    def of_model(cls, model: Model) -> EncoderMark | None:
        """Return a model's mark, None if the model was trained without an encoder."""
        if _SETTING not in model.settings:
            return None
        probes = model.arrays.get(_ARRAY)
        if probes is None or probes.shape[:1] != (len(PROBES),) or len(probes.shape) != 2:
            raise ConfigError(f"the model {model.id} names an encoder without its fingerprint")
        return cls(str(model.settings[_SETTING]), probes)


def encoder_name(encoder: Any) -> str:
    """Return the name of an encoder: its folder, or the model behind an endpoint."""
    return str(getattr(encoder, "name", type(encoder).__name__))


def make_mark(encoder: Any, probes: Sequence[Sequence[float]]) -> EncoderMark:
    """Return the mark of an encoder with these vectors of `PROBES`."""
    import numpy as np

    return EncoderMark(encoder_name(encoder), np.ascontiguousarray(probes, "<f4"))


async def ask_for_mark(encoder: Encoder) -> EncoderMark:
    """Ask an encoder for its mark; its errors propagate.

    Raise `ConfigError` if all of its vectors are zero, as they identify no encoder.
    """
    found = await encoder.encode(PROBES)
    if not any(map(any, found)):
        raise ConfigError(
            f"the encoder {encoder_name(encoder)!r} gives vectors of zeros", key="encoder"
        )
    return make_mark(encoder, found)


class TextMeaning(msgspec.Struct, frozen=True):
    """The vectors of texts, or the fault for which there are none."""

    vectors: Vectors
    fault: str = ""


class Patience:
    """Waits for a model for `seconds` at most (None: without limit).

    A model that took longer, or whose caller ran out of time, is not asked again for ten seconds:
    a model that hangs does not delay every turn.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._rests_until = 0.0

    async def wait_for(self, call: Awaitable[T]) -> T:
        """Return the result of a call; raise `ServiceLate` when the time is over."""
        begun = monotonic()
        try:
            async with asyncio.timeout(self._seconds):
                return await call
        except TimeoutError:
            self._rests_until = monotonic() + _PAUSE
            raise ServiceLate(f"gave no answer for {self._seconds:g} s") from None
        except asyncio.CancelledError:
            if monotonic() - begun >= _NOTICED:
                self._rests_until = monotonic() + _PAUSE
            raise

    def check(self) -> None:
        """Raise `ServiceLate` while the model is not to be asked."""
        if monotonic() < self._rests_until:
            what = "" if self._seconds is None else f" for {self._seconds:g} s"
            raise ServiceLate(f"gave no answer{what} a moment ago")


class Meanings:
    """Asks an encoder for vectors; with a `mark`, the encoder has to have that mark.

    `fixed` are the texts of cards, which every turn needs: their vectors are kept. `seconds` bounds
    a call (`Patience`).
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

    async def encode(self, texts: Sequence[str]) -> TextMeaning:
        """Return the vectors of these texts and of the fixed texts; raise nothing."""
        fault = self._refused
        if not fault:
            try:
                self._patience.check()
                return TextMeaning(await self._patience.wait_for(self._vectors(texts)))
            except ServiceLate as late:
                fault = str(late)
            except ProlocutorError as error:
                fault = self._refused or f"failed: {error}"
        return TextMeaning(NO_VECTORS, f"the encoder {encoder_name(self._encoder)!r} {fault}")

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
        difference = mark and mark.difference(probes, encoder_name(self._encoder))
        if difference:
            self._refused = f"is not used: {difference}"
            raise ConfigError(difference)


async def embed_texts(encoder: Encoder, texts: Iterable[str]) -> Vectors:
    """Return the vectors of texts to learn from; errors of the encoder propagate."""
    wanted = [*dict.fromkeys(texts)]
    return dict(zip(wanted, map(_vector, await encoder.encode(wanted)), strict=True))


async def trained_meanings(encoder: Encoder, fixed: Iterable[str] = ()) -> Meanings:
    """Return the meanings for a training with this encoder."""
    return Meanings(encoder, await ask_for_mark(encoder), fixed=fixed)


def note_fault(pairings: Sequence[Pairing], fault: str) -> list[Pairing]:
    """Return pairings, the first with the fault, if there is a fault."""
    found = list(pairings)
    if fault and found:
        found[0] = msgspec.structs.replace(found[0], fault=fault)
    return found


def _vector(numbers: Sequence[float]) -> Any:
    import numpy as np

    return np.asarray(numbers, np.float32)


class PresentEncoder(Protocol):
    """An encoder in this process, which can be asked without waiting."""

    name: str

    def encode_now(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text."""


class EncoderWiring(msgspec.Struct, frozen=True):
    """An encoder, and the seconds for which a turn may wait for vectors (None: without limit)."""

    encoder: Encoder
    seconds: float | None = None


def open_meanings(
    model: Model, wired: EncoderWiring | None, fixed: Iterable[str] = ()
) -> Meanings | None:
    """Return the source of a model's vectors, None for a model without an encoder.

    Raise `ConfigError` if the model needs an encoder and `wired` is None, or the other way round.
    """
    mark = _require_mark(model, there=wired is not None)
    if mark is None or wired is None:
        return None
    return Meanings(wired.encoder, mark, fixed=fixed, seconds=wired.seconds)


def check_encoder(model: Model, encoder: PresentEncoder | None, *, has_endpoint: bool) -> None:
    """Raise `ConfigError` unless a model was trained with this encoder.

    An encoder behind an endpoint is compared at its first call.
    """
    mark = _require_mark(model, there=has_endpoint or encoder is not None)
    if mark is None or encoder is None:
        return
    if difference := mark.difference(encoder.encode_now(PROBES), encoder.name):
        what = f"the model {model.id} does not fit this encoder: {difference}"
        raise ConfigError(f"{what}; give that one, or train again", key="encoder")


def _require_mark(model: Model, *, there: bool) -> EncoderMark | None:
    """Return a model's mark; raise `ConfigError` for a mark without encoder, or the reverse."""
    mark = EncoderMark.of_model(model)
    if mark is None and there:
        what = f"the model {model.id} was trained without an encoder: leave the encoder out"
        raise ConfigError(f"{what}, or train it with --encoder", key="encoder")
    if mark is not None and not there:
        what = f"the model {model.id} was trained with the encoder {mark.fingerprint}"
        raise ConfigError(f"{what}: {GIVE_ONE}", key="encoder")
    return mark
