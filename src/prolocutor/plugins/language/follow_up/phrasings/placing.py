"""Places the slots of an intent in a text, and tells how well the text fits the intent.

Each word outside the slots tells how much likelier it is in the intent's phrasings than elsewhere.
Each slot is a run of words: of its kind ("ten minutes" is a duration), or any words, which are told
by the words beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import inf, log
from typing import Final, NamedTuple

from prolocutor.plugins.language.follow_up.phrasings.phrasing import (
    PhrasedIntent,
    Span,
    TextToken,
    kind_of,
)

TYPED: Final = frozenset(
    "number percent amount duration money date time place country currency unit language".split()
)
"""The kinds of slots whose values are told by their own words; slots of others may be any words."""

NAMES: Final = frozenset("amount place country currency unit language".split())
"""The typed kinds whose values agents tell; where none does, they may be any words, too."""

END: Final = ""
"""Stands before the first word and after the last."""

STEM: Final = 5
"""Letters by which an unknown word is taken for a form of a known one."""

LONGEST_SLOT: Final = 9
"""Words of the longest slot."""

SMOOTH: Final = 0.01
"""Share of phrasings that any word is supposed to stand in."""

MOST, LEAST = 3.0, -2.0
"""The weights, as logarithms, of the words that speak most for an intent and against it."""

UNKNOWN: Final = -1.6
"""Weight of a word of a meaning of its own that no phrasing has."""

CHAT: Final = -0.15
"""Least weight of a word that is often said around requests."""

LEFT: Final = -2.0
"""Weight of each word of a value that is in no slot."""

LEFT_NUMBER: Final = -6.0
"""The same of each word of a number."""

OF_KIND: Final = 1.6
"""Weight of a value in a slot of its kind."""

FREE, FREE_FREQUENT = -0.25, -0.6
"""Weights of each word, and of each frequent word, in a slot of any words."""

BESIDE: Final = -0.5
"""Weight of a word beside a slot that stands there in no phrasing."""

TOLD: Final = 2.0
"""Least weight of the words outside the slots, together."""

LIKE_STEM: Final = 0.7
"""Share of the weight of a word that another form of it has."""

NOWHERE: Final = (-inf, None)

_Cell = tuple[float, tuple[int, int] | None]
"""The score of the first tokens of a text, and the slot that ends there."""


class Placed(NamedTuple):
    """How well a text fits an intent, and the first token of each slot with the one after it."""

    score: float
    slots: dict[str, tuple[int, int]]


class _Frame(NamedTuple):
    """The words of an intent: their weights, the orders of its slots, the words beside them."""

    words: dict[str, float]
    orders: dict[tuple[str, ...], float]
    beside: dict[tuple[str, int, str], float]


class Placer:
    """Places the slots of the intents of a language."""

    def __init__(
        self,
        intents: Sequence[PhrasedIntent],
        none: Sequence[Sequence[str]],
        chat: Collection[str],
        is_frequent: Callable[[str], bool],
        typed: Collection[str] = TYPED,
    ) -> None:
        """Count the words of phrasings.

        `none` are the words of sentences that no skill answers, `chat` those beside requests,
        `typed` the kinds of slots that only values of the kind fill.
        """
        self._chat, self._is_frequent, self._typed = chat, is_frequent, typed
        shares = [_shares(one.said) for one in intents]
        others = _shares(none)
        mean: dict[str, float] = {}
        for one in shares:
            for word, share in one.items():
                mean[word] = mean.get(word, 0.0) + share / len(shares)
        everywhere = {
            word: (mean.get(word, 0.0) + others.get(word, 0.0)) / 2 for word in {*mean, *others}
        }
        self._elsewhere = {
            word: max(LEAST, log(SMOOTH / (share + SMOOTH))) for word, share in everywhere.items()
        }
        self._stems: dict[str, list[str]] = {}
        for word in sorted(everywhere):
            if len(word) > STEM:
                self._stems.setdefault(word[:STEM], []).append(word)
        self._frames = [
            _Frame(
                {
                    word: max(LEAST, min(MOST, log((part + SMOOTH) / (everywhere[word] + SMOOTH))))
                    for word, part in share.items()
                },
                *_slots_of(intent),
            )
            for intent, share in zip(intents, shares, strict=True)
        ]

    def knows(self, word: str) -> bool:
        """Return whether a word stands in a phrasing, or in a sentence that no skill answers."""
        return word in self._elsewhere

    def place(
        self, number: int, tokens: Sequence[TextToken], spans: Iterable[Span]
    ) -> Placed | None:
        """Return the best places of an intent's slots; None where a needed value is missing."""
        frame, left = self._frames[number], dict[int, float]()
        ends: dict[str, dict[int, set[int]]] = {}
        for first, last, kind in spans:
            ends.setdefault(kind, {}).setdefault(last, set()).add(first)
            for n in range(first, last):
                word = tokens[n].word
                counts = word[0].isdigit() or not self._is_frequent(word)
                cost = LEFT_NUMBER if kind == "number" and counts else LEFT
                left[n] = min(left.get(n, LEFT), cost)
        weights = [
            left[n] if n in left and one.word not in frame.words else self._weight(frame, one.word)
            for n, one in enumerate(tokens)
        ]
        free = [FREE_FREQUENT if self._is_frequent(one.word) else FREE for one in tokens]
        best: Placed | None = None
        for order, share in frame.orders.items():
            rows = [_row_without_slot(weights)]
            for slot in order:
                firsts = ends.get(kind_of(slot), {}) if kind_of(slot) in self._typed else None
                rows.append(_row_of(rows[-1], slot, tokens, weights, free, firsts, frame))
            score = rows[-1][-1][0] + share
            if score > -inf and (best is None or score > best.score):
                best = Placed(score, _places(order, rows))
        return best if best is not None and self._is_told(best, weights) else None

    def _is_told(self, placed: Placed, weights: Sequence[float]) -> bool:
        """Return whether an intent is told by words outside the slots, or by values of a kind."""
        inside = {n for first, last in placed.slots.values() for n in range(first, last)}
        outside = sum(max(0.0, one) for n, one in enumerate(weights) if n not in inside)
        return outside >= TOLD or any(kind_of(slot) in self._typed for slot in placed.slots)

    def _weight(self, frame: _Frame, word: str) -> float:
        """Return how much likelier a word is in an intent's phrasings than elsewhere, as a log."""
        known = frame.words.get(word, self._elsewhere.get(word))
        if known is None:
            forms = self._stems.get(word[:STEM], ()) if len(word) > STEM else ()
            near = [frame.words.get(one, self._elsewhere[one]) for one in forms]
            frequent = len(word) < 2 or self._is_frequent(word)
            known = LIKE_STEM * max(near) if near else CHAT if frequent else UNKNOWN
        return max(known, CHAT) if word in self._chat else known


