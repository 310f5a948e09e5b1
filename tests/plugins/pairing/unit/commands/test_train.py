"""`prolocutor train`: labels become a model, ratings are labels, faults are told in a line."""

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.main import run
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.pairing.model_files import load_model
from tests.plugins.pairing.unit.measuring.made import CARDS, labelled

# Importing them takes seconds, so that is left to the tests.
pytestmark = [
    pytest.mark.skipif(find_spec(library) is None, reason=f"{name} (the extra learn)")
    for library, name in (("sklearn", "scikit-learn"), ("lightgbm", "lightgbm"))
]

YAML = "skills:\n" + "".join(
    f"  {card.name}: {{call: 'no:{card.name}', card: {{description: '{card.description}'}}}}\n"
    for card in CARDS
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = [
        json.dumps({"text": one.question.text, "agents": [*one.gold], "answers": one.answers})
        for one in labelled(80, 3, answers=True)
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    (tmp_path / "assistant.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def out(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_router_is_trained_and_its_worth_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--data", "jsonl:q.jsonl", "--out", "router", "--assistant", "assistant.yaml"]
    assert run(["train", "router", *words]) == 0

    told = out(capsys)
    assert told.startswith("3 agents, 72 questions in ")
    assert "precision@1 by 5 folds, with 95 % interval\n  learned" in told
    assert "Training helps: +" in told
    assert told.endswith(f"{load_model(folder / 'router').id} is in router\n")


@pytest.mark.slow
def test_a_ranker_is_trained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--method", "learned", "--prior", "learned", "--folds", "2"]

    assert run(["train", "ranker", "--data", "jsonl:q.jsonl", "--out", "ranker", *words]) == 0

    assert "\n  learned" in out(capsys)
    assert load_model(folder / "ranker").method == "learned"


def test_that_training_does_not_help_is_said_plainly(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        json.dumps({"text": f"question {n} {n * n}", "agents": ["a" if n % 2 else "b"]})
        for n in range(12)
    ]
    (folder / "few.jsonl").write_text("\n".join(lines))

    run(["train", "router", "--data", "jsonl:few.jsonl", "--out", "model", "--method", "learned"])

    assert "by 12 labelled questions" in (told := out(capsys)) or "does harm" in told
    assert "Training helps" not in told


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--data", "jsonl:bad.jsonl"], "bad.jsonl:2: agents: 3 are not the names of agents"),
        (["--data", "jsonl:nowhere.jsonl"], "nowhere.jsonl: there is no such file"),
        (["--data", "jsonl:q.jsonl", "--method", "linaer"], "no router 'linaer'"),
        (["--data", "jsonl:q.jsonl", "--assistant", "bad.yaml"], "skills.a.card: "),
        (["--data", "q.jsonl"], "is not KIND:PATH"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    (folder / "bad.jsonl").write_text('{"text": "a", "agents": "x"}\n{"text": "b", "agents": 3}\n')
    (folder / "bad.yaml").write_text("skills: {a: {call: 'a:b', card: {examples: 3}}}")

    assert run(["train", "router", "--out", "model", *words]) == 1

    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert why in told.err
    assert not (folder / "model").exists()


async def converse(file: Path) -> None:
    """Let two skills answer twelve questions of which the first knows the even ones; rate each."""

    def even(request: dict[str, Any]) -> list[dict[str, Any]]:
        said = request["utterances"][-1]["text"]
        return [{"text": f"about {said}", "confidence": 0.9 if "rain" in said else 0.1}]

    def odd(request: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"text": "Sorry, I cannot do that.", "confidence": 0.5}]

    skills = [Service("even", even, inline=True), Service("odd", odd, inline=True)]
    async with Assistant(Pipeline(skills=skills), store=f"sqlite:///{file}") as assistant:
        for n in range(24):
            subject = "rain" if n % 2 == 0 else "song"
            turn = await assistant.turn(f"{subject} number {n}", user="ann")
            rating = 1 if subject == "rain" else -1
            await assistant.store.rate_utterance(turn.reply.utt_id, rating, "ann", "2026-11-20")


def test_thumbs_of_a_store_are_labels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(converse(folder / "store.db"))

    assert (
        run(["train", "router", "--data", "store:store.db", "--out", "m", "--method", "learned"])
        == 0
    )
    assert "2 agents, 24 questions" in out(capsys)
    assert load_model(folder / "m").agents == ["even", "odd"]
