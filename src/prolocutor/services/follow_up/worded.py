"""Follow-ups in the languages of `wordings`: what takes the place of what.

They read less than the English rules: a word that goes on ("und", "et", "y"), one that corrects,
"one more", "there", "its", or an operator in front.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from prolocutor.services.follow_up.certainty import GUESS, LIKELY, SURE, Found
from prolocutor.services.follow_up.last_turn import LastTurn
from prolocutor.services.follow_up.wordings import COURTESY, WORDINGS, Wording

_NUMBER: Final = r"-?\d[\d.,]*"
_AMOUNT: Final = re.compile(rf"(?P<number>{_NUMBER})(?: (?P<unit>[^\W\d_]+))?")
_VALUE: Final = re.compile(rf"[=≈]\s*(?P<value>{_NUMBER}(?<=\d))")
_NAME: Final = r"[A-ZÄÖÜÀ-Þ][\w.-]*(?: (?:de |del |da |of )?[A-ZÄÖÜÀ-Þ][\w.-]*)*"
_POINTS: Final = re.compile(r"^(?:la|el|lo|los|las|die|das|celle|celui)\s(?=(?:de|del|du|von)\b)")
_TRIMMED: Final = " \t?!.,;:¿¡"
MOST_WORDS: Final = 8


def rules_in(language: str) -> WordedRules | None:
    """Return the rules of a language; None for one that has no wording."""
    return _compiled(language) if language in WORDINGS else None


@cache
def _compiled(language: str) -> WordedRules:
    return WordedRules(WORDINGS[language])


class WordedRules:
    """The rules of one language."""

    def __init__(self, wording: Wording) -> None:
        """Compile the patterns."""
        self._wording = wording
        self._opening = _of(rf"(?>(?:{wording.opens})(?:[\s,.!:]+|$))*+")
        self._again = _of(wording.again)
        self._another = _of(wording.another)
        self._there = _of(rf"(?<![\w-])(?:{wording.places})(?![\w-])")
        self._property = _of(
            rf"(?>(?:{wording.asks}|ist|est|es)\s+)*+(?:{wording.of_it})\s?"
            rf"(?P<relation>{wording.properties})"
        )
        self._named = re.compile(
            rf"(?<=\s)(?:(?i:{wording.articles})(?:(?<=')|\s))?{_NAME}|(?<=[\s'])(?:{_NAME})"
        )
        self._day = _of(wording.days)
        self._operation = _of(rf"(?:{wording.operators})\s*{_NUMBER}")
        self._asks = _of(rf"(?:{wording.asks})\b.*")
        self._phrases = [
            _of(rf"(?P<lead>{lead})(?:(?<=')|\s)(?P<object>.+)") for lead in wording.prepositions
        ]

    def question_of(self, text: str, turn: LastTurn) -> Found:
        """Return the whole question that a text means after a turn, and how sure that is."""
        if COURTESY.fullmatch(text.strip() + " "):
            return None
        said = text.strip(_TRIMMED)
        opening = self._opening.match(said)
        start = opening.end() if opening else 0
        goes_on, rest = start > 0, said[start:].strip(_TRIMMED)
        if self._again.fullmatch(said) or self._again.fullmatch(rest):
            return turn.question, SURE
        if not rest or len(rest.split()) > MOST_WORDS:
            return None
        if sum_ := self._sum(rest, turn):
            return sum_, SURE
        if self._asks.fullmatch(rest):
            return self._asked_of_it(rest, turn) or self._asked_there(rest, turn)
        if noun := self._another.fullmatch(said):
            known = noun["noun"].lower()[:4] in turn.question.lower()
            return (turn.question, SURE) if known else None
        if not goes_on:
            return self._bare(rest, text, turn)
        return (
            self._asked_of_it(rest, turn)
            or self._day_put(rest, turn)
            or self._phrase_put(rest, turn)
            or self._amount_put(rest, turn)
            or self._name_put(rest, turn)
        )

    def _sum(self, rest: str, turn: LastTurn) -> str:
        value = _VALUE.search(turn.reply)
        return f"{value['value']} {rest}" if value and self._operation.fullmatch(rest) else ""

    def _asked_of_it(self, rest: str, turn: LastTurn) -> Found:
        """ "Und die Hauptstadt?": another property of what the question was about."""
        asked = self._property.fullmatch(rest)
        owner = self._topic(turn)
        if asked is None or not owner:
            return None
        form = self._wording.property_question
        return self._joined(form.format(relation=asked["relation"], owner=owner)), SURE

    def _asked_there(self, rest: str, turn: LastTurn) -> Found:
        """ "Wie viele Menschen leben dort?": the place is said."""
        there = self._there.search(rest)
        owner = self._topic(turn)
        if there is None or not owner:
            return None
        place = f"{self._wording.in_place} {owner}"
        return self._joined(f"{rest[: there.start()]}{place}{rest[there.end() :]}"), SURE

    def _bare(self, rest: str, text: str, turn: LastTurn) -> Found:
        """ "Berlin?", "à Paris ?": words that do not say that they go on, but ask."""
        if not text.rstrip().endswith("?") or len(rest.split()) > 3:
            return None
        found = self._phrase_put(rest, turn)
        if found is None and re.fullmatch(_NAME, rest):
            found = self._name_put(rest, turn)
        return (found[0], GUESS) if found else None

    def _day_put(self, rest: str, turn: LastTurn) -> Found:
        if not self._day.fullmatch(rest):
            return None
        old = _last(rf"(?<!\w)(?:{self._wording.days})(?!\w)", turn.question)
        if old is None:
            return _at_the_end(turn.question, rest), LIKELY
        return _put(turn.question, old, rest), SURE

    def _phrase_put(self, rest: str, turn: LastTurn) -> Found:
        """ "In Paris", "bis Ostern": a phrase in place of one with such a preposition."""
        for lead, phrase in zip(self._wording.prepositions, self._phrases, strict=True):
            said = phrase.fullmatch(rest)
            if said is None:
                continue
            old = self._phrase_of(turn.question, lead, number=said["object"][0].isdigit())
            if old is not None:
                return _put(turn.question, old, _POINTS.sub("", rest)), SURE
            return _at_the_end(turn.question, rest), LIKELY
        return None

    def _phrase_of(self, question: str, lead: str, *, number: bool) -> tuple[int, int] | None:
        """Return the last phrase of a question with one of these prepositions."""
        ends = "|".join(self._wording.prepositions)
        word = rf"(?!(?:{ends})\b)[^\s?!,;]+"
        what = _NUMBER if number else rf"{word}(?:\s+{word})*"
        return _last(rf"(?<!\w)(?:{lead})(?:(?<=')|\s){what}", question)

    def _amount_put(self, rest: str, turn: LastTurn) -> Found:
        """ "250", "20 Meilen": an amount in place of one."""
        new = _AMOUNT.fullmatch(rest)
        if new is None:
            return None
        found = list(_AMOUNT.finditer(turn.question))
        if not found:
            return None
        old = found[-1].span() if new["unit"] else found[-1].span("number")
        return _put(turn.question, old, rest), SURE

    def _name_put(self, rest: str, turn: LastTurn) -> Found:
        """ "Die Schweiz": a name in place of the last one, with its article."""
        said = re.fullmatch(
            rf"(?:(?P<article>{self._wording.articles})(?:(?<=')|\s))?(?P<name>.+)",
            rest,
            re.IGNORECASE,
        )
        if said is None or not said["name"][:1].isupper():
            return None
        names = list(self._names(turn))
        if not names:
            return None
        return self._joined(_put(turn.question, names[-1], rest)), SURE

    def _names(self, turn: LastTurn) -> Iterator[tuple[int, int]]:
        """Yield the places of names, with articles; entities that services found come last."""
        for found in self._named.finditer(turn.question):
            yield found.span()
        for entity in turn.entities:
            place = turn.question.find(entity)
            if place >= 0:
                yield place, place + len(entity)

    def _topic(self, turn: LastTurn) -> str:
        places = list(self._names(turn))
        return turn.question[slice(*places[-1])] if places else ""

    def _joined(self, text: str) -> str:
        """Return a text with prepositions and articles contracted."""
        for apart, one in self._wording.contractions:
            text = re.sub(rf"\b{apart}\b(?!')", one, text, flags=re.IGNORECASE)
        return text


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _last(pattern: str, text: str) -> tuple[int, int] | None:
    return max((one.span() for one in re.finditer(pattern, text, re.IGNORECASE)), default=None)


def _put(text: str, span: tuple[int, int], new: str) -> str:
    return f"{text[: span[0]]}{new}{text[span[1] :]}"


def _at_the_end(question: str, words: str) -> str:
    return f"{question.rstrip(' ?!.')} {words}{'?' if question.rstrip().endswith('?') else ''}"
