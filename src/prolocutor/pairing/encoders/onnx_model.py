"""OnnxModel: a transformer and its tokenizer from a folder, run on one thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from prolocutor.errors import ConfigError, NotFound

T = TypeVar("T")

TOKENIZER: Final = "tokenizer.json"
_MODELS: Final = ("model.onnx", "model_int8.onnx", "model_quantized.onnx")
_LONGEST: Final = 256
_DTYPES: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxModel:
    """A folder with `tokenizer.json` and a model, as exported for ONNX Runtime.

    The model is `model.onnx`, `model_int8.onnx` or `model_quantized.onnx`, there or in its folder
    `onnx`, or the only one there is. It may take `input_ids`, `attention_mask`, `token_type_ids`.
    """

    def __init__(self, folder: str | Path, *, longest: int = _LONGEST) -> None:
        place = Path(folder)
        try:
            self._tokenizer = Tokenizer.from_file(str(_existing(place / TOKENIZER)))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 3
            self._session = onnxruntime.InferenceSession(
                str(_model_in(place)), options, providers=["CPUExecutionProvider"]
            )
        except NotFound:
            raise
        except Exception as error:
            raise ConfigError(
                f"is no model to encode with: {error!s:.200}", file=str(place)
            ) from None
        self._tokenizer.enable_truncation(longest)
        self._tokenizer.enable_padding()
        self._inputs = {one.name: _DTYPES.get(one.type) for one in self._session.get_inputs()}
        if strange := [name for name, dtype in self._inputs.items() if dtype is None]:
            what = f"its model takes {strange[0]!r}, which is not a number of tokens"
            raise ConfigError(what, file=str(place))
        self.outputs: list[str] = [one.name for one in self._session.get_outputs()]
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")

    async def on_thread(self, work: Callable[..., T], *given: Any) -> T:
        """Run something on the model's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)

    def run(self, texts: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return the attention mask, texts x tokens, and all outputs; a text may be a pair of
        two."""
        encoded = self._tokenizer.encode_batch(list(texts))
        made = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        feed = {name: np.array(made[name], dtype) for name, dtype in self._inputs.items()}
        return np.array(made["attention_mask"], np.float32), self._session.run(None, feed)

    def close(self) -> None:
        """Let go of the thread; what waits for it is given up."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise NotFound(f"{file}: there is no such file", field="encoder")
    return file


def _model_in(folder: Path) -> Path:
    for place in (folder, folder / "onnx"):
        for name in _MODELS:
            if (place / name).is_file():
                return place / name
    found = sorted(folder.rglob("*.onnx"))
    if len(found) == 1:
        return found[0]
    what = "there is no model.onnx" if not found else f"which of {len(found)} models is meant"
    raise NotFound(f"{folder}: {what}; name it model.onnx", field="encoder")
