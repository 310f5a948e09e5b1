"""Readings of a text by phrasings: the requests that it may mean, in the words of the skills."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from prolocutor.contracts.connector import AgentProfile, Vocabulary
from prolocutor.plugins.language.follow_up.grammar import LanguageGrammar, grammar_or_english
from prolocutor.plugins.language.follow_up.last_turn import LastTurn
from prolocutor.plugins.language.follow_up.phrasings.learning import SUFFIX
from prolocutor.plugins.language.follow_up.phrasings.loading import KEY, file_of, phrasings_of
from prolocutor.plugins.language.follow_up.phrasings.model import IntentModel, IntentReading
from prolocutor.plugins.language.follow_up.phrasings.phrasing import (
    SLOT,
    TextToken,
    kind_of,
    tokens_of,
)
from prolocutor.plugins.language.follow_up.phrasings.placing import NAMES, TYPED
from prolocutor.plugins.language.follow_up.phrasings.values import spans_of
from prolocutor.reading.languages import is_frequent

LEAST_SCORE: Final = 9.0
"""Score from which on a text is taken for an intent."""

SURE_SCORE: Final = 12.0
"""Score from which on a text hardly means anything else."""

MOST_BEHIND: Final = 4.0
"""By how much less likely the next intent is tried, too."""

MOST_READINGS: Final = 2
"""Intents that are tried."""

OF_SKILL, OF_INTENT = 4.0, 8.0
"""By how much likelier the skill and the intent of the last turn are."""


class MeantRequest(NamedTuple):
    """A request in the words of a skill, and the score of the reading that it is made of."""

    text: str
    score: float


class PhrasingReader:
    """Reads texts by the phrasings of skills, in any language that has some."""

    def __init__(self, skills: Sequence[AgentProfile] = ()) -> None:
        self._cards = {one.name: one.card[KEY] for one in skills if one.card.get(KEY)}
        given = [one.vocabulary for one in skills if one.vocabulary is not None]
        self._vocabularies: list[Callable[[str], Vocabulary]] = list(dict.fromkeys(given))
        self._models: dict[str, IntentModel] = {}

    def model(self, code: str) -> IntentModel:
        """Return the model of a language, which is made at its first use."""
        known = self._models.get(code)
        if known is None:
            grammar = grammar_or_english(code)
            files = {file_of(one, code) for one in self._cards.values() if isinstance(one, str)}
            shipped = files.pop().with_suffix(SUFFIX) if len(files) == 1 else None
            known = self._models[code] = IntentModel(
                [phrasings_of(name, given, code) for name, given in self._cards.items()],
                lambda text, tokens: spans_of(text, tokens, grammar, self._kinds_of(code)),
                is_frequent,
                shipped,
                TYPED - self._untold(code),
            )
        return known

    def requests(
        self, text: str, grammar: LanguageGrammar, turns: Sequence[LastTurn]
    ) -> Iterator[MeantRequest]:
        """Return the requests that a text may mean, the likeliest first.

        A slot that the text leaves open has the value that the `turns` before have.
        """
        gains = self._gains(turns)
        every = [
            one._replace(score=one.score + gains.get(one.number, gains.get(one.intent.skill, 0.0)))
            for one in self.model(grammar.code).read(text)
        ]
        every.sort(key=lambda one: -one.score)
        for reading in every[:MOST_READINGS]:
            if reading.score < max(LEAST_SCORE, every[0].score - MOST_BEHIND):
                return
            if request := self._request(text, reading, grammar, turns):
                yield MeantRequest(request, reading.score)

    def question_of(self, turn: LastTurn) -> str:
        """Return the question of a turn in the words of its skill, "" where it is in them."""
        grammar = grammar_or_english(turn.language)
        every = self.model(grammar.code).read(turn.question)
        best = next((one for one in every if one.intent.skill == turn.skill), None)
        if best is None or best.score < LEAST_SCORE:
            return ""
        asked = self._request(turn.question, best, grammar, [])
        return "" if asked.lower() == turn.question.lower() else asked

    def _gains(self, turns: Sequence[LastTurn]) -> dict[int | str, float]:
        """Return how much likelier the skill and the intent of the last turn are."""
        found: dict[int | str, float] = {}
        for turn in turns:
            best = next(
                iter(self.model(grammar_or_english(turn.language).code).read(turn.question)), None
            )
            found[turn.skill] = OF_SKILL
            if best is not None and best.intent.skill == turn.skill:
                found[best.number] = OF_INTENT
        return found

    def _request(
        self, text: str, reading: IntentReading, grammar: LanguageGrammar, turns: Sequence[LastTurn]
    ) -> str:
        """Return the request of an intent that has most of the slots that a text fills.

        Where the text points back, slots that it leaves open are rather filled than left out.
        """
        words = {one.word for one in tokens_of(text)}
        points = not words.isdisjoint((*grammar.things, *grammar.persons, *grammar.words.places))
        said = {*reading.slots}

        def order(slots: set[str]) -> tuple[int, int]:
            more = len(slots - said)
            return len(said - slots), -more if points else more

        asks = [({*SLOT.findall(one)}, one) for one in reading.intent.asks]
        for slots, ask in sorted(asks, key=lambda one: order(one[0])):
            values = dict(reading.slots)
            for slot in slots - said:
                if value := self._value_before(slot, reading, turns):
                    values[slot] = value
            if slots <= values.keys():
                return SLOT.sub(partial(_value_in, values), ask)
        return ""

    def _value_before(self, slot: str, reading: IntentReading, turns: Sequence[LastTurn]) -> str:
        """Return the value of a slot in the turns before, "" where there is none.

        It is the slot's in a question of the same intent, else the first of its kind.
        """
        kind = kind_of(slot)
        for turn in turns:
            grammar = grammar_or_english(turn.language)
            asked = self.model(grammar.code).read(turn.question)
            same = [one for one in asked if one.intent.asks == reading.intent.asks]
            for one in same if same and same[0].score >= LEAST_SCORE else []:
                if slot in one.slots:
                    return one.slots[slot]
            for text in (turn.question, turn.reply):
                tokens: list[TextToken] = tokens_of(text)
                for span in spans_of(text, tokens, grammar, self._kinds_of(grammar.code)):
                    if span.kind == kind:
                        return text[tokens[span.first].start : tokens[span.last - 1].end]
            if kind in self._untold(grammar.code):
                for one in asked[:1]:
                    for other, value in one.slots.items():
                        if kind_of(other) == kind:
                            return value
        return ""

    def _untold(self, code: str) -> frozenset[str]:
        """Return the kinds of names if no agent tells kinds of values."""
        return frozenset() if self._tellers(code) else NAMES

    def _kinds_of(self, code: str) -> Callable[[str], set[str]]:
        return partial(_kinds_told, self._tellers(code))

    def _tellers(self, code: str) -> list[Callable[[str], frozenset[str]]]:
        found = (one(code) for one in self._vocabularies)
        return [one.kinds for one in found if hasattr(one, "kinds")]


def _value_in(values: dict[str, str], slot: re.Match[str]) -> str:
    return values[slot[1]]


def _kinds_told(tellers: Sequence[Callable[[str], frozenset[str]]], words: str) -> set[str]:
    return {kind for kinds in tellers for kind in kinds(words)}
