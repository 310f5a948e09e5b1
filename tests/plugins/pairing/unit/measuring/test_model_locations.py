"""Models by options: an encoder and a scorer from folders, endpoints by URL, what is missing."""

import json
from pathlib import Path

import pytest

from prolocutor.cli.main import run
from prolocutor.errors import NotFound
from prolocutor.plugins.pairing.measuring.model_locations import ModelLocations, open_models
from tests.chat_peer import chat_peer
from tests.embeddings_peer import embeddings_peer
from tests.plugins.pairing.unit.encoders.made import (
    write_encoder,
    write_tokenizer,
)
from tests.plugins.pairing.unit.measuring.made import labelled


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = [
        json.dumps({"text": one.question.text, "agents": [*one.gold], "answers": one.answers})
        for one in labelled(20, 3, answers=True)
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_local_models_are_measured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime (the extra encoder)")
    (folder / "encoder").mkdir()
    write_tokenizer(folder / "encoder")
    write_encoder(folder / "encoder")
    words = ["--router", "learned", "--ranker", "unsupervised", "--budget", "top:1"]
    places = ["--encoder", "encoder"]

    ran = run(["evaluate", "pairing", "--data", "jsonl:q.jsonl", "--folds", "2", *words, *places])

    told = capsys.readouterr().out
    assert ran == 0
    assert all(f"\n{name} " in told for name in ("learned", "unsupervised"))


async def test_endpoints_are_asked_and_left() -> None:
    async with embeddings_peer() as vectors, chat_peer("hello") as model:
        places = ModelLocations(encoder=f"{vectors.url}?model=m", chat=f"{model.url}?model=m")
        async with open_models(places) as models:
            assert models.encoder is not None
            assert models.complete is not None
            assert len(await models.encoder.encode(["a", "b"])) == 2
            assert await models.complete([{"role": "user", "content": "hi"}]) == "hello"
        assert places.needs == {"labels", "encoder", "chat"}
    assert model.asked[0]["messages"] == [{"role": "user", "content": "hi"}]


async def test_a_folder_that_is_not_there_is_told() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime (the extra encoder)")
    with pytest.raises(NotFound, match=r"tokenizer\.json"):
        async with open_models(ModelLocations(encoder="nowhere")):
            pass


def test_what_a_named_method_needs_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--data", "jsonl:q.jsonl", "--ranker", "none"]

    assert run(["evaluate", "pairing", *words, "--router", "llm"]) == 2

    assert "the router llm needs --chat" in capsys.readouterr().err
