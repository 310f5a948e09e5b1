"""Reads which of the offered choices is meant: by number, title, or position."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import Any, ClassVar, Final

from prolocutor.asks import yesno
from prolocutor.asks.answers import AnswerContext, AskOptions, NotUnderstood, Outcome, Understood
from prolocutor.reading.languages import asks, denies, is_frequent, mended_parts, without_framing
from prolocutor.reading.locales.locale import codes, find_words
from prolocutor.reading.plain_text import bare, plain, strip_accents

_ORDINALS: Final = {
    word: n
    for n, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
    )
}
_NUMBERS: Final = {
    word: n
    for n, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split()
    )
}
_LEAD: Final = re.compile(
    r"^(?:(?:i'll take|i will take|i'd like|i would like|i want|i choose|i pick|i prefer|give me"
    r"|take|choose|pick|select|go for|go with|let'?s go with|let'?s take|definitely|rather|with"
    r"|for|just|(?:i'll|i will|(?:can|could|may) i) (?:have|get)|ich (?:nehme|möchte|will|wähle)"
    r"|nehme|nimm|gib mir|lieber|dann|je (?:prends|veux|voudrais|choisis)|prends|donne-moi|plutôt"
    r"|quiero|me quedo con|prefiero|dame|elijo|escojo|mejor)\s+)+"
)
_NUMBERED: Final = re.compile(
    r"(?:(?:the )?(?:number|no\.?|option|choice|item|answer)|#)? ?(?P<digits>\d{1,6})[.)]?"
)
_PLACED: Final = re.compile(
    r"(?:(?:the|that|this) )?(?:very )?(?P<word>[a-z]+|(?P<digits>\d{1,4})(?:st|nd|rd|th))"
    r"(?: (?:one|option|choice|item|of them))?"
)
_NAMED_NUMBER: Final = re.compile(
    r"(?:(?:the )?(?:number|option|choice|item|answer) )?(?P<word>[a-z]+)"
)
_AROUND: Final = ("hesitation", "fillers", "openers", "politeness", "softeners")
_MOST_AMONG: Final = 6
"""Words of an answer that names a title among others."""

_ENDING: Final = re.compile(r"(?<=\w{3})(?:e[mnrs]?|[ao]s?|s)$")
_BRACKETS: Final = re.compile(r"\(([^()]+)\)$")
_ABOUT: Final = re.compile(r"^(?:the|a|an) | (?:one|option|choice)$")


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a choice: `{"idx", "title"}`, idx counted from 0; in words the first is 1."""
    titles = [plain(choice.title) for choice in context.choices]
    phrase = _LEAD.sub("", bare(text), count=1)
    short = _LEAD.sub("", without_framing(bare(text), *_AROUND), count=1)
    if (titled := _titled(text, titles)) is not None:
        return _choose(titled, context)
    for reading in dict.fromkeys((plain(text), bare(text), phrase, short)):
        index = _index(reading, titles)
        if index is not None:
            return _choose(index, context)
    first, comma, _ = text.partition(",")  # "the former, i.e. the big one"
    if comma and not asks(text) and not denies(text) and mended_parts(text) is None:
        index = _find_position(bare(first), len(titles))
        if index is not None:
            return _choose(index, context)
    stem = _stem(short)
    alike = [n for n, title in enumerate(titles) if stem and _stem(title) == stem]
    if len(alike) == 1:
        return _choose(alike[0], context)
    if (side := yesno.read_yes_no(text, firmly=True)) is not None:
        meant = [n for n, title in enumerate(titles) if _yes_no_side(title) is side]
        if len(meant) == 1:
            return _choose(meant[0], context)
    return NotUnderstood(OneOfChoices.hint)


def _titled(text: str, titles: list[str]) -> int | None:
    """Return the only title that is said after frequent words alone: "the one with pear"."""
    words = without_framing(bare(text), *_AROUND).split()
    if len(words) > _MOST_AMONG or asks(text) or denies(text):
        return None
    small = _small_words(codes())
    empty = (is_frequent(word) or word in small for word in words)
    lead = next((n for n, is_empty in enumerate(empty) if not is_empty), 0)
    stem = _stem(" ".join(words[lead:]))
    positions = [n for n, title in enumerate(titles) if _stem(title) == stem]
    return positions[0] if lead and len(positions) == 1 else None


