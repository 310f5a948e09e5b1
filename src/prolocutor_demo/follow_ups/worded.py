"""Follow-ups in the languages of `wordings`: what takes the place of what.

They read less than the English rules: a word that goes on ("und", "et", "y"), one that corrects,
"one more", "there", "its", an operator in front, or "back to". Words are matched without accents.
The question may be of another language: its words around what is replaced then stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from prolocutor_demo.follow_ups.certainty import GUESS, LIKELY, SURE, Found
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.worded_question import (
    NAME,
    NUMBER,
    TRIMMED,
    QuestionReader,
    pattern_of,
)
from prolocutor_demo.follow_ups.wordings import ALL_WORDINGS, Wording, is_worded_courtesy
from prolocutor_demo.reading.accents import without_accents

_WORD: Final = r"[^\W\d_]+"
_PERCENT: Final = r"\s?(?:%|prozent|percent|pour ?cent|por ciento)"
_AMOUNT: Final = re.compile(
    rf"(?P<number>{NUMBER})"
    rf"(?:(?P<percent>{_PERCENT})(?: {_WORD})?| (?P<unit>{_WORD}(?: {_WORD})?))?",
    re.IGNORECASE,
)
_OLD_AMOUNT: Final = re.compile(rf"(?P<number>{NUMBER})(?: (?P<unit>[^\W\d_]+))?")
_OLD_PERCENT: Final = re.compile(rf"{NUMBER}{_PERCENT}", re.IGNORECASE)
_VALUE: Final = re.compile(rf"[=≈]\s*(?P<value>{NUMBER}(?<=\d))")
_POINTS: Final = re.compile(r"^(?:la|el|lo|los|las|die|das|celle|celui)\s(?=(?:de|del|du|von)\b)")
_YEAR: Final = re.compile(r"\b(?:1[5-9]|20|21)\d\d\b")
_IDIOMS: Final = re.compile(r"(?:nicht|ach|also|pas|bon|no|ok|ah|oh|gut)\s*", re.IGNORECASE)
"""Words that open idioms: "nicht schlecht", "pas grave", "no importa"."""
_COUNTED: Final = re.compile(r"\d\s*$")
_OF: Final = 1
"""The place among prepositions of those of the owner; those of the place come before."""
MOST_WORDS: Final = 8


def rules_in(language: str, is_frequent: Callable[[str], bool]) -> WordedRules | None:
    """Return the rules of a language; None for one that has no wording."""
    return _compiled(language, is_frequent) if language in ALL_WORDINGS else None


@cache
def _compiled(language: str, is_frequent: Callable[[str], bool]) -> WordedRules:
    return WordedRules(language, ALL_WORDINGS[language], is_frequent)


_NUMBERED: Final = re.compile(r"\s\S+\s+\d")
_FIGURE: Final = re.compile(r"\d")


class WordedRules:
    """The rules of one language."""

    def __init__(self, code: str, wording: Wording, is_frequent: Callable[[str], bool]) -> None:
        """Compile the patterns."""
        self.code, self.wording, self.reader = code, wording, QuestionReader(wording, is_frequent)
        opens = rf"(?>(?:{wording.opens})(?:[\s,.!:]+|$))*+"
        self._opening = pattern_of(opens)
        self._again = pattern_of(wording.again)
        self._another = pattern_of(wording.another)
        self._swaps = pattern_of(wording.swaps)
        self._there = pattern_of(rf"(?<![\w-])(?:{wording.places})(?![\w-])")
        self._property = pattern_of(
            rf"(?>(?:{wording.asks}|ist|est|es)\s+)*+(?:{wording.of_it})\s?"
            rf"(?P<relation>{wording.properties})(?:\s+(?:davon|{wording.places}))?"
        )
        self._relation = pattern_of(wording.properties)
        self._day = pattern_of(wording.days)
        self._a_day = pattern_of(rf"(?<!\w)(?:{wording.days})(?!\w)")
        self._date = pattern_of(
            rf"\b\d{{1,2}}(?:\.|er|º)?(?: de)? (?:{wording.months})(?:(?: de)? \d{{4}})?(?!\w)"
            r"|(?<![\d.,/])\d{1,2}([./])\d{1,2}(?:\1(?:\d{4})?)?(?![\d,])"
        )
        self._operation = pattern_of(rf"(?:{wording.operators})\s*{NUMBER}")
        self._asks = pattern_of(rf"(?:{wording.asks})\b.*")
        self._phrases = [
            pattern_of(rf"(?:{lead})(?:(?<=')|\s)(?P<object>.+)") for lead in wording.prepositions
        ]

    def question_of(
        self, text: str, turn: LastTurn, other: WordedRules | None = None
    ) -> tuple[str, float, str] | None:
        """Return the whole question that a text means after a turn, how sure, and its language.

        `other` are the rules of the language of the question, where that is another one.
        """
        asked = other.reader if other else self.reader
        said = text.strip(TRIMMED)
        if is_worded_courtesy(text) or not said:
            return None
        opening = self._opening.match(without_accents(said))
        start = opening.end() if opening else 0
        rest = said[start:].strip(TRIMMED)
        if new := self._new(rest, turn, asked, goes_on=start > 0):
            return *new, self.code
        if old := self._repeated(said, rest, turn, asked):
            return *old, (other or self).code
        if not rest or len(rest.split()) > MOST_WORDS:
            return None
        if self._asks.fullmatch(without_accents(rest)):
            return None
        idiom = opening is not None and _IDIOMS.fullmatch(opening[0]) and rest[0].islower()
        if idiom and " " not in rest and self.reader.may_be_a_name(rest):
            return None
        put = self._put if start else self._bare
        old = put(rest, turn, asked, asks=text.rstrip().endswith("?"))
        return (*old, (other or self).code) if old else None

    def phrase_put(self, text: str, turn: LastTurn, asked: QuestionReader) -> Found:
        """ "En yens": a bare phrase in place of one of a question in another language."""
        rest = text.strip(TRIMMED)
        found = self._phrase_put(rest, turn, asked) if len(rest.split()) <= 3 else None
        return (found[0], GUESS) if found else None

    def _new(self, rest: str, turn: LastTurn, asked: QuestionReader, *, goes_on: bool) -> Found:
        """Return a question in words of this language alone."""
        if not rest or len(rest.split()) > MOST_WORDS:
            return None
        if sum_ := self._sum(rest, turn, foreign=asked is not self.reader):
            return sum_, SURE
        plain = without_accents(rest)
        there = self._there.match(plain)
        asks = self._asks.match(plain, there.end() + 1 if there else 0) is not None
        topic = asked.topic(turn) if asks or goes_on else ""
        if found := self._asked_of_it(rest, topic):
            return found
        return self._asked_there(rest, topic) if asks else None

    def _one_more(self, rest: str, plain: str, turn: LastTurn) -> str:
        """ "Un autre de 12 minutes": the last question as far as its number, and a phrase with
        another number; "" for other words.
        """
        more = self._again.match(plain)
        what = rest[more.end() :].strip() if more else ""
        asked = _NUMBERED.search(turn.question)
        led = asked and _FIGURE.search(what) and any(one.match(what) for one in self._phrases)
        return f"{turn.question[: asked.start()]} {what}" if asked and led else ""

    def _repeated(self, said: str, rest: str, turn: LastTurn, asked: QuestionReader) -> Found:
        """ "Noch einmal", "andersherum": the question as it was, or with its units swapped."""
        plain = without_accents(rest)
        if self._again.fullmatch(without_accents(said)) or self._again.fullmatch(plain):
            return turn.question, SURE
        if more := self._one_more(rest, plain, turn):
            return more, SURE
        if self._swaps.fullmatch(plain) or self._swaps.fullmatch(without_accents(said)):
            return asked.swapped(turn)
        if noun := self._another.fullmatch(plain) or self._another.fullmatch(without_accents(said)):
            known = noun["noun"].lower()[:4] in without_accents(turn.question.lower())
            return (turn.question, SURE) if known else None
        return None

    def _put(self, rest: str, turn: LastTurn, asked: QuestionReader, *, asks: bool) -> Found:
        """Return the question with these words, which say that they go on, in place of others."""
        return (
            (self._day_put(rest, turn) if asked is self.reader else None)
            or self._date_put(rest, turn)
            or self._phrase_put(rest, turn, asked)
            or self._amount_put(rest, turn)
            or self._name_put(rest, turn, asked)
        )

    def _sum(self, rest: str, turn: LastTurn, *, foreign: bool) -> str:
        value = _VALUE.search(turn.reply)
        if value is None or not self._operation.fullmatch(without_accents(rest)):
            return ""
        # Languages write decimals in different ways.
        return "" if foreign and not value["value"].isdigit() else f"{value['value']} {rest}"

    def _asked_of_it(self, rest: str, topic: str) -> Found:
        """ "Und die Hauptstadt?": another property of what the question was about."""
        said = self._property.fullmatch(without_accents(rest))
        if said is None or not topic:
            return None
        relation = rest[slice(*said.span("relation"))]
        form = self.wording.property_question
        return self.reader.joined(form.format(relation=relation, owner=topic)), SURE

    def _asked_there(self, rest: str, topic: str) -> Found:
        """ "Wie viele Menschen leben dort?": the place is said."""
        there = self._there.search(without_accents(rest))
        if there is None or not topic:
            return None
        place = f"{self.wording.in_place} {topic}"
        before, after = rest[: there.start()], rest[there.end() :]
        whole = f"{before}{place}{after}" if before else f"{after} {place}"
        return self.reader.joined(whole), SURE

    def _bare(self, rest: str, turn: LastTurn, asked: QuestionReader, *, asks: bool) -> Found:
        """ "Berlin?", "à Paris ?", "en yens": words that do not say that they go on."""
        if len(rest.split()) > 3:
            return None
        if asks and self._relation.fullmatch(without_accents(rest)) and asked is self.reader:
            topic = asked.topic(turn)
            form = self.wording.property_question
            return (form.format(relation=rest, owner=topic), GUESS) if topic else None
        found = self._phrase_put(rest, turn, asked, bare=not asks)
        word = " " not in rest and self.reader.may_be_a_name(rest)
        if found is None and asks and (word or re.fullmatch(NAME, rest)):
            found = self._name_put(rest, turn, asked)
        return (found[0], GUESS) if found else None

    def _day_put(self, rest: str, turn: LastTurn) -> Found:
        if not self._day.fullmatch(without_accents(rest)):
            return None
        old = _last(self._a_day, without_accents(turn.question))
        if old is None:
            return _at_the_end(turn.question, rest), LIKELY
        return _put(turn.question, old, rest), SURE

    def _date_put(self, rest: str, turn: LastTurn) -> Found:
        """ "14. Juli": a date in place of one."""
        date, said = self._date, self.reader.bared(rest)
        if not date.fullmatch(without_accents(said)):
            return None
        old = _last(date, without_accents(turn.question))
        return (_put(turn.question, old, said), SURE) if old else None

    def _phrase_put(
        self, rest: str, turn: LastTurn, asked: QuestionReader, *, bare: bool = False
    ) -> Found:
        """ "In Paris", "bis Ostern": a phrase in place of one with such a preposition.

        In a question of another language its preposition stays. `bare`: with none there, nothing.
        """
        for place, phrase in enumerate(self._phrases):
            said = phrase.fullmatch(without_accents(rest))
            if said is None:
                continue
            object_ = rest[said.start("object") :]
            if dated := self._date_put(object_, turn):
                return dated
            year = _last(_YEAR, turn.question) if _YEAR.fullmatch(object_) else None
            if year is not None:
                return _put(turn.question, year, object_), SURE
            old = asked.phrase_of(turn.question, place, number=object_[0].isdigit())
            if old is not None and asked is self.reader:
                return _put(turn.question, old[0], _POINTS.sub("", rest)), SURE
            if old is not None:
                return _put(turn.question, old[1], self.reader.bared(object_)), SURE
            names = (
                list(asked.names(turn))
                if place < _OF + 1 and self.reader.may_be_a_name(object_)
                else []
            )
            if names and not _COUNTED.search(turn.question[: names[-1][0]]):
                return asked.joined(_put(turn.question, names[-1], object_)), SURE
            if asked is self.reader and not bare:
                return _at_the_end(turn.question, rest), LIKELY
        return None

    def _amount_put(self, rest: str, turn: LastTurn) -> Found:
        """ "250", "20 Meilen", "20 %": an amount in place of one."""
        rest = self.reader.bared(rest)
        new = _AMOUNT.fullmatch(rest)
        if new is None:
            return None
        if new["percent"]:
            share = _last(_OLD_PERCENT, turn.question)
            amount = rest[: new.end("percent")]
            return (_put(turn.question, share, amount), SURE) if share else None
        found = list(_OLD_AMOUNT.finditer(turn.question))
        if not found:
            return None
        old = found[-1].span() if new["unit"] else found[-1].span("number")
        return _put(turn.question, old, rest), SURE

    def _name_put(self, rest: str, turn: LastTurn, asked: QuestionReader) -> Found:
        """ "Die Schweiz", "london": a name in place of the last one, with its article."""
        name = self.reader.bared(rest)
        if len(name.split()) > 3 or not (name[:1].isupper() or self.reader.may_be_a_name(name)):
            return None
        names = list(asked.names(turn))
        if not names:
            return None
        return asked.joined(
            _put(turn.question, names[-1], rest if asked is self.reader else name)
        ), SURE


def _last(pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    return max((one.span() for one in pattern.finditer(text)), default=None)


def _put(text: str, span: tuple[int, int], new: str) -> str:
    return f"{text[: span[0]]}{new}{text[span[1] :]}"


def _at_the_end(question: str, words: str) -> str:
    return f"{question.rstrip(' ?!.')} {words}{'?' if question.rstrip().endswith('?') else ''}"
