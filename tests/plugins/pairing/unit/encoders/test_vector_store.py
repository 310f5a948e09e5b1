"""Stored vectors: encoded once, kept over runs, dropped when the encoder is another one."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from prolocutor.plugins.pairing.encoders.meanings import PROBES
from prolocutor.plugins.pairing.encoders.vector_cache import ModelGone, StoredEncoder, cache_file
from tests.plugins.pairing.unit.encoders.made import WordEncoder


class TurnedEncoder(WordEncoder):
    """Gives the vectors of another encoder."""

    async def encode(self, texts: Sequence[str]) -> list[list[float]]:
        return [vector[::-1] for vector in await super().encode(texts)]


async def encoded(encoder: WordEncoder, file: Path, texts: list[str]) -> list[list[float]]:
    stored = StoredEncoder(encoder, file)
    try:
        await stored.open()
        encoder.asked.clear()
        return [list(vector) for vector in await stored.encode(texts)]
    finally:
        stored.close()


async def test_a_text_is_encoded_in_one_run_only(tmp_path: Path) -> None:
    file, first, second = tmp_path / "deep" / "v.db", WordEncoder(), WordEncoder()

    made = await encoded(first, file, ["rain", "sun", "rain"])
    again = await encoded(second, file, ["sun", "song"])

    assert first.asked == ["rain", "sun"]
    assert second.asked == ["song"]
    assert again[0] == made[1]


async def test_vectors_of_another_encoder_are_dropped(tmp_path: Path) -> None:
    other = TurnedEncoder()
    await encoded(WordEncoder(), tmp_path / "v.db", ["rain"])

    found = await encoded(other, tmp_path / "v.db", ["rain"])

    assert other.asked == ["rain"]
    assert found[0] == pytest.approx((await WordEncoder().encode(["rain"]))[0][::-1])


async def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    file, texts = tmp_path / "v.db", [f"rain {n}" for n in range(300)]
    await encoded(WordEncoder(), file, texts)
    healthy = file.read_bytes()
    file.write_bytes(healthy[:4096] + b"\xa7" * (len(healthy) - 4096))
    first, second = WordEncoder(), WordEncoder()

    assert len(await encoded(first, file, ["rain 1"])) == 1
    await encoded(second, file, ["rain 1"])

    assert first.asked == ["rain 1"]
    assert second.asked == []


async def test_a_file_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    assert len(await encoded(WordEncoder(), tmp_path / "file" / "v.db", ["rain"])) == 1


async def test_a_dead_encoder_is_an_error_at_once(tmp_path: Path) -> None:
    encoder = WordEncoder()
    encoder.broken = True

    with pytest.raises(ModelGone):
        await StoredEncoder(encoder, tmp_path / "v.db").open()


def test_a_folder_has_one_file_under_any_of_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "model").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "model")

    assert cache_file(str(tmp_path / "link")) == cache_file(str(tmp_path / "model"))
    assert cache_file("http://one/v1").parent == tmp_path / "cache" / "prolocutor" / "vectors"
    assert len(PROBES) == 3
