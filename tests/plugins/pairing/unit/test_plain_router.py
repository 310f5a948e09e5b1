"""The router from Python alone: made of cards, taught, saved and read again."""

from pathlib import Path

import pytest

from prolocutor.plugins.pairing import Router
from tests.plugins.pairing.unit.encoders.made import write_encoder, write_tokenizer

SAID = {
    "weather": "Tells the weather forecast: rain, sun and temperature.",
    "music": "Plays songs and albums.",
}


def best(router: Router, text: str) -> str:
    return router.route(text)[0].agent


def test_descriptions_are_enough() -> None:
    router = Router.from_cards(SAID)

    assert best(router, "will there be rain") == "weather"
    assert best(router, "play me songs") == "music"


def test_a_lesson_counts_at_once_and_after_saving(tmp_path: Path) -> None:
    router = Router.from_cards(SAID)
    router.learn("blorb the frobnitz", ["music"])
    assert best(router, "blorb my frobnitz") == "music"

    router.save(tmp_path / "model")

    assert best(Router.load(tmp_path / "model"), "blorb my frobnitz") == "music"


def test_what_nobody_answers_is_learned() -> None:
    router = Router.from_cards(SAID)
    before = router.route("is the temperature of love high")[0].probability

    router.learn_all([("is the temperature of love high", [])])

    assert router.route("is the temperature of love high")[0].probability < before


def test_an_encoder_is_used_and_kept_apart(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime (the extra encoder)")
    (tmp_path / "small").mkdir()
    write_tokenizer(tmp_path / "small")
    write_encoder(tmp_path / "small")
    router = Router.from_cards(SAID, encoder=tmp_path / "small")
    router.learn_all([("drizzle", ["weather"]), ("a tune", ["music"])])

    router.save(tmp_path / "model")
    again = Router.load(tmp_path / "model", encoder=tmp_path / "small")

    assert [one.agent for one in again.route("drizzle")] == ["weather", "music"]
    assert again.route("tune") == router.route("tune")
