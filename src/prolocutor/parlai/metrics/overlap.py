"""Words in common: precision, recall and F1 of a guess against labels.

Source: SQuAD's evaluation (Rajpurkar et al. 2016) as ParlAI 1.7.2 has it: words are counted with
their repetitions, and over several labels each of the three takes its best value for itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

_FEW: Final = 64


def best_overlap(
    guess: Sequence[str], labels: Iterable[Sequence[str]]
) -> tuple[float, float, float]:
    """Give the best precision, recall and F1 of the normal words `guess`, each for itself."""
    best_precision = best_recall = best_f1 = 0.0
    different = set(guess)
    for label in labels:
        common = _in_common(guess, different, label)
        if not common:
            continue
        precision, recall = common / len(guess), common / len(label)
        f1 = (2 * precision * recall) / (precision + recall)
        if precision > best_precision:
            best_precision = precision
        if recall > best_recall:
            best_recall = recall
        if f1 > best_f1:
            best_f1 = f1
    return best_precision, best_recall, best_f1


def _in_common(guess: Sequence[str], different: set[str], label: Sequence[str]) -> int:
    """Count the words in common, each as often as it stands in both."""
    if len(different) == len(guess):
        return len(different.intersection(label))
    common = different.intersection(label)
    if len(guess) + len(label) <= _FEW:
        return sum(min(guess.count(word), label.count(word)) for word in common)
    in_guess, in_label = Counter(guess), Counter(label)
    return sum(min(in_guess[word], in_label[word]) for word in common)
