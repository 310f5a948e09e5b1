"""A cross-encoder as one feature of a ranker: learned without a leak, checked, served, and dead."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prolocutor.cli.main import run
from prolocutor.contracts.pairing import AgentAnswer, UserQuestion
from prolocutor.errors import BadInput, BadReply, ConfigError
from prolocutor.plugins.pairing.measuring.cross_encoder_training import FineTuningPlan, fine_tune
from prolocutor.plugins.pairing.measuring.training_plan import TrainingPlan
from prolocutor.plugins.pairing.method_catalog import load_cross_encoder, read_method
from prolocutor.plugins.pairing.model_files import Model, load_model, save_model
from tests.plugins.pairing.unit.encoders.made import write_tokenizer
from tests.plugins.pairing.unit.measuring.made import data, labelled
from tests.plugins.pairing.unit.measuring.test_cross_encoder_training import Pupil

pytest.importorskip("onnxruntime", reason="onnxruntime (the extra encoder)")
pytest.importorskip("lightgbm", reason="lightgbm (the extra learn)")
from prolocutor.plugins.pairing.question_response.crossing import Crossing
from prolocutor.plugins.pairing.question_response.meant_ranker import with_models
from prolocutor.plugins.pairing.question_response.unseen_scores import UnseenCrossEncoder

QUESTION = UserQuestion(text="rain in oslo")
ANSWERS = [
    AgentAnswer(agent="weather", text="oslo weather"),
    AgentAnswer(agent="bank", text="sorry, I cannot do that"),
]
TRAIN = ["train", "ranker", "--data", "jsonl:q.jsonl", "--prior", "knn", "--folds", "2"]
SEEN = labelled(40, 2, answers=True)[1]


class LiveEncoder:
    """Gives every pair the same number, unless it is broken or never answers."""

    id = "cross-encoder-made"

    def __init__(self, fault: BaseException | None = None, *, silent: bool = False) -> None:
        self.asked: list[tuple[str, str]] = []
        self._fault, self._silent = fault, silent

    async def numbers(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float | None]:
        self.asked += pairs
        if self._silent:
            await asyncio.Event().wait()
        if self._fault is not None:
            raise self._fault
        return [9.0 for _ in pairs]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a cross-encoder, and a ranker with it."""
    folder = tmp_path_factory.mktemp("crossed")
    (folder / "base").mkdir()
    write_tokenizer(folder / "base")
    plan = FineTuningPlan(
        base=folder / "base",
        epochs=1,
        training=TrainingPlan(role="ranker", method="cross-encoder", folds=2),
    )

    def begin(*_: Any, **__: Any) -> Pupil:
        return Pupil(folder / "base", None)

    asyncio.run(fine_tune(data(0, 40), plan, folder / "cross", begin))
    lines = [
        json.dumps({"text": one.question.text, "agents": [*one.gold], "answers": one.answers})
        for one in labelled(40, 2, answers=True)
    ]
    (folder / "q.jsonl").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run([*TRAIN, "--cross-encoder", "cross", "--out", "model"]) == 0
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def checked(folder: Path, selector: str, capsys: pytest.CaptureFixture[str]) -> str:
    (folder / "assistant.yaml").write_text(
        f"skills:\n  weather: {{call: 'os.path:basename'}}\n  bank: {{call: 'os.path:basename'}}\n"
        f"response_selector: {selector}\n"
    )
    run(["check", "assistant.yaml"])
    told = capsys.readouterr()
    return told.out + told.err


def crossed(model: Model, encoder: Any) -> Any:
    other = msgspec.structs.replace(model, settings=model.settings | {"cross_encoder": encoder.id})
    return with_models(
        read_method(other, "ranker", (), Path()), other, None, Crossing(encoder, 0.05)
    )


