"""EndpointEncoder: vectors from an endpoint for embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from prolocutor.plugins.pairing.encoders.cache import Encode, VectorCache

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
