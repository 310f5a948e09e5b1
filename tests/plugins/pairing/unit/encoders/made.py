"""Encoders made for tests: words as vectors, and a tiny model in ONNX's format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prolocutor.errors import ServiceUnreachable

WORDS = "[PAD] [UNK] rain sun play song pay money lima peru sorry".split()


class WordEncoder:
    """Gives texts that share words near vectors."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken = False

    async def encode(self, texts: Sequence[str]) -> list[list[float]]:
        if self.broken:
            raise ServiceUnreachable("nobody answers")
        self.asked += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = np.full(64, 1e-3)
        for word in text.lower().replace("?", "").replace(".", "").split():
            vector[sum(word.encode()) % 64] += 1
        found: list[float] = (vector / np.linalg.norm(vector)).tolist()
        return found


class Broken(WordEncoder):
    """Fails whatever it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = True


def write_tokenizer(folder: Path) -> None:
    """Write a tokenizer of a few words."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers (the extra encoder)")
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(folder / "tokenizer.json"))


def write_encoder(folder: Path, name: str = "model.onnx") -> None:
    """Write a model that gives each token a vector of its own: `last_hidden_state`."""
    onnx = pytest.importorskip("onnx", reason="onnx (the extra dev)")
    helper, types = onnx.helper, onnx.TensorProto
    table = np.eye(len(WORDS), 16, dtype=np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "encoder",
        [
            helper.make_tensor_value_info("input_ids", types.INT64, ["b", "t"]),
            helper.make_tensor_value_info("attention_mask", types.INT64, ["b", "t"]),
        ],
        [helper.make_tensor_value_info("last_hidden_state", types.FLOAT, ["b", "t", 16])],
        [onnx.numpy_helper.from_array(table, "table")],
    )
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_model(helper, graph), str(folder / name))


def _model(helper: Any, graph: Any) -> Any:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
