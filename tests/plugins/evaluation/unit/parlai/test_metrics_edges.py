"""ParlAI's rarer metrics: rouge, the area under the curve, fairseq's BLEU, and masks of tokens."""

import random
from typing import Any

import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.parlai.metrics import (
    AUCMetrics,
    AverageMetric,
    FairseqBleuMetric,
    RougeMetric,
    SumMetric,
    TeacherMetrics,
    dict_report,
)

PAD, EOS, UNK = 0, 2, 3


def test_tokens_are_added_up_where_the_mask_is_true() -> None:
    made = AverageMetric.from_mask([[0.5, 1.0, 9.0], [1.0, 1.0, 1.0]], [[1, 1, 0], [1, 1, 1]])

    assert [metric.value() for metric in made] == [0.75, 1.0]


@pytest.mark.parametrize("wrong", ["4", [6.8], None])
def test_what_is_no_number_is_refused_as_in_parlai(wrong: Any) -> None:
    for made in (lambda: SumMetric(wrong), lambda: AverageMetric(2, wrong)):
        with pytest.raises(AssertionError, match="made of numbers"):
            made()


def test_rouge_is_the_best_recall_over_the_labels() -> None:
    pytest.importorskip("rouge", reason="ParlAI's rouge (py-rouge is not installed)")

    one, two, longest = RougeMetric.compute_many(
        "The cats sat there.", ["a dog", "The cat sat on the red mat!"]
    )
    assert [round(float(each or 0), 4) for each in (one, two, longest)] == [0.4, 0.25, 0.4]
    f1, _, _ = RougeMetric.compute_many("the cats", ["the cats"], "F")
    assert f1 == 1.0
    with pytest.raises(BadInput, match="measure is r, f or p"):
        RougeMetric.compute_many("a", ["a"], "x")


def test_the_area_under_the_curve_is_the_share_of_pairs_in_the_right_order() -> None:
    draw = random.Random(1)
    labels = [draw.choice("pn") for _ in range(60)]
    chances = [draw.randrange(10) / 10 for _ in labels]
    both = AUCMetrics.raw_data_to_auc(labels[:20], chances[:20], "p") + AUCMetrics.raw_data_to_auc(
        labels[20:], chances[20:], "p"
    )
    pairs = [
        (one > other) + (one == other) / 2
        for label, one in zip(labels, chances, strict=True)
        if label == "p"
        for against, other in zip(labels, chances, strict=True)
        if against == "n"
    ]

    assert both.value() == pytest.approx(sum(pairs) / len(pairs))
    assert AUCMetrics.raw_data_to_auc(["p"], [0.5], "p").value() == 0
    with pytest.raises(AssertionError):
        both + AUCMetrics("n")


def test_a_classifier_gets_an_area_for_each_class() -> None:
    metrics = TeacherMetrics("f1,auc-4")
    for label, chance in (("yes", 0.9), ("no", 0.2), ("no", 0.95)):
        act = {"text": "yes", "text_candidates": ["yes", "no"], "probs": [chance, 1 - chance]}
        metrics.evaluate_response(act, [label])

    report = dict_report(metrics.report())
    assert report["AUC_yes"] == 0.5
    assert report["AUC_no"] == 0.5


@pytest.mark.parametrize(
    ("said", "wanted", "bleu"),
    [
        ([5, 6, 7, 8, EOS], [5, 6, 7, 8, EOS, PAD], [100.0] * 4),
        ([5, 6, 9, 8], [5, 6, 7, 8], [75.0, 50.0, 0.0, 0.0]),
        ([5, 6], [5, 6, 7, 8], [36.788, 36.788, 0.0, 0.0]),
        ([5, 5, 5], [5, 6, 7], [33.333, 0.0, 0.0, 0.0]),
        ([UNK, 6], [UNK, 6], [50.0, 0.0, 0.0, 0.0]),
        ([], [5], [0.0] * 4),
    ],
)
def test_bleu_of_tokens_is_that_of_fairseq(
    said: list[int], wanted: list[int], bleu: list[float]
) -> None:
    made = FairseqBleuMetric.compute_many(said, wanted, PAD, EOS, UNK)

    assert [metric.value() for metric in made] == pytest.approx(bleu, abs=1e-3)


def test_bleu_of_tokens_is_that_of_the_corpus() -> None:
    first = FairseqBleuMetric([5, 6, 7], [5, 6, 7], PAD, EOS, UNK, 2)
    both = first + FairseqBleuMetric([5, 9], [5, 6], PAD, EOS, UNK, 2)

    assert both.value() == pytest.approx((4 / 5 * 2 / 3) ** 0.5 * 100)
    assert first.value() == 100
    with pytest.raises(AssertionError):
        FairseqBleuMetric([1], [-1], PAD, EOS, UNK, 1)
