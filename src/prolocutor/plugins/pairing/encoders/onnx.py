"""OnnxEncoder: a local model in ONNX's format; nothing is ever downloaded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from prolocutor.errors import BadReply, ConfigError, NotFound
from prolocutor.plugins.pairing.encoders.vector_cache import (
    MAX_CHARACTERS,
    VectorCache,
    unit_vector,
)

_POOLED: Final = "sentence_embedding"
_BATCH: Final = 32


TOKENIZER: Final = "tokenizer.json"
_MODELS: Final = ("model.onnx", "model_int8.onnx", "model_quantized.onnx")
_MAX_TOKENS: Final = 256
_DTYPES: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxEncoder:
    """A sentence encoder: a folder with `tokenizer.json` and a model for ONNX Runtime.

    The model is `model.onnx`, `model_int8.onnx` or `model_quantized.onnx`, there or in its folder
    `onnx`, or the only one there is. It may take `input_ids`, `attention_mask`, `token_type_ids`.
    A text's vector is the mean of its tokens' vectors, brought to length 1. Where the model gives
    `sentence_embedding`, or a vector for each text, the output is taken unchanged.
    """

    def __init__(self, folder: str | Path) -> None:
        place = str(folder)
        self.name = Path(folder).name
        tokenizer, network = _existing(Path(folder, TOKENIZER)), _model_file(Path(folder))
        try:
            self._tokenizer = Tokenizer.from_str(tokenizer.read_text("utf-8"))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 3
            self._session = onnxruntime.InferenceSession(
                str(network), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ConfigError(
                f"is not a model to encode with: {error!s:.200}", file=place
            ) from None
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.enable_padding()
        self._inputs = {one.name: _DTYPES.get(one.type) for one in self._session.get_inputs()}
        if strange := [name for name, dtype in self._inputs.items() if dtype is None]:
            what = f"its model takes {strange[0]!r}, which is not a number of tokens"
            raise ConfigError(what, file=place)
        outputs = [one.name for one in self._session.get_outputs()]
        self._output = outputs.index(_POOLED) if _POOLED in outputs else 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._cache = VectorCache(self._encode, batch=_BATCH)

    async def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in order."""
        return await self._cache.vectors(texts)

    def encode_now(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in this thread; nothing is cached."""
        return [
            unit_vector(one) for one in self._vectors([text[:MAX_CHARACTERS] for text in texts])
        ]

    async def aclose(self) -> None:
        """End the thread; waiting work is cancelled."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _encode(self, texts: list[str]) -> Sequence[Sequence[float]]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._vectors, texts)

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        encoded = self._tokenizer.encode_batch(texts)
        made = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        feed = {name: np.array(made[name], dtype) for name, dtype in self._inputs.items()}
        try:
            found: Any = self._session.run(None, feed)[self._output]
        except Exception as error:  # ONNX Runtime has no error of its own to catch
            raise BadReply(f"the model fails: {error!s:.200}") from None
        if found.ndim == 3:
            weights = np.array(made["attention_mask"], np.float32)[:, :, None]
            found = (found * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        if found.ndim != 2 or len(found) != len(texts):
            raise ConfigError(
                f"the model's output of shape {found.shape} is not one vector for each text"
            )
        vectors: list[list[float]] = found.astype(np.float64).tolist()
        return vectors


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise NotFound(f"{file}: there is no such file", field="encoder")
    return file


def _model_file(folder: Path) -> Path:
    for place in (folder, folder / "onnx"):
        for name in _MODELS:
            if (place / name).is_file():
                return place / name
    found = sorted(folder.rglob("*.onnx"))
    if len(found) == 1:
        return found[0]
    what = "there is no model.onnx" if not found else f"which of {len(found)} models is meant"
    raise NotFound(f"{folder}: {what}; name it model.onnx", field="encoder")
