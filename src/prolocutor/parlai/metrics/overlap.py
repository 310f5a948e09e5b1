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
    """Return the best precision, recall and F1 of the normal words `guess`, each for itself."""
    best_precision = best_recall = best_f1 = 0.0
    different = set(guess)
    common_may_repeat = len(different) < len(guess)
    for label in labels:
        shared = different.intersection(label)
        if not shared:
            continue
        common = len(shared)
        if common_may_repeat:
            common = _with_repetitions(shared, guess, label)
        precision, recall = common / len(guess), common / len(label)
        f1 = (2 * precision * recall) / (precision + recall)
        if precision > best_precision:
            best_precision = precision
        if recall > best_recall:
            best_recall = recall
        if f1 > best_f1:
            best_f1 = f1
    return best_precision, best_recall, best_f1


def _with_repetitions(shared: set[str], guess: Sequence[str], label: Sequence[str]) -> int:
    """Count the shared words, each as often as it stands in both."""
    if len(guess) + len(label) <= _FEW:
        return sum([min(guess.count(word), label.count(word)) for word in shared])
    in_guess, in_label = Counter(guess), Counter(label)
    return sum([min(in_guess[word], in_label[word]) for word in shared])