def test_a_file_names_the_cross_encoder_that_the_ranker_learned_with(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id_ = load_model(folder / "cross").id
    other = msgspec.structs.replace(load_model(folder / "cross"), agents=["others"])
    other_id = save_model(folder / "other", other)

    assert load_model(folder / "model").settings["cross_encoder"] == id_
    good = "{ranker: ensemble, model: model, cross_encoder: cross}"
    assert "cross_encoder" not in checked(folder, good, capsys)
    without = checked(folder, "{ranker: ensemble, model: model}", capsys)
    assert f"was trained with {id_}: give cross_encoder: FOLDER" in without
    wrong = checked(folder, "{ranker: ensemble, model: model, cross_encoder: other}", capsys)
    assert "response_selector.cross_encoder: " in wrong
    assert f"was trained with {id_}, and {other_id} is given" in wrong
    none = checked(folder, "{ranker: ensemble, model: model, cross_encoder: model}", capsys)
    assert "not of a cross-encoder" in none
    gone = checked(folder, "{ranker: ensemble, model: model, cross_encoder: gone}", capsys)
    assert "gone" in gone
    unread = checked(folder, "{ranker: unsupervised, cross_encoder: cross}", capsys)
    assert "reads no cross-encoder" in unread


def test_what_learns_from_no_answers_takes_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--data", "jsonl:q.jsonl", "--cross-encoder", "cross", "--out", "none"]

    assert run(["train", "router", *words]) == 2
    assert run(["train", "ranker", "--method", "unsupervised", *words]) == 2
    assert run([*TRAIN, "--cross-encoder", "model", "--out", "none"]) != 0
    assert "not of a cross-encoder" in capsys.readouterr().err
    assert not (folder / "none").exists()


async def test_a_served_ranker_reads_it_and_goes_on_without_it(folder: Path) -> None:
    model = load_model(folder / "model")
    live = load_cross_encoder(load_model(folder / "cross"))

    ranked = await with_models(
        read_method(model, "ranker", (), folder), model, None, Crossing(live)
    ).rank(QUESTION, ANSWERS, {})
    broken = await crossed(model, LiveEncoder(BadReply("no memory"))).rank(QUESTION, ANSWERS, {})
    silent_ranker = crossed(model, LiveEncoder(silent=True))
    silent = await silent_ranker.rank(QUESTION, ANSWERS, {})
    rested = await silent_ranker.rank(QUESTION, ANSWERS, {})
    await live.aclose()

    assert (ranked[0].agent, ranked[0].fault) == ("weather", "")
    assert broken[0].agent == silent[0].agent == "weather"
    assert broken[0].fault.startswith("the cross-encoder cross-encoder-made failed: ")
    assert silent[0].fault == "the cross-encoder cross-encoder-made is silent for 0.05 s"
    assert rested[0].fault.endswith("a moment ago")


async def test_what_was_learned_has_the_score_of_a_model_that_had_not_seen_it(
    folder: Path,
) -> None:
    model, live = load_model(folder / "cross"), LiveEncoder()
    asked, (answer, *_) = SEEN.question.text, SEEN.answers.values()
    near = f"{asked} {asked}"
    encoder = UnseenCrossEncoder.of_model(model, live, [asked, near, "what is new"])

    found = await encoder.numbers(
        [(asked, answer), (asked, "never said"), (near, answer), ("what is new", answer)]
    )

    assert found[0] is not None
    assert found[0] < 9
    assert found[1:] == [None, None, 9.0]
    assert live.asked == [("what is new", answer)]
    with pytest.raises(BadInput, match="has learned none of these questions"):
        UnseenCrossEncoder.of_model(model, live, ["what is new"])
    bare = msgspec.structs.replace(model, parts={})
    with pytest.raises(ConfigError, match="has no scores of unseen questions"):
        UnseenCrossEncoder.of_model(bare, live, [asked])


def test_measuring_with_it_takes_unseen_scores(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", "pairing", "--data", "jsonl:q.jsonl", "--router", "knn", "--folds", "4"]
    more = ["--ranker", "learned", "--budget", "top:1", "--cross-encoder", "cross"]

    assert run([*words, *more]) == 0
    assert "learned" in capsys.readouterr().out
