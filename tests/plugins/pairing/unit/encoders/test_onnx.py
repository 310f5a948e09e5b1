"""Local models: a tiny one, made here, encodes texts."""

from contextlib import aclosing
from pathlib import Path

import pytest

from prolocutor.errors import ConfigError, NotFound
from prolocutor.plugins.pairing.method_catalog import load_encoder
from tests.plugins.pairing.unit.encoders.made import (
    write_encoder,
    write_tokenizer,
)

pytest.importorskip("onnxruntime", reason="onnxruntime (the extra encoder)")


@pytest.mark.parametrize("name", ["model.onnx", "onnx/model_quantized.onnx", "other.onnx"])
async def test_the_mean_of_the_tokens_without_the_padding_is_the_vector(
    tmp_path: Path, name: str
) -> None:
    write_tokenizer(tmp_path)
    write_encoder((tmp_path / name).parent, Path(name).name)

    async with aclosing(load_encoder(tmp_path)) as encoder:
        rain, both, padded = await encoder.encode(["rain", "rain sun", "rain rain rain rain"])

    assert rain[2] == pytest.approx(1.0)
    assert both[2] == pytest.approx(0.5**0.5)
    assert both[3] == pytest.approx(0.5**0.5)
    assert list(padded) == pytest.approx(list(rain))


async def test_many_texts_and_odd_ones_are_encoded(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    write_encoder(tmp_path)

    async with aclosing(load_encoder(tmp_path)) as encoder:
        found = await encoder.encode(["", "\N{GRINNING FACE}", "sun " * 5000, *map(str, range(70))])

    assert len(found) == 73


def test_what_is_no_model_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"tokenizer\.json"):
        load_encoder(tmp_path)
    write_tokenizer(tmp_path)
    with pytest.raises(NotFound, match=r"no model\.onnx"):
        load_encoder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(ConfigError, match=f"{tmp_path}.*is not a model"):
        load_encoder(tmp_path)
