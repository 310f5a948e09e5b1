"""EncoderMark: the fingerprint of an encoder, which a model that was trained with it stores."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import Encoder
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.model_files import Array, Model

PROBES: Final = (
    "What will the weather be like in Lima tomorrow?",
    "Sorry, I don't know that one.",
    "2 Äpfel für £3.50",
)
"""The texts whose vectors tell one encoder from another."""

_ALIKE: Final = 0.98
_SETTING: Final = "encoder"
_ARRAY: Final = "encoder_probes"


class EncoderMark(msgspec.Struct, frozen=True):
    """An encoder's name, for people, and what it makes of `PROBES`: 3 x width numbers.

    Vectors tell more than a name or a file's hash: the same weights behind an endpoint are the same
    encoder, and new weights under an old name are another one.
    """

    name: str
    probes: Array

    @property
    def width(self) -> int:
        """The length of its vectors."""
        return self.probes.shape[1]

    @property
    def fingerprint(self) -> str:
        """The name and twelve digits of the vectors' hash."""
        return f"{self.name} ({sha256(self.probes.data).hexdigest()[:12]})"

    def difference(self, found: Sequence[Sequence[float]], name: str) -> str | None:
        """Return how an encoder that makes `found` of the probes differs, None if it does not."""
        import numpy as np

        own, other = self.probes.to_numpy(), np.asarray(found, np.float32)
        wanted = f"the encoder {self.fingerprint}"
        if own.shape != other.shape:
            width = f"{other.shape[-1]} numbers instead of {self.width}"
            return f"{wanted} is expected, and {name!r} gives vectors of {width}"
        alike = float((own * other).sum(axis=1).min())
        if alike >= _ALIKE:
            return None
        return f"{wanted} is expected, and {name!r} gives other vectors (cosine {alike:.2f})"

    def marked(self, model: Model) -> Model:
        """Return a model with this mark."""
        return msgspec.structs.replace(
            model,
            settings=model.settings | {_SETTING: self.name},
            arrays=model.arrays | {_ARRAY: self.probes},
        )

    @classmethod
    def of_model(cls, model: Model) -> EncoderMark | None:
        """Return the mark that a model stores, None if it was trained without an encoder."""
        if _SETTING not in model.settings:
            return None
        probes = model.arrays.get(_ARRAY)
        if probes is None or probes.shape[:1] != (len(PROBES),) or len(probes.shape) != 2:
            raise ConfigError(f"the model {model.id} names an encoder without its fingerprint")
        return cls(str(model.settings[_SETTING]), probes)


def name_of(encoder: Any) -> str:
    """Return what an encoder is called: its folder, or the model behind an endpoint."""
    return str(getattr(encoder, "name", type(encoder).__name__))


async def mark_of(encoder: Encoder) -> EncoderMark:
    """Ask an encoder for its mark; its errors propagate.

    `ConfigError` for one whose vectors are all zero, which would not know itself again.
    """
    found = await encoder.encode(PROBES)
    if not any(map(any, found)):
        raise ConfigError(f"the encoder {name_of(encoder)!r} gives vectors of zeros", key="encoder")
    return EncoderMark(name_of(encoder), Array.of(found, "<f4"))
