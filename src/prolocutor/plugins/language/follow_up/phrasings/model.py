"""The model of what people ask skills for, learned from phrasings: examples with slots.

A text is read as one of the intents of a language: first the skill that it is for is told, then the
skill's intent, then the slots are placed. Sentences that no skill answers are a class of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from prolocutor.plugins.language.follow_up.phrasings.learning import (
    Weights,
    kept_weights,
    learn_weights,
)
from prolocutor.plugins.language.follow_up.phrasings.loading import Phrasings
from prolocutor.plugins.language.follow_up.phrasings.phrasing import (
    PhrasedIntent,
    Span,
    TextToken,
    kind_of,
    pieces_of,
    tokens_of,
)
from prolocutor.plugins.language.follow_up.phrasings.placing import END, STEM, TYPED, Placer

VERSION: Final = 5
"""Changes whenever other weights are learned from equal phrasings."""

MOST_TOKENS: Final = 40
"""Words and numbers of the longest text that is read."""

MOST_PLACED: Final = 8
"""Intents of which the slots are placed."""

MOST_KEPT: Final = 256
"""Texts whose readings are kept; a turn that nobody answers asks for the same ones again."""

OF_CLASS: Final = 6.0
"""How much the weights of classes count beside the words of an intent."""

ANY: Final = "~"
"""Stands for words in a slot of any words, and for unknown words."""

NONE: Final = 0
"""The class of the sentences that no skill answers."""

_GENERAL: Final = {"country": "place"}
"""Kinds that tell no more than another."""


class IntentReading(NamedTuple):
    """An intent that a text may mean, by its number; how surely, and the words of its slots.

    From some 9 on a text hardly means nothing of the kind.
    """

    score: float
    number: int
    intent: PhrasedIntent
    slots: dict[str, str]


class IntentModel:
    """Reads texts of a language as intents of skills."""

    def __init__(
        self,
        phrasings: Sequence[Phrasings],
        spans_of: Callable[[str, Sequence[TextToken]], list[Span]],
        is_frequent: Callable[[str], bool],
        shipped: Path | None = None,
        typed: Collection[str] = TYPED,
    ) -> None:
        """Learn to tell the intents of skills apart, unless a file has what was learned.

        `spans_of` finds the values in a text and its tokens, `typed` are the kinds that it tells.
        """
        self.intents = [intent for one in phrasings for intent in one.intents]
        self._skills = list(dict.fromkeys(one.skill for one in self.intents))
        self._none = list(dict.fromkeys(line for one in phrasings for line in one.none))
        self._values = {
            kind: some for one in phrasings for kind, some in one.values.items() if kind in TYPED
        }
        self._spans_of, self._is_frequent = spans_of, is_frequent
        chat = frozenset(
            word for one in phrasings for line in one.around for word in pieces_of(line)
        )
        none = [pieces_of(one) for one in self._none]
        self._placer = Placer(self.intents, none, chat, is_frequent, typed)
        self.weights = kept_weights(self.name, shipped, self._learn) if self.intents else {}
        self.read = lru_cache(MOST_KEPT)(self._read)

    @property
    def name(self) -> str:
        """A name of what the weights are learned from."""
        intents = [[one.skill, one.said] for one in self.intents]
        learned = [VERSION, intents, self._none, sorted(self._values.items())]
        return blake2b(msgspec.json.encode(learned), digest_size=16).hexdigest()

    def _read(self, text: str) -> list[IntentReading]:
        """Return what a text may mean, the likeliest first."""
        tokens = tokens_of(text)
        if not tokens or len(tokens) > MOST_TOKENS or not self.intents:
            return []
        spans = self._spans_of(text, tokens)
        found = []
        for score, number in self._rank(tokens, spans)[:MOST_PLACED]:
            placed = self._placer.place(number, tokens, spans)
            if placed is not None:
                slots = {
                    slot: text[tokens[first].start : tokens[last - 1].end]
                    for slot, (first, last) in placed.slots.items()
                }
                total = OF_CLASS * score + placed.score
                found.append(IntentReading(total, number, self.intents[number], slots))
        return sorted(found, key=lambda one: -one.score)

    def _rank(self, tokens: Sequence[TextToken], spans: Iterable[Span]) -> list[tuple[float, int]]:
        """Return the numbers of the intents with their scores, the highest first.

        A score is how much likelier a text is for the skill than for none, less how much likelier
        another intent of the skill is.
        """
        scores: dict[int, int] = {}
        for feature in self._features(tokens, spans):
            for number, weight in self.weights.get(feature, {}).items():
                scores[number] = scores.get(number, 0) + weight
        first = self._first_intent
        best: dict[str, int] = {}
        for number, intent in enumerate(self.intents):
            score = scores.get(first + number, 0)
            best[intent.skill] = max(best.get(intent.skill, score), score)
        of_skill = {
            skill: scores.get(number, 0) - scores.get(NONE, 0) - best[skill]
            for number, skill in enumerate(self._skills, NONE + 1)
        }
        return sorted(
            (
                ((of_skill[one.skill] + scores.get(first + number, 0)) / 100, number)
                for number, one in enumerate(self.intents)
            ),
            reverse=True,
        )

    @property
    def _first_intent(self) -> int:
        """The number of the class of the first intent; the classes before it are the skills."""
        return NONE + 1 + len(self._skills)

    def _learn(self) -> Weights:
        """Return the weights by which skills are told apart, and the intents of each skill."""
        rows = [
            (self._features_of(self._filled(said, n)), number)
            for number, intent in enumerate(self.intents)
            for n, said in enumerate(intent.said)
        ]
        first = self._first_intent
        classes = {skill: number for number, skill in enumerate(self._skills, NONE + 1)}
        skills = [(found, classes[self.intents[number].skill]) for found, number in rows]
        none = [(self._features_of(text), NONE) for text in self._none]
        weights = learn_weights([*skills, *none], first)
        for skill in self._skills:
            own = [(f, first + n) for f, n in rows if self.intents[n].skill == skill]
            for feature, found in learn_weights(own, first + len(self.intents)).items():
                weights.setdefault(feature, {}).update(found)
        return weights

    def _filled(self, said: Sequence[str], number: int) -> str:
        """Return a phrasing with examples of values in its slots."""
        return " ".join(
            self._value(kind_of(one[1:-1]), number + at) if one.startswith("{") else one
            for at, one in enumerate(said)
        )

    def _value(self, kind: str, number: int) -> str:
        known = self._values.get(kind)
        return known[number % len(known)] if known else ANY

    def _features_of(self, text: str) -> list[str]:
        tokens = tokens_of(text)
        return self._features(tokens, self._spans_of(text, tokens))

    def _features(self, tokens: Sequence[TextToken], spans: Iterable[Span]) -> list[str]:
        """Return what tells the intent: marks of values, words, stems, and each two in a row."""
        found: dict[str, None] = {}
        before = END
        for one in [*_masked(tokens, spans), END]:
            known = not one.isalpha() or one.isupper() or self._placer.knows(one)
            word = one if known or self._is_frequent(one) else ANY
            if not before == word == ANY:
                found[f"{before} {word}"] = None
            for part in word.split("|"):
                if part not in (END, ANY):
                    found[part] = None
            if len(word) > STEM and word.islower():
                found[f"{word[:STEM]}*"] = None
            before = word
        return list(found)


def _masked(tokens: Sequence[TextToken], spans: Iterable[Span]) -> list[str]:
    """Return the words of a text with marks in place of its values, the longest first.

    The mark of a value is its kinds in capitals.
    """
    kinds: dict[tuple[int, int], set[str]] = {}
    for one in spans:
        kinds.setdefault((one.first, one.last), set()).add(_GENERAL.get(one.kind, one.kind))
    said = [one.word for one in tokens]
    for first, last in sorted(kinds, key=lambda one: (one[0] - one[1], one)):
        if all(one and not one.isupper() for one in said[first:last]):
            said[first] = "|".join(sorted(kinds[first, last])).upper()
            said[first + 1 : last] = [""] * (last - first - 1)
    return [one for one in said if one]
