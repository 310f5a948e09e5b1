"""VectorCache: the vectors of recent texts, each computed once; an encoder behind an endpoint."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from math import hypot, isfinite
from typing import Final

from prolocutor.errors import BadReply

Encode = Callable[[list[str]], Awaitable[Sequence[Sequence[float]]]]

LONGEST: Final = 2000
"""The most characters of a text that count."""

_MOST: Final = 10_000


class VectorCache:
    """Holds up to `most` vectors of norm 1; the least recently used one is dropped."""

    def __init__(self, encode: Encode, *, batch: int = 32, most: int = _MOST) -> None:
        self._encode, self._batch, self._most = encode, batch, most
        self._known: OrderedDict[str, array[float]] = OrderedDict()
        self._length: int | None = None

    def __len__(self) -> int:
        return len(self._known)

    async def vectors(self, texts: Sequence[str]) -> list[array[float]]:
        """Return a vector for each text; `BadReply` if the encoder returns anything else."""
        cuts = [text[:LONGEST] for text in texts]
        found: dict[str, array[float]] = {}
        for text in dict.fromkeys(cuts):
            if (known := self._known.get(text)) is not None:
                self._known.move_to_end(text)
                found[text] = known
        missing = [text for text in dict.fromkeys(cuts) if text not in found]
        for start in range(0, len(missing), self._batch):
            part = missing[start : start + self._batch]
            made = await self._encode(part)
            if len(made) != len(part):
                raise BadReply(f"{len(made)} vectors for {len(part)} texts")
            found.update(zip(part, map(self._checked, made), strict=True))
        for text in missing:
            self._known[text] = found[text]
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return [found[text] for text in cuts]

    def _checked(self, vector: Sequence[float]) -> array[float]:
        if self._length is None:
            self._length = len(vector)
        if not vector_is_sound(vector, self._length):
            what = f"{self._length} finite numbers" if self._length else "numbers"
            raise BadReply(f"a vector of {len(vector)} numbers, or none; {what} are expected")
        return unit_vector(vector)


def unit_vector(vector: Sequence[float]) -> array[float]:
    """Return a vector of the same direction and of length 1."""
    norm = hypot(*vector) or 1.0
    return array("f", [float(one) / norm for one in vector])


def vector_is_sound(vector: Sequence[float], length: int) -> bool:
    """Return whether it is of this length, and finite, as is its norm."""
    return length > 0 and len(vector) == length and isfinite(hypot(*vector))


_BATCH: Final = 32
"""How many texts are sent at once: Text Embeddings Inference refuses more, as it is shipped."""

_NOTHING: Final = "."


class EndpointEncoder:
    """Calls `embed` (texts in, a vector for each out) in batches, and caches.

    A blank text is sent as a full stop, because endpoints refuse empty ones. Errors of `embed`
    propagate. `name` is that of the model.
    """

    def __init__(self, embed: Encode, *, name: str = "an endpoint") -> None:
        self.name = name
        self._embed = embed
        self._cache = VectorCache(self._asked, batch=_BATCH)

    async def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in order."""
        return await self._cache.vectors(texts)

    async def _asked(self, texts: list[str]) -> Sequence[Sequence[float]]:
        return await self._embed([text if text.strip() else _NOTHING for text in texts])
