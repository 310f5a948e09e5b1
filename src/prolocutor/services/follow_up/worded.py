"""Follow-ups in the languages of `wordings`: what takes the place of what.

They read less than the English rules: a word that goes on ("und", "et", "y"), one that corrects,
"one more", "there", "its", an operator in front, or "back to". Words are matched without accents.
The question may be of another language: its words around what is replaced then stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from prolocutor.reading.accents import without_accents
from prolocutor.reading.languages import is_frequent
from prolocutor.services.follow_up.certainty import GUESS, LIKELY, SURE, Found
from prolocutor.services.follow_up.last_turn import LastTurn
from prolocutor.services.follow_up.wordings import ALL_WORDINGS, Wording, is_worded_courtesy

_NUMBER: Final = r"-?\d[\d.,]*"
_PERCENT: Final = r"\s?(?:%|prozent|percent|pour ?cent|por ciento)"
_AMOUNT: Final = re.compile(
    rf"(?P<number>{_NUMBER})(?:(?P<percent>{_PERCENT})| (?P<unit>[^\W\d_]+(?: [^\W\d_]+)?))?",
    re.IGNORECASE,
)
_OLD_AMOUNT: Final = re.compile(rf"(?P<number>{_NUMBER})(?: (?P<unit>[^\W\d_]+))?")
_OLD_PERCENT: Final = re.compile(rf"{_NUMBER}{_PERCENT}", re.IGNORECASE)
_VALUE: Final = re.compile(rf"[=≈]\s*(?P<value>{_NUMBER}(?<=\d))")
_NAME: Final = r"[A-ZÄÖÜÀ-Þ][\w.-]*(?: (?:de |del |da |of )?[A-ZÄÖÜÀ-Þ][\w.-]*)*"
_POINTS: Final = re.compile(r"^(?:la|el|lo|los|las|die|das|celle|celui)\s(?=(?:de|del|du|von)\b)")
_WORD: Final = r"[^\W\d_]+"
_YEAR: Final = r"\b(?:1[5-9]|20|21)\d\d\b"
_COUNTED: Final = re.compile(r"\d\s*$")
_OF: Final = 1
"""The place among prepositions of those of the owner; those of the place come before."""
_TRIMMED: Final = " \t?!.,;:¿¡"
MOST_WORDS: Final = 8


def rules_in(language: str) -> WordedRules | None:
    """Return the rules of a language; None for one that has no wording."""
    return _compiled(language) if language in ALL_WORDINGS else None


@cache
def _compiled(language: str) -> WordedRules:
    return WordedRules(language, ALL_WORDINGS[language])


class WordedRules:
    """The rules of one language."""

    def __init__(self, code: str, wording: Wording) -> None:
        """Compile the patterns."""
        self.code, self.wording = code, wording
        opens = rf"(?>(?:{wording.opens})(?:[\s,.!:]+|$))*+"
        self._opening = _of(opens)
        self._again = _of(wording.again)
        self._another = _of(wording.another)
        self._swaps = _of(wording.swaps)
        self._swapped = _of(
            rf"(?P<n>{_NUMBER})\s?(?P<a>{_WORD}(?: {_WORD})?)"
            rf" (?P<by>{wording.prepositions[0]}|to|zu) (?P<b>{_WORD}(?: {_WORD})?)[?!. ]*$"
        )
        self._there = _of(rf"(?<![\w-])(?:{wording.places})(?![\w-])")
        self._property = _of(
            rf"(?>(?:{wording.asks}|ist|est|es)\s+)*+(?:{wording.of_it})\s?"
            rf"(?P<relation>{wording.properties})"
        )
        self._returns = _of(
            rf"{opens}(?:{wording.returns})(?:(?<=')|\s)\s*+"
            r"(?P<topic>[^\s,:;]+(?: [^\s,:;]+){0,3}?)"
            rf"(?:\s*[,:;]\s*|\s+(?=(?:{wording.asks})\b))(?P<rest>.+)"
        )
        self._owns = _of(rf".*\b(?:{wording.owns})")
        self._named = re.compile(
            rf"(?<=\s)(?:(?i:{wording.articles})(?:(?<=')|\s))?{_NAME}|(?<=[\s'])(?:{_NAME})"
        )
        self._article = _of(rf"(?:{wording.articles})(?:(?<=')|\s)")
        self._leads = _of("|".join(wording.prepositions))
        self._day = _of(wording.days)
        self._operation = _of(rf"(?:{wording.operators})\s*{_NUMBER}")
        self._asks = _of(rf"(?:{wording.asks})\b.*")
        self._phrases = [
            _of(rf"(?:{lead})(?:(?<=')|\s)(?P<object>.+)") for lead in wording.prepositions
        ]

    def question_of(
        self, text: str, turn: LastTurn, asked: WordedRules | None = None
    ) -> tuple[str, float, str] | None:
        """Return the whole question that a text means after a turn, how sure, and its language.

        `asked` are the rules of the language of the question, where that is another one.
        """
        asked = asked or self
        said = text.strip(_TRIMMED)
        if is_worded_courtesy(text) or not said:
            return None
        opening = self._opening.match(without_accents(said))
        start = opening.end() if opening else 0
        rest = said[start:].strip(_TRIMMED)
        if new := self._returned(said) or self._new(rest, turn, asked, goes_on=start > 0):
            return *new, self.code
        if old := self._repeated(said, rest, turn, asked):
            return *old, asked.code
        if not rest or len(rest.split()) > MOST_WORDS:
            return None
        if self._asks.fullmatch(without_accents(rest)):
            return None
        put = self._put if start else self._bare
        old = put(rest, turn, asked, asks=text.rstrip().endswith("?"))
        return (*old, asked.code) if old else None

    def phrase_put(self, text: str, turn: LastTurn, asked: WordedRules) -> Found:
        """ "En yens": a bare phrase in place of one of a question in another language."""
        rest = text.strip(_TRIMMED)
        found = self._phrase_put(rest, turn, asked) if len(rest.split()) <= 3 else None
        return (found[0], GUESS) if found else None

    def _new(self, rest: str, turn: LastTurn, asked: WordedRules, *, goes_on: bool) -> Found:
        """Return a question in words of this language alone."""
        if not rest or len(rest.split()) > MOST_WORDS:
            return None
        if sum_ := self._sum(rest, turn, foreign=asked is not self):
            return sum_, SURE
        asks = self._asks.fullmatch(without_accents(rest)) is not None
        topic = asked.topic(turn) if asks or goes_on else ""
        if found := self._asked_of_it(rest, topic):
            return found
        return self._asked_there(rest, topic) if asks else None

    def _repeated(self, said: str, rest: str, turn: LastTurn, asked: WordedRules) -> Found:
        """ "Noch einmal", "andersherum": the question as it was, or with its units swapped."""
        plain = without_accents(rest)
        if self._again.fullmatch(without_accents(said)) or self._again.fullmatch(plain):
            return turn.question, SURE
        if self._swaps.fullmatch(plain) or self._swaps.fullmatch(without_accents(said)):
            return asked.swapped(turn)
        if noun := self._another.fullmatch(plain) or self._another.fullmatch(without_accents(said)):
            known = noun["noun"].lower()[:4] in without_accents(turn.question.lower())
            return (turn.question, SURE) if known else None
        return None

    def _put(self, rest: str, turn: LastTurn, asked: WordedRules, *, asks: bool) -> Found:
        """Return the question with these words, which say that they go on, in place of others."""
        return (
            (self._day_put(rest, turn) if asked is self else None)
            or self._phrase_put(rest, turn, asked)
            or self._amount_put(rest, turn)
            or self._name_put(rest, turn, asked)
        )

    def _returned(self, said: str) -> Found:
        """ "Zurück zu Peru, wie groß ist das?": the rest is about what is named."""
        back = self._returns.fullmatch(without_accents(said))
        if back is None:
            return None
        topic, rest = said[slice(*back.span("topic"))], said[back.start("rest") :].strip(_TRIMMED)
        if found := self._asked_of_it(rest, topic) or self._asked_there(rest, topic):
            return found
        owned = self._owns.fullmatch(without_accents(rest))
        return self.joined(f"{rest} {'' if owned else self.wording.in_place + ' '}{topic}"), LIKELY

    def _sum(self, rest: str, turn: LastTurn, *, foreign: bool) -> str:
        value = _VALUE.search(turn.reply)
        if value is None or not self._operation.fullmatch(without_accents(rest)):
            return ""
        # Languages write decimals in different ways.
        return "" if foreign and not value["value"].isdigit() else f"{value['value']} {rest}"

    def swapped(self, turn: LastTurn) -> Found:
        """Return the question with its two units in each other's place."""
        found = self._swapped.search(without_accents(turn.question))
        if found is None:
            return None
        one, two = (turn.question[slice(*found.span(name))] for name in "ab")
        start = turn.question[: found.end("n")]
        return f"{start} {two} {found['by']} {one}", SURE

    def _asked_of_it(self, rest: str, topic: str) -> Found:
        """ "Und die Hauptstadt?": another property of what the question was about."""
        said = self._property.fullmatch(without_accents(rest))
        if said is None or not topic:
            return None
        relation = rest[slice(*said.span("relation"))]
        form = self.wording.property_question
        return self.joined(form.format(relation=relation, owner=topic)), SURE

    def _asked_there(self, rest: str, topic: str) -> Found:
        """ "Wie viele Menschen leben dort?": the place is said."""
        there = self._there.search(without_accents(rest))
        if there is None or not topic:
            return None
        place = f"{self.wording.in_place} {topic}"
        return self.joined(f"{rest[: there.start()]}{place}{rest[there.end() :]}"), SURE

    def _bare(self, rest: str, turn: LastTurn, asked: WordedRules, *, asks: bool) -> Found:
        """ "Berlin?", "à Paris ?", "en yens": words that do not say that they go on."""
        if len(rest.split()) > 3:
            return None
        found = self._phrase_put(rest, turn, asked, bare=not asks)
        word = " " not in rest and _may_be_a_name(rest)
        if found is None and asks and (word or re.fullmatch(_NAME, rest)):
            found = self._name_put(rest, turn, asked)
        return (found[0], GUESS) if found else None

    def _day_put(self, rest: str, turn: LastTurn) -> Found:
        if not self._day.fullmatch(without_accents(rest)):
            return None
        days = without_accents(self.wording.days)
        old = _last(rf"(?<!\w)(?:{days})(?!\w)", without_accents(turn.question))
        if old is None:
            return _at_the_end(turn.question, rest), LIKELY
        return _put(turn.question, old, rest), SURE

    def _phrase_put(
        self, rest: str, turn: LastTurn, asked: WordedRules, *, bare: bool = False
    ) -> Found:
        """ "In Paris", "bis Ostern": a phrase in place of one with such a preposition.

        In a question of another language its preposition stays. `bare`: with none there, nothing.
        """
        for place, phrase in enumerate(self._phrases):
            said = phrase.fullmatch(without_accents(rest))
            if said is None:
                continue
            object_ = rest[said.start("object") :]
            year = _last(_YEAR, turn.question) if re.fullmatch(_YEAR, object_) else None
            if year is not None:
                return _put(turn.question, year, object_), SURE
            old = asked.phrase_of(turn.question, place, number=object_[0].isdigit())
            if old is not None and asked is self:
                return _put(turn.question, old[0], _POINTS.sub("", rest)), SURE
            if old is not None:
                return _put(turn.question, old[1], self._bared(object_)), SURE
            names = list(asked.names(turn)) if place < _OF + 1 and _may_be_a_name(object_) else []
            if names and not _COUNTED.search(turn.question[: names[-1][0]]):
                return asked.joined(_put(turn.question, names[-1], object_)), SURE
            if asked is self and not bare:
                return _at_the_end(turn.question, rest), LIKELY
        return None

    def phrase_of(
        self, question: str, place: int, *, number: bool = False
    ) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Return the last phrase of a question with a preposition of that class, and its object."""
        leads = [without_accents(lead) for lead in self.wording.prepositions]
        word = rf"(?!(?:{'|'.join(leads)})\b)[^\s?!,;]+"
        what = _NUMBER if number else rf"{word}(?:\s+{word})*"
        article = rf"(?:(?:{without_accents(self.wording.articles)})(?:(?<=')|\s))?"
        pattern = rf"(?<!\w)(?:{leads[place]})(?:(?<=')|\s){article}(?P<object>{what})"
        found = list(re.finditer(pattern, without_accents(question), re.IGNORECASE))
        return (found[-1].span(), found[-1].span("object")) if found else None

    def _amount_put(self, rest: str, turn: LastTurn) -> Found:
        """ "250", "20 Meilen", "20 %": an amount in place of one."""
        rest = self._bared(rest)
        new = _AMOUNT.fullmatch(rest)
        if new is None:
            return None
        if new["percent"]:
            share = _last(_OLD_PERCENT.pattern, turn.question)
            return (_put(turn.question, share, rest), SURE) if share else None
        found = list(_OLD_AMOUNT.finditer(turn.question))
        if not found:
            return None
        old = found[-1].span() if new["unit"] else found[-1].span("number")
        return _put(turn.question, old, rest), SURE

    def _name_put(self, rest: str, turn: LastTurn, asked: WordedRules) -> Found:
        """ "Die Schweiz", "london": a name in place of the last one, with its article."""
        name = self._bared(rest)
        if not name[:1].isupper() and not _may_be_a_name(name):
            return None
        names = list(asked.names(turn))
        if not names:
            return None
        return asked.joined(_put(turn.question, names[-1], rest if asked is self else name)), SURE

    def names(self, turn: LastTurn) -> Iterator[tuple[int, int]]:
        """Yield the places of names, with articles; entities that services found come last."""
        found = [
            one.span()
            for one in self._named.finditer(turn.question)
            if not is_frequent(one[0].split()[-1])
        ]
        typed = None if found else self._typed_name(turn.question)
        yield from found or ([typed] if typed else ())
        for entity in turn.entities:
            place = turn.question.find(entity)
            if place >= 0:
                yield place, place + len(entity)

    def _typed_name(self, question: str) -> tuple[int, int] | None:
        """Return where a name stands in a question in small letters: its last unusual words."""
        ended = question.rstrip(_TRIMMED)
        words = list(re.finditer(r"[^\s,;:]+", ended))
        while words and is_frequent(words[-1][0]):
            words.pop()
        end = words[-1].end() if words else 0
        start = end
        while words and _may_be_a_name(words[-1][0]) and not self._leads.fullmatch(words[-1][0]):
            start = words.pop().start()
        if not words or start == end or len(question[start:end].split()) > 3:
            return None
        before = re.search(rf"\b(?:{self.wording.articles})\s$", question[:start], re.IGNORECASE)
        return before.start() if before else start, end

    def topic(self, turn: LastTurn) -> str:
        """Return what a question is about, "" where it names nothing."""
        places = list(self.names(turn))
        return turn.question[slice(*places[-1])] if places else ""

    def _bared(self, words: str) -> str:
        article = self._article.match(without_accents(words))
        return words[article.end() :] if article else words

    def joined(self, text: str) -> str:
        """Return a text with prepositions and articles contracted."""
        for apart, one in self.wording.contractions:
            text = re.sub(rf"\b{apart}\b(?!')", one, text, flags=re.IGNORECASE)
        return text


def _may_be_a_name(words: str) -> bool:
    """Whether words begin with none that tells a language, and hold no amount."""
    first = words.partition(" ")[0]
    return bool(first) and not re.search(r"\d", words) and not is_frequent(first)


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(without_accents(pattern), re.IGNORECASE)


def _last(pattern: str, text: str) -> tuple[int, int] | None:
    return max((one.span() for one in re.finditer(pattern, text, re.IGNORECASE)), default=None)


def _put(text: str, span: tuple[int, int], new: str) -> str:
    return f"{text[: span[0]]}{new}{text[span[1] :]}"


def _at_the_end(question: str, words: str) -> str:
    return f"{question.rstrip(' ?!.')} {words}{'?' if question.rstrip().endswith('?') else ''}"
