"""Scores of published packages, where they are installed; a clear word where they are not."""

import importlib.util
import sys

import pytest

from prolocutor.errors import MissingExtra
from prolocutor.plugins.evaluation.parlai.metrics import TeacherMetrics, dict_report

NAMES = ["sacrebleu", "chrf", "rouge1", "rouge2", "rougeL"]


def installed(*packages: str) -> pytest.MarkDecorator:
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(
        bool(missing),
        reason=f"published scores ({', '.join(missing)} of extra evaluation is absent)",
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_package_is_named_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sacrebleu", "sacrebleu.metrics", "rouge_score", "rouge_score.rouge_scorer"):
        monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(MissingExtra, match=rf"'{name}' needs .*prolocutor\[evaluation\]"):
        TeacherMetrics(f"default,{name}")


@installed("sacrebleu", "rouge_score")
@pytest.mark.parametrize("answer", ["Yes.", "Two words", "It is a rather long answer, is it not?"])
def test_a_perfect_answer_has_the_best_score_whatever_its_length(answer: str) -> None:
    report = observed(answer, ["no", answer])

    perfect = {"sacrebleu": 100, "chrf": 100, "rouge1": 1, "rougeL": 1}
    assert {name: report[name] for name in perfect} == pytest.approx(perfect)


@installed("sacrebleu", "rouge_score")
def test_scores_are_those_of_the_published_methods() -> None:
    report = observed("b c d f", ["b c d e"])

    # precisions 3/4, 2/3, 1/2 and, smoothed, 1/2 of one match
    assert report["sacrebleu"] == pytest.approx(100 * (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4))
    assert [report["rouge1"], report["rouge2"], report["rougeL"]] == pytest.approx(
        [3 / 4, 2 / 3, 3 / 4]
    )


@installed("sacrebleu", "rouge_score")
def test_no_labels_give_no_score() -> None:
    assert set(NAMES).isdisjoint(observed("yes", []))


def observed(text: str, labels: list[str]) -> dict[str, float]:
    metrics = TeacherMetrics(["default", *NAMES])
    metrics.evaluate_response({"text": text}, labels)
    assert metrics.failures == {}
    return dict_report(metrics.report())
