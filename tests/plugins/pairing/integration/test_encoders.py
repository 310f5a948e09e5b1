"""Encoders from training to turns: by a folder and by an endpoint, the wrong one, a dead one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from prolocutor.assistant.runner import run as wait_for
from prolocutor.cli.main import run
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.measuring.model_locations import ModelLocations, open_models
from prolocutor.plugins.pairing.measuring.training import TrainingPlan, train
from prolocutor.plugins.pairing.model_files import load_model
from tests.embeddings_peer import embeddings_peer
from tests.plugins.pairing.integration.agents import Agent, assistant_of, record, turn
from tests.plugins.pairing.unit.encoders.made import write_encoder, write_tokenizer
from tests.plugins.pairing.unit.measuring.made import CARDS, data, labelled

pytest.importorskip("onnxruntime", reason="onnxruntime (the extra encoder)")

SKILLS = "skills:\n" + "".join(
    f"  {card.name}: {{call: 'os.path:basename', card: {{description: '{card.description}'}}}}\n"
    for card in CARDS
)
TRAIN = ["train", "router", "--data", "jsonl:q.jsonl", "--assistant", "bare.yaml", "--folds", "2"]


def write_model(folder: Path, name: str) -> None:
    """Write an encoder's folder."""
    write_encoder(folder / name)
    write_tokenizer(folder / name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = [
        json.dumps({"text": one.question.text, "agents": [*one.gold], "answers": one.answers})
        for one in labelled(40, 3, answers=True)
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    (tmp_path / "bare.yaml").write_text(SKILLS)
    write_model(tmp_path, "small")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(folder: Path, selector: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Check a file with this skill selector; return what is said of its line, "" if it is good."""
    (folder / "assistant.yaml").write_text(f"skill_selector: {selector}\n{SKILLS}")
    capsys.readouterr()
    failed = run(["check", "assistant.yaml"])
    told = capsys.readouterr()
    assert bool(failed) == ("assistant.yaml:1:" in told.err), told
    return told.err if failed else ""


def test_a_router_is_trained_with_a_folder_checked_and_served(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--encoder", "small", "--out", "model"]
    misspelt = '{"text": "rain", "agents": ["wether"]}'
    (folder / "q.jsonl").write_text(f"{(folder / 'q.jsonl').read_text()}\n{misspelt}")
    assert run([*TRAIN, *words]) == 0
    assert "bare.yaml has no skill for: wether" in capsys.readouterr().err
    assert load_model(folder / "model").settings["encoder"] == "small"
    assert list((folder / "cache" / "prolocutor" / "vectors").glob("*.db"))

    model = "router: learned, model: model"
    assert check(folder, f"{{{model}, encoder: small}}", capsys) == ""
    assert "was trained with the encoder small (" in check(folder, f"{{{model}}}", capsys)
    assert "there is no such file" in check(folder, f"{{{model}, encoder: gone}}", capsys)

    (folder / "other").mkdir()
    write_tokenizer(folder / "other")
    (folder / "other" / "model.onnx").write_bytes(turned(folder))
    told = check(folder, f"{{{model}, encoder: other}}", capsys)
    assert "skill_selector.encoder: " in told
    assert "the encoder small (" in told
    assert "'other' gives other vectors" in told


def turned(folder: Path) -> bytes:
    """Return a model like the small one, of which the words have each other's vectors."""
    onnx = pytest.importorskip("onnx", reason="onnx (the extra dev)")
    model = onnx.load(str(folder / "small" / "model.onnx"))
    table = onnx.numpy_helper.to_array(model.graph.initializer[0])[:, ::-1] + 0.25
    table = table * [1, -1] * 8 if table.shape[1] == 2 else table * ([1, -1] * 8)
    model.graph.initializer[0].CopyFrom(
        onnx.numpy_helper.from_array(table.astype("float32"), "table")
    )
    encoded: bytes = model.SerializeToString()
    return encoded


def test_the_learned_router_starts_by_cards_with_or_without_an_encoder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(folder, "{router: learned, encoder: small}", capsys) == ""
    assert check(folder, "{router: learned}", capsys) == ""


def test_a_dead_endpoint_ends_training_and_measuring_with_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = ["--encoder-url", "http://127.0.0.1:9/v1/embeddings"]
    measure = ["evaluate", "pairing", "--data", "jsonl:q.jsonl", "--router", "learned"]

    for words in ([*TRAIN, "--method", "learned", "--out", "m"], measure):
        assert run([*words, *url]) == 1
        told = capsys.readouterr()
        assert "the encoder http://127.0.0.1:9/v1/embeddings fails: " in told.err
        assert "precision" not in told.out
    assert not (folder / "m").exists()


async def test_in_a_turn_a_dead_endpoint_is_a_fault_and_the_rest_goes_on(folder: Path) -> None:
    agents = {
        card.name: Agent(f"{card.name} it is", card={"description": card.description})
        for card in CARDS
    }
    async with embeddings_peer() as peer:
        url = peer.url
        async with open_models(ModelLocations(encoder=f"{url}?model=m")) as models:
            plan = TrainingPlan(role="router", method="learned", folds=2, models=models)
            await train(data(40, 20), plan, folder / "model")
        call = f"connector: openai_embeddings, call: {{url: '{url}', model: m}}"
        top = "budget: {policy: top, calls: 1}"
        yaml = f"skill_selector: {{router: learned, model: model, {call}, {top}}}\n"
        async with assistant_of(folder, agents, yaml) as assistant:
            whole = record(await turn(assistant, "temperature of lima 7", user="ann"))
    async with assistant_of(folder, agents, yaml) as assistant:
        result = await turn(assistant, "temperature of lima 7", user="bob")

    assert whole.faults == []
    assert result.reply.text == "weather it is"
    faults = {one["service"]: one["what"] for one in record(result).faults}
    assert set(faults) == {"skill_selector"}
    assert all("the encoder 'm' failed: " in what for what in faults.values())


async def test_in_a_turn_a_silent_endpoint_is_waited_for_once(folder: Path) -> None:
    agents = {card.name: Agent(f"{card.name} it is", card={"description": card.description})
              for card in CARDS}  # fmt: skip
    async with embeddings_peer() as peer:
        async with open_models(ModelLocations(encoder=f"{peer.url}?model=m")) as models:
            plan = TrainingPlan(role="router", method="learned", folds=2, models=models)
            await train(data(40, 20), plan, folder / "model")
        call = f"connector: openai_embeddings, call: {{url: '{peer.url}', model: m}}"
        top = "budget: {policy: top, calls: 1}"
        yaml = f"skill_selector: {{router: learned, model: model, {call}, {top}}}\n"
        async with assistant_of(folder, agents, yaml) as assistant:
            peer.silent = asyncio.Event()
            first = record(await turn(assistant, "temperature of lima 7", user="ann"))
            again = record(await turn(assistant, "temperature of lima 8", user="ann"))

    assert [one["what"] for one in first.faults] == ["the encoder 'm' gave no answer for 1.5 s"]
    assert [one["what"] for one in again.faults] == [
        "the encoder 'm' gave no answer for 1.5 s a moment ago"
    ]
    assert len(first.asked) == len(again.asked) == 1


def test_a_server_does_not_start_with_another_encoder(folder: Path) -> None:
    assert run([*TRAIN, "--method", "learned", "--encoder", "small", "--out", "model"]) == 0
    file = folder / "assistant.yaml"
    file.write_text(f"skill_selector: {{router: learned, model: model}}\n{SKILLS}")

    async def start() -> None:
        async with build_assistant(load(file, environ={}), store="memory:"):
            pass

    with pytest.raises(ConfigError, match=r"was trained with the encoder small \("):
        wait_for(start())
