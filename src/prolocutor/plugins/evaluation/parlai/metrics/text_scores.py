"""Scores of texts: normal form, shared words, BLEU, rank; equal to ParlAI 1.7.2's.

- Normal form, `normalize_answer`: as in SQuAD's evaluation (Rajpurkar et al. 2016) save that
  punctuation becomes space: lower case, each ASCII punctuation mark to a space, the articles a, an,
  the as whole words to a space, white space to single spaces.
- Shared words (the same source): counted with their repetitions; over several labels precision,
  recall and F1 each take their best value.
- BLEU of one sentence, as nltk computes it (Papineni et al. 2002: clipped precisions, closest
  reference, brevity penalty), with smoothing method 1 of Chen and Cherry 2014: a precision without
  a match counts epsilon = 1e-12 matches. The weights are uniform, a missing order counts as 0 of 1,
  and an empty text is one empty word. So a perfect answer of fewer words than the highest order
  scores next to nothing; `sacrebleu` (`score_functions.py`) does not have this defect.
- The rank of the first right candidate, for ParlAI's hits@k and for the mean reciprocal rank of
  TREC-8 (Voorhees 1999).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from math import exp, fsum, log
from typing import Final

ARTICLES: Final = frozenset(("a", "an", "the"))

_PUNCTUATION: Final = b"!\"#$%&()*+,-./:;<=>?@[]\\^`{|}~_'"
_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")

# All marks are ASCII, so they can be replaced in the bytes of UTF-8, which is the quickest way.
_SPACED: Final = bytes.maketrans(_PUNCTUATION, b" " * len(_PUNCTUATION))
_LOWERED: Final = bytes(_SPACED[byte] for byte in bytes(range(256)).lower())

_KEPT_CANDIDATES: Final = 8192
_LONGEST_KEPT: Final = 256

_FEW: Final = 64

Gram = str | tuple[str, ...]

_EPSILON: Final = 1e-12
"""The count in place of 0, as in ParlAI, because 0 has no logarithm."""

_EMPTY: Final = [""]


def normalize_answer(text: str) -> str:
    """Return the normal form of `text`: its normal words with a space between each two."""
    return " ".join(normal_words(text))


def normal_words(text: str) -> list[str]:
    """Return the normal words of `text`.

    They are not cached: a cache would cost new texts a quarter more time.
    """
    if text.isascii():
        words = text.encode().translate(_LOWERED).decode().split()
        only_words = text.isprintable() or "".join(words).isalnum()
    else:
        spaced = text.lower().encode("utf-8", "surrogatepass").translate(_SPACED)
        words = spaced.decode("utf-8", "surrogatepass").split()
        only_words = "".join(words).isalnum()
    if not only_words:
        # Signs that are not part of a word are left (quotes, dashes, accents of their own, control
        # characters), and an article may stand between them.
        return _ARTICLE.sub(" ", " ".join(words)).split()
    if ARTICLES.isdisjoint(words):
        return words
    return [word for word in words if word not in ARTICLES]


def normal_candidate(text: str) -> str:
    """Return the normal form of a candidate; candidates often repeat in each example.

    The last 8,192 short texts are cached (some megabytes at most).
    """
    return _remembered_text(text) if len(text) <= _LONGEST_KEPT else normalize_answer(text)


@lru_cache(maxsize=_KEPT_CANDIDATES)
def _remembered_text(text: str) -> str:
    return " ".join(normal_words(text))


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
            common = _count_shared_words(shared, guess, label)
        precision, recall = common / len(guess), common / len(label)
        f1 = (2 * precision * recall) / (precision + recall)
        if precision > best_precision:
            best_precision = precision
        if recall > best_recall:
            best_recall = recall
        if f1 > best_f1:
            best_f1 = f1
    return best_precision, best_recall, best_f1


def _count_shared_words(shared: set[str], guess: Sequence[str], label: Sequence[str]) -> int:
    """Count the shared words, each as often as it occurs in both texts."""
    if len(guess) + len(label) <= _FEW:
        return sum([min(guess.count(word), label.count(word)) for word in shared])
    in_guess, in_label = Counter(guess), Counter(label)
    return sum([min(in_guess[word], in_label[word]) for word in shared])


def bleu_scores(
    guess: Sequence[str], labels: Sequence[Sequence[str]], orders: Sequence[int]
) -> list[float]:
    """Return BLEU-k, 0 to 1, for each k of `orders` (ascending), of normal words."""
    if guess in labels:
        return [_perfect(max(0, order - max(1, len(guess))), order) for order in orders]
    guess, labels = guess or _EMPTY, [label or _EMPTY for label in labels]
    found = _matches(guess, labels, orders[-1])
    if not found[0]:
        return [0.0] * len(orders)
    logs = [_log_precision(matches, len(guess) - place) for place, matches in enumerate(found)]
    penalty = _brevity_penalty(len(guess), labels)
    return [penalty * exp(fsum([1 / order * one for one in logs[:order]])) for order in orders]


@lru_cache(maxsize=64)
def _perfect(missing: int, order: int) -> float:
    """Score a guess equal to a label that has no words for the `missing` highest orders."""
    return exp(fsum([1 / order * log(_EPSILON)] * missing))


def _matches(guess: Sequence[str], labels: list[Sequence[str]], highest: int) -> list[int]:
    """Count the n-grams of the guess that a label has too, for n = 1 to `highest`.

    Each counts at most as often as in the label where it is most frequent.
    """
    found = [0] * highest
    for order in range(1, highest + 1):
        grams = _grams(guess, order)
        different = set(grams)
        if len(different) == len(grams):
            matches = _count_shared_grams(different, (_grams(label, order) for label in labels))
        else:
            matches = _count_clipped(grams, [_grams(label, order) for label in labels])
        if not matches:
            break  # without a match at this length, greater lengths have none
        found[order - 1] = matches
    return found


def _count_shared_grams(different: set[Gram], labels: Iterable[Sequence[Gram]]) -> int:
    common: set[Gram] = set()
    for grams in labels:
        common |= different.intersection(grams)
    return len(common)


def _count_clipped(grams: Sequence[Gram], labels: list[Sequence[Gram]]) -> int:
    most: Counter[Gram] = Counter()
    for label in labels:
        most |= Counter(label)
    return sum(min(number, most[gram]) for gram, number in Counter(grams).items())


def _grams(words: Sequence[str], order: int) -> Sequence[Gram]:
    if order == 1:
        return words
    if order == 2:
        return list(pairwise(words))
    return list(zip(*[words[start:] for start in range(order)], strict=False))


def _log_precision(matches: int, grams: int) -> float:
    return log((matches or _EPSILON) / max(1, grams))


def _brevity_penalty(length: int, labels: list[Sequence[str]]) -> float:
    """Return BLEU's penalty of a guess shorter than the label closest in length (the shorter of
    two).
    """
    closest = min((abs(len(label) - length), len(label)) for label in labels)[1]
    return 1.0 if length > closest else exp(1 - closest / length)


def rank_of_first(
    candidates: Iterable[str], labels: Iterable[str], *, within: int | None = None
) -> int | None:
    """Return the rank, from 1, of the first candidate whose normal form is that of a label.

    None if no candidate (of the first `within`) is right.
    """
    right = {normalize_answer(label) for label in labels}
    for rank, candidate in enumerate(islice(candidates, within), 1):
        if normal_candidate(candidate) in right:
            return rank
    return None
