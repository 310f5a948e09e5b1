"""OnnxEncoder and OnnxPairScorer: local models in ONNX's format; nothing is ever downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from prolocutor.errors import ConfigError
from prolocutor.pairing.encoders.cache import LONGEST, VectorCache
from prolocutor.pairing.encoders.onnx_model import OnnxModel

_POOLED: Final = "sentence_embedding"
_BATCH: Final = 32


class OnnxEncoder:
    """A sentence encoder: the mean of the tokens' vectors, brought to length 1.

    Where the model gives `sentence_embedding`, or one vector a text, that is taken as it is.
    """

    def __init__(self, folder: str | Path) -> None:
        self._model = OnnxModel(folder)
        names = self._model.outputs
        self._output = names.index(_POOLED) if _POOLED in names else 0
        self._cache = VectorCache(self._encode, batch=_BATCH)

    async def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in order."""
        return await self._cache.vectors(texts)

    async def aclose(self) -> None:
        """Let go of the thread."""
        self._model.close()

    async def _encode(self, texts: list[str]) -> Sequence[Sequence[float]]:
        return await self._model.on_thread(self._vectors, texts)

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        mask, outputs = self._model.run(texts)
        found: Any = outputs[self._output]
        if found.ndim == 3:
            weights = mask[:, :, None]
            found = (found * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        if found.ndim != 2 or len(found) != len(texts):
            raise ConfigError(f"the model's output of shape {found.shape} is no vector a text")
        vectors: list[list[float]] = found.astype(np.float64).tolist()
        return vectors


class OnnxPairScorer:
    """A cross-encoder: it reads both texts of a pair at once and gives a logit."""

    def __init__(self, folder: str | Path) -> None:
        self._model = OnnxModel(folder)

    async def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return how well the second text of each pair answers the first."""
        found: list[float] = []
        for start in range(0, len(pairs), _BATCH):
            part = pairs[start : start + _BATCH]
            cut = [(one[:LONGEST], other[:LONGEST]) for one, other in part]
            found += await self._model.on_thread(self._logits, cut)
        return found

    async def aclose(self) -> None:
        """Let go of the thread."""
        self._model.close()

    def _logits(self, pairs: list[tuple[str, str]]) -> list[float]:
        _, outputs = self._model.run(pairs)
        found: Any = outputs[0]
        if found.shape == (len(pairs), 2):
            found = found[:, 1] - found[:, 0]
        if found.size != len(pairs):
            raise ConfigError(f"the model's output of shape {found.shape} is no number a pair")
        logits: list[float] = found.reshape(-1).astype(np.float64).tolist()
        return logits
