"""Questions in the languages of `wordings`: what they name, and their phrases.

Words are matched without accents. In a question in small letters, unusual words at its end are a
name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from prolocutor_demo.follow_ups.certainty import SURE, Found
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.wordings import Wording
from prolocutor_demo.reading.accents import without_accents

NUMBER: Final = r"-?\d[\d.,]*"
TRIMMED: Final = " \t?!.,;:¿¡"
_NAME_START: Final = re.compile(
    r"(?:new|san|santa|saint|st|los|las|sri|costa|puerto|neu|nueva|nuevo|nouvelle|el|la|le|buenos"
    r"|hong|kuala|tel|cape|rio|south|north|sud|nord)",
    re.IGNORECASE,
)
_WORD: Final = r"[^\W\d_]+"
NAME: Final = r"[A-ZÄÖÜÀ-Þ][\w.-]*(?: (?:de |del |da |of )?[A-ZÄÖÜÀ-Þ][\w.-]*)*"


class QuestionReader:
    """Reads the questions of one language."""

    def __init__(self, wording: Wording, is_frequent: Callable[[str], bool]) -> None:
        """Compile the patterns; `is_frequent`: whether a word tells a language."""
        self._wording, self._is_frequent = wording, is_frequent
        self._swapped = pattern_of(
            rf"(?P<n>{NUMBER})\s?(?P<a>{_WORD}(?: {_WORD})?)"
            rf" (?P<by>{wording.prepositions[0]}|to|zu) (?P<b>{_WORD}(?: {_WORD})?)[?!. ]*$"
        )
        self._named = re.compile(
            rf"(?<=\s)(?:(?i:{wording.articles})(?:(?<=')|\s))?{NAME}|(?<=[\s'])(?:{NAME})"
        )
        self._article = pattern_of(rf"(?:{wording.articles})(?:(?<=')|\s)")
        word = rf"(?!(?:{'|'.join(wording.prepositions)})\b)[^\s?!,;]+"
        leads = [
            rf"(?<!\w)(?:{lead})(?:(?<=')|\s)(?:(?:{wording.articles})(?:(?<=')|\s))?"
            for lead in wording.prepositions
        ]
        self._phrases = [pattern_of(rf"{lead}(?P<object>{word}(?:\s+{word})*)") for lead in leads]
        self._numbers = [pattern_of(rf"{lead}(?P<object>{NUMBER})") for lead in leads]
        self._leads = pattern_of("|".join(wording.prepositions))

    def swapped(self, turn: LastTurn) -> Found:
        """Return the question with its two units in each other's place."""
        found = self._swapped.search(without_accents(turn.question))
        if found is None:
            return None
        one, two = (turn.question[slice(*found.span(name))] for name in "ab")
        start = turn.question[: found.end("n")]
        return f"{start} {two} {found['by']} {one}", SURE

    def phrase_of(
        self, question: str, place: int, *, number: bool = False
    ) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Return the last phrase of a question with a preposition of that class, and its object."""
        pattern = (self._numbers if number else self._phrases)[place]
        found = list(pattern.finditer(without_accents(question)))
        return (found[-1].span(), found[-1].span("object")) if found else None

    def names(self, turn: LastTurn) -> Iterator[tuple[int, int]]:
        """Yield the places of names, with articles; entities that services found come last."""
        found = [
            one.span()
            for one in self._named.finditer(turn.question)
            if not self._is_frequent(one[0].split()[-1])
        ]
        typed = None if found else self._typed_name(turn.question)
        yield from found or ([typed] if typed else ())
        for entity in turn.entities:
            place = turn.question.find(entity)
            if place >= 0:
                yield place, place + len(entity)

    def _typed_name(self, question: str) -> tuple[int, int] | None:
        """Return where a name stands in a question in small letters: its last unusual words."""
        ended = question.rstrip(TRIMMED)
        words = list(re.finditer(r"[^\s,;:]+", ended))
        while words and self._is_frequent(words[-1][0]):
            words.pop()
        end = words[-1].end() if words else 0
        start = end
        while (
            words and self.may_be_a_name(words[-1][0]) and not self._leads.fullmatch(words[-1][0])
        ):
            start = words.pop().start()
        if words and not self._leads.fullmatch(words[-1][0]):
            start += _last_name(question[start:end])
        if not words or start == end or len(question[start:end].split()) > 3:
            return None
        before = re.search(rf"\b(?:{self._wording.articles})\s$", question[:start], re.IGNORECASE)
        return before.start() if before else start, end

    def topic(self, turn: LastTurn) -> str:
        """Return the topic of a question; "" if it names nothing."""
        places = list(self.names(turn))
        return turn.question[slice(*places[-1])] if places else ""

    def may_be_a_name(self, words: str) -> bool:
        """Whether words begin with none that tells a language, and hold no amount."""
        first = words.partition(" ")[0]
        return bool(first) and not re.search(r"\d", words) and not self._is_frequent(first)

    def bared(self, words: str) -> str:
        """Return a name without its article."""
        article = self._article.match(without_accents(words))
        return words[article.end() :] if article else words

    def joined(self, text: str) -> str:
        """Return a text with prepositions and articles contracted."""
        for apart, one in self._wording.contractions:
            text = re.sub(rf"\b{apart}\b(?!')", one, text, flags=re.IGNORECASE)
        return text


def _last_name(words: str) -> int:
    """Return where the last name of unusual words begins: "new york" in "liegt new york"."""
    start = words.rfind(" ") + 1
    before = words[: max(start - 1, 0)].rpartition(" ")[2]
    return start - len(before) - 1 if before and _NAME_START.fullmatch(before) else start


def pattern_of(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for texts without accents."""
    return re.compile(without_accents(pattern), re.IGNORECASE)
