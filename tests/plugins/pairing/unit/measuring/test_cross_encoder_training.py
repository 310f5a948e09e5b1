"""Fine-tuning by folds: measured on unseen questions, stopped early, gone on with, and served."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from prolocutor.cli.main import run
from prolocutor.contracts.pairing import AgentAnswer, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.measuring.cross_encoder_training import FineTuningPlan, fine_tune
from prolocutor.plugins.pairing.measuring.training_plan import TrainingPlan
from prolocutor.plugins.pairing.method_catalog import read_method
from prolocutor.plugins.pairing.model_files import load_model
from prolocutor.plugins.pairing.question_response.pair_lists import PairList
from tests.plugins.pairing.unit.encoders.made import WORDS, write_pair_scorer, write_tokenizer
from tests.plugins.pairing.unit.measuring.made import data, labelled

PLAN = TrainingPlan(role="ranker", method="cross-encoder", folds=2)


class Killed(BaseException):
    """The process ends here."""


class Pupil:
    """Finds refusals after an epoch, and gets no better after that."""

    def __init__(
        self, folder: Path, killed_at: int | None, killed_scoring: int | None = None
    ) -> None:
        self.epochs = 0
        self._folder, self._killed_at = folder, killed_at
        self._killed_scoring = killed_scoring

    def learn(
        self, lists: Sequence[PairList], epoch: int, on_lists: Callable[[int], None]
    ) -> float:
        LEARNED.append((len(lists), epoch))
        if len(LEARNED) == self._killed_at:
            raise Killed
        on_lists(len(lists))
        self.epochs += 1
        return 0.0

    def logits(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        if len(LEARNED) == self._killed_scoring:
            raise Killed
        known = self.epochs > 0
        return [-3.0 if known and "sorry" in answer else 1.0 for _, answer in pairs]

    def state(self) -> bytes:
        return bytes([self.epochs])

    def restore(self, state: bytes) -> None:
        self.epochs = state[0]

    def tokenizer(self) -> str:
        write_tokenizer(self._folder)
        return (self._folder / "tokenizer.json").read_text()

    def to_onnx(self) -> bytes:
        write_pair_scorer(self._folder)
        return (self._folder / "model.onnx").read_bytes()


LEARNED: list[tuple[int, int]] = []


async def tuned(
    folder: Path, killed_at: int | None = None, killed_scoring: int | None = None
) -> Any:
    LEARNED.clear()

    def begin(base: Path, *, seed: int, epochs: int, lists: int) -> Pupil:
        return Pupil(base, killed_at, killed_scoring)

    (folder / "base").mkdir(exist_ok=True)
    plan = FineTuningPlan(base=folder / "base", epochs=6, training=PLAN)
    return await fine_tune(data(0, 40), plan, folder / "model", begin)


async def test_folds_are_measured_and_stop_when_they_get_no_better(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime (the extra encoder)")

    result = await tuned(tmp_path)
    model = load_model(tmp_path / "model")
    ranker: Any = read_method(model, "ranker", (), tmp_path)
    near, far = WORDS[2:4]
    answers = [AgentAnswer(agent=name, text=name) for name in (near, far)]
    ranked = await ranker.rank(UserQuestion(text="rain"), answers, {})

    assert [epoch for _, epoch in LEARNED] == [0, 1, 2, 0, 1, 2, 0]
    assert {one.method: one.precision_at_1 for one in result.rows}["cross-encoder"] == 1
    assert model.card.scores["cross-encoder"][0] == 1
    assert [one.agent for one in ranked] == [far, near]
    assert not (tmp_path / "model.partial").exists()


@pytest.mark.parametrize("killed_at", [2, 5, 7])
async def test_a_killed_training_goes_on_after_its_last_epoch(
    tmp_path: Path, killed_at: int
) -> None:
    with pytest.raises(Killed):
        await tuned(tmp_path, killed_at)

    await tuned(tmp_path)

    assert len(LEARNED) == 7 - killed_at + 1
    assert (tmp_path / "model" / "model.onnx").is_file()


async def test_an_epoch_that_was_learned_and_not_scored_is_not_learned_again(
    tmp_path: Path,
) -> None:
    with pytest.raises(Killed):
        await tuned(tmp_path, killed_scoring=2)

    await tuned(tmp_path)

    assert [epoch for _, epoch in LEARNED] == [2, 0, 1, 2, 0]


async def test_too_few_right_answers_are_told(tmp_path: Path) -> None:
    plan = FineTuningPlan(base=tmp_path, training=PLAN)

    with pytest.raises(BadInput, match="20 are needed"):
        await fine_tune(data(0, 12), plan, tmp_path / "model", lambda *_, **__: Pupil(tmp_path, 0))


def test_a_small_model_is_fine_tuned_and_served_without_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="torch (the extra finetune)")
    transformers = pytest.importorskip("transformers", reason="transformers (the extra finetune)")
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers (the extra finetune)")
    monkeypatch.chdir(tmp_path)
    vocabulary = {word: place for place, word in enumerate([*WORDS, "[CLS]", "[SEP]", ","])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **special).save_pretrained("base")
    transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            num_labels=1,
        )
    ).save_pretrained("base")
    lines = [
        json.dumps({"text": one.question.text, "agents": [*one.gold], "answers": one.answers})
        for one in labelled(30, 3, answers=True)
    ]
    Path("q.jsonl").write_text("\n".join(lines))
    words = ["--method", "cross-encoder", "--base", "base", "--folds", "2", "--epochs", "1"]

    assert run(["train", "ranker", "--data", "jsonl:q.jsonl", "--out", "model", *words]) == 0

    assert "\n  cross-encoder" in capsys.readouterr().out
    assert read_method(load_model("model"), "ranker", (), tmp_path) is not None


def test_what_a_cross_encoder_needs_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text('{"text": "rain", "agents": ["a"], "answers": {"a": "b"}}')
    words = ["--data", "jsonl:q.jsonl", "--out", "model", "--method", "cross-encoder"]

    assert run(["train", "ranker", *words]) == 2

    assert "needs --base FOLDER" in capsys.readouterr().err