def _row_without_slot(weights: Sequence[float]) -> list[_Cell]:
    row: list[_Cell] = [(0.0, None)]
    for weight in weights:
        row.append((row[-1][0] + weight, None))
    return row


def _row_of(
    before: Sequence[_Cell],
    slot: str,
    tokens: Sequence[TextToken],
    weights: Sequence[float],
    free: Sequence[float],
    firsts: Mapping[int, Collection[int]] | None,
    frame: _Frame,
) -> list[_Cell]:
    """Return the best scores of a text up to each token with one slot more than `before`.

    `firsts` are the first tokens of the values of the slot's kind by the token after them, None for
    a slot of any words.
    """
    size = len(tokens)
    row: list[_Cell] = [NOWHERE]
    for last in range(1, size + 1):
        best: _Cell = (row[last - 1][0] + weights[last - 1], None)
        right = tokens[last].word if last < size else END
        starts = (
            range(max(0, last - LONGEST_SLOT), last) if firsts is None else firsts.get(last, ())
        )
        for first in starts:
            left = tokens[first - 1].word if first else END
            score = before[first][0]
            score += frame.beside.get((slot, -1, left), BESIDE)
            score += frame.beside.get((slot, 1, right), BESIDE)
            if firsts is None:  # no word of the frame begins or ends it
                score += sum(free[first:last])
                for edge in (tokens[first].word, tokens[last - 1].word):
                    score -= max(0.0, frame.words.get(edge, 0.0))
            else:
                score += OF_KIND
            if score > best[0]:
                best = (score, (first, last))
        row.append(best)
    return row


def _places(order: Sequence[str], rows: Sequence[Sequence[_Cell]]) -> dict[str, tuple[int, int]]:
    """Return the places of slots, read from the last token back."""
    found: dict[str, tuple[int, int]] = {}
    at = len(rows[0]) - 1
    for slot, row in zip(reversed(order), reversed(rows), strict=False):
        while (place := row[at][1]) is None:
            at -= 1
        found[slot] = place
        at = place[0]
    return found


def _shares(said: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return each word with the share of the phrasings that have it."""
    counts = Counter(word for one in said for word in {*one} if not word.startswith("{"))
    return {word: count / len(said) for word, count in counts.items()}


def _slots_of(
    intent: PhrasedIntent,
) -> tuple[dict[tuple[str, ...], float], dict[tuple[str, int, str], float]]:
    """Return the orders of an intent's slots, and the words beside each, with their weights."""
    orders: Counter[tuple[str, ...]] = Counter()
    beside: Counter[tuple[str, int, str]] = Counter()
    often: Counter[str] = Counter()
    for words in intent.said:
        orders[tuple(one[1:-1] for one in words if one.startswith("{"))] += 1
        for at, one in enumerate(words):
            if one.startswith("{"):
                often[one[1:-1]] += 1
                beside[one[1:-1], -1, words[at - 1] if at else END] += 1
                beside[one[1:-1], 1, words[at + 1] if at + 1 < len(words) else END] += 1
    total = len(intent.said)
    fullest = max(orders, key=lambda one: (len(one), orders[one]), default=())
    for number in range(len(fullest)):  # the turn before may have the other values
        orders.setdefault((*fullest[:number], *fullest[number + 1 :]), 0)
    orders.setdefault((), 0)
    return (
        {order: 0.3 * log((count + 1) / (total + 1)) for order, count in orders.items()},
        {
            key: max(0.0, 0.6 * log(1 + 20 * count / often[key[0]]) - 0.3)
            for key, count in beside.items()
        },
    )