@cache
def _small_words(every: tuple[str, ...]) -> frozenset[str]:
    """Return the words of all languages that lead to a thing: "the", "one", "with"."""
    word_lists = [words for code in every if (words := find_words(code)) is not None]
    lists = [
        (one.articles, one.indefinite, one.demonstratives, *one.prepositions, one.joints)
        for one in word_lists
    ]
    phrases = (phrase for some in lists for each in some for phrase in each)
    return frozenset(re.findall(r"\w+", " ".join(phrases)))


def _stem(said: str) -> str:
    """Return a title without article and accents, its words without their endings: "das Grüne"."""
    name = without_framing(_bare_title(said), "articles", "indefinite", "demonstratives", "ones")
    return " ".join(_ENDING.sub("", word) for word in strip_accents(name).split())


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed choice: its idx, from 0; or a title."""
    if type_name == "raw_string" and isinstance(value, str):
        return read(value, context)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if type_name in {"choice", "number"} and whole and 0 <= value < len(context.choices):
        return _choose(value, context)
    return NotUnderstood(OneOfChoices.hint)


def _yes_no_side(title: str) -> bool | None:
    """Return whether a title says yes or no, as a whole or in brackets: "Approve (yes)"."""
    named = _BRACKETS.search(title)
    return yesno.read_yes_no(named[1] if named else title, firmly=True)


def _choose(index: int, context: AnswerContext) -> Understood:
    return Understood({"idx": index, "title": context.choices[index].title})


def _index(said: str, titles: list[str]) -> int | None:
    if not said:
        return None
    if titles.count(said) >= 1:
        return titles.index(said) if titles.count(said) == 1 else None
    counted = _find_position(said, len(titles))
    begun = _begun(said, titles)
    if counted is not None:
        return counted if begun in {None, counted} else None
    return begun


def _find_position(said: str, length: int) -> int | None:
    """Find the position in a text: "2", "number 2", "the second one", "last"."""
    index: int | None = None
    if match := _NUMBERED.fullmatch(said):
        index = int(match["digits"]) - 1
    elif (match := _NAMED_NUMBER.fullmatch(said)) and match["word"] in _NUMBERS:
        index = _NUMBERS[match["word"]]
    elif match := _PLACED.fullmatch(said):
        if match["digits"]:
            index = int(match["digits"]) - 1
        elif match["word"] in {"last", "final", "latter"}:
            index = length - 1
        elif match["word"] == "former":
            index = 0
        else:
            index = _ORDINALS.get(match["word"])
    if index is None:
        places = (n for n, way in enumerate(_ordinals()) if way.fullmatch(said))
        index = next(places, None)
    return index if index is not None and 0 <= index < length else None


@cache
def _ordinals() -> list[re.Pattern[str]]:
    """Return the words for the first, the second and so on in any known language."""
    word_lists = [words for code in codes() if (words := find_words(code)) is not None]
    most = max((len(words.ordinals) for words in word_lists), default=0)
    ways = [
        [way for one in word_lists for way in chain(*one.ordinals[n : n + 1])] for n in range(most)
    ]
    return [re.compile("|".join(each)) for each in ways]


def _begun(said: str, titles: list[str]) -> int | None:
    """Find the only title with a text as its beginning, else the only title with it as a word."""
    for short in dict.fromkeys((said, _ABOUT.sub("", _ABOUT.sub("", said)))):
        if not short:
            continue
        begun = [n for n, title in enumerate(titles) if _bare_title(title).startswith(short)]
        if len(begun) == 1:
            return begun[0]
        within = [n for n, title in enumerate(titles) if short in re.split(r"\W+", title)]
        if not begun and len(within) == 1:
            return within[0]
    return None


def _bare_title(title: str) -> str:
    return title.strip("\"'«»().")


class OneOfChoices(AskOptions, frozen=True):
    """A choice, as {idx, title}."""

    hint: ClassVar[str] = "Please choose one of these."
    before_controls: ClassVar[bool] = True
    is_found_among: ClassVar[bool] = True
    read, take = staticmethod(read), staticmethod(take)
