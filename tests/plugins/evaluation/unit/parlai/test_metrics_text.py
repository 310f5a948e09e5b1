"""Scores of a text against labels: cases by hand, bounds."""

from math import exp, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.evaluation.parlai.metrics import (
    BleuMetric,
    ExactMatchMetric,
    F1Metric,
    InterDistinctMetric,
    IntraDistinctMetric,
)
from prolocutor.plugins.evaluation.parlai.metrics.text_scores import (
    best_overlap,
    bleu_scores,
    rank_of_first,
)

WORDS = st.lists(st.sampled_from(["b", "c", "d", "e"]), max_size=9)
LABELS = st.lists(WORDS, min_size=1, max_size=4)
LONG = "x y " * 40


@pytest.mark.parametrize(
    ("guess", "labels", "precision", "recall", "f1"),
    [
        ("yes", ["yes"], 1, 1, 1),
        ("yes", ["no"], 0, 0, 0),
        ("", [""], 0, 0, 0),
        ("the", ["a"], 0, 0, 0),
        ("b c", ["b"], 1 / 2, 1, 2 / 3),
        ("b", ["b c"], 1, 1 / 2, 2 / 3),
        ("b c", ["b", "b c d e"], 1, 1, 2 / 3),
        ("b b b", ["b b c"], 2 / 3, 2 / 3, 2 / 3),
        ("b b c c", ["b c"], 1 / 2, 1, 2 / 3),
        (LONG + "z", [LONG], 80 / 81, 1, 160 / 161),
        ("b", [], 0, 0, 0),
    ],
)
def test_precision_recall_and_f1_each_take_their_best_label(
    guess: str, labels: list[str], precision: float, recall: float, f1: float
) -> None:
    found = F1Metric.compute(guess, labels, expose_p_and_r=True)

    assert [one.value() for one in found] == pytest.approx([precision, recall, f1], abs=1e-15)
    assert F1Metric.compute(guess, labels) == found[2]


@pytest.mark.parametrize(
    ("guess", "labels", "score"),
    [("The cat!", ["dog", "cat"], 1), ("the", [""], 1), ("cat", ["cats"], 0), ("cat", [], 0)],
)
def test_a_guess_is_right_when_it_is_a_label_after_normalising(
    guess: str, labels: list[str], score: float
) -> None:
    assert ExactMatchMetric.compute(guess, labels) == score


def test_nothing_to_compare_counts_nothing() -> None:
    assert ExactMatchMetric.compute("b", None) is None
    assert F1Metric.compute(None, ["b"]).observations() == 0


@pytest.mark.parametrize(
    ("guess", "labels", "scores"),
    [
        ("b c d e", ["b c d e"], [1, 1, 1, 1]),
        ("b c d f", ["b c d e"], [3 / 4, sqrt(1 / 2), (1 / 4) ** (1 / 3), (1e-12 / 4) ** (1 / 4)]),
        ("b c", ["b c"], [1, 1, 1e-4, 1e-6]),
        ("b", ["b"], [1, 1e-6, 1e-8, 1e-9]),
        ("", [""], [1, 1e-6, 1e-8, 1e-9]),
        ("", ["b"], [0, 0, 0, 0]),
        ("x", ["b"], [0, 0, 0, 0]),
        ("b b", ["b c"], [1 / 2, sqrt(1e-12 / 2), (1e-12**2 / 2) ** (1 / 3), 1e-9 / 2**0.25]),
        ("b c", ["b c d e"], [exp(-1), exp(-1), exp(-1) * 1e-4, exp(-1) * 1e-6]),
        ("b x", ["b", "x y z"], [1, 1e-6, 1e-8, 1e-9]),
    ],
)
def test_bleu_is_that_of_the_published_formula(
    guess: str, labels: list[str], scores: list[float]
) -> None:
    found = [BleuMetric.compute(guess, labels, k).value() for k in (1, 2, 3, 4)]

    assert found == pytest.approx(scores, rel=1e-12)


@given(guess=WORDS, labels=LABELS)
def test_scores_lie_between_0_and_1(guess: list[str], labels: list[list[str]]) -> None:
    scores = [*best_overlap(guess, labels), *bleu_scores(guess, labels, (1, 2, 3, 4))]

    assert all(0 <= score <= 1 for score in scores)


@given(guess=WORDS, label=WORDS)
def test_f1_of_one_label_is_the_harmonic_mean(guess: list[str], label: list[str]) -> None:
    precision, recall, f1 = best_overlap(guess, [label])

    assert f1 * (precision + recall) == pytest.approx(2 * precision * recall)
    assert best_overlap(label, [guess]) == pytest.approx((recall, precision, f1))


@given(guess=WORDS, labels=LABELS)
def test_another_label_never_makes_bleus_precision_or_the_overlap_worse(
    guess: list[str], labels: list[list[str]]
) -> None:
    one, all_ = best_overlap(guess, labels[:1]), best_overlap(guess, labels)

    assert all(more >= less for more, less in zip(all_, one, strict=True))
    assert bleu_scores(guess, [*labels, guess], (1,)) == [1.0]


@pytest.mark.parametrize(
    ("texts", "order", "intra", "inter"),
    [
        (["b b b c"], 1, 1 / 2, 1 / 2),
        (["b b b c"], 2, 2 / 3, 2 / 3),
        (["b c", "b c"], 1, 1, 1 / 2),
        (["b"], 2, 1e-7, 1e-7),
        (["b c", "b d"], 2, 1, 1),
    ],
)
def test_distinct_is_the_share_of_different_ngrams(
    texts: list[str], order: int, intra: float, inter: float
) -> None:
    intras = [IntraDistinctMetric.compute(text, order) for text in texts]
    inters = [InterDistinctMetric.compute(text, order) for text in texts]

    assert float(sum(intras[1:], start=intras[0])) == pytest.approx(intra)
    assert float(sum(inters[1:], start=inters[0])) == pytest.approx(inter)


@pytest.mark.parametrize(
    ("candidates", "within", "rank"),
    [
        (["no", "Yes!"], None, 2),
        (["no", "yes"], 1, None),
        ([], None, None),
        (iter(["the yes"]), None, 1),
    ],
)
def test_the_rank_is_that_of_the_first_right_candidate(
    candidates: list[str], within: int | None, rank: int | None
) -> None:
    assert rank_of_first(candidates, ["maybe", "yes"], within=within) == rank
