"""Detects the language of a text among a few, by frequent words and by letters.

It is small on purpose: no model, but the frequent words of `words.yaml`, which also count without
their accents and apostrophes. Utterances are short, and ambiguous texts ("12 * 8", "ok", "Paris?")
have no language.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple

from prolocutor.reading.locales.locale import Words, codes, find_words
from prolocutor.reading.plain_text import FoldedPattern, fold_text, strip_accents

MAX_CHARACTERS: Final = 400
"""The number of characters read of a text."""

_LONGEST_ANSWER: Final = 100
"""The number of characters of the longest answer that mends itself."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_DIGIT: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[^\W\d_]+")
_SHORT: Final = frozenset("aiyà")
_OPENS: Final = re.compile(r"\W*(\w+)\b")
_WEIGHT_OF_LETTERS: Final = 1.5
_MIN_SCORE: Final = 1.0
"""The least score of a language that is recognized."""

_ORDERING: Final = 5
"""The least number of letters of a verb that tells a language by itself, at the start."""

_MIN_LEAD: Final = 0.5
"""The least lead of its score over the second language's."""


class DetectedLanguage(NamedTuple):
    """A language (ISO 639-1), and its likelihood: from 0.5 to 1."""

    code: str
    confidence: float


class KnownLanguages(NamedTuple):
    """All languages by their characteristic words, letters, forms and conjunctions."""

    words: dict[str, tuple[str, ...]]
    letters: dict[str, str]
    forms: dict[str, re.Pattern[str]]
    conjunctions: dict[str, str]


@cache
def _known_languages(every: tuple[str, ...]) -> KnownLanguages:
    table: dict[str, tuple[str, ...]] = {}
    letters: dict[str, str] = {}
    forms: dict[str, re.Pattern[str]] = {}
    conjunctions: dict[str, str] = {}
    for code in every:
        words = find_words(code) or Words(name=code)
        for word in words.frequent.split():
            for part in _typed_forms(word):
                table[part] = tuple(dict.fromkeys((*table.get(part, ()), code)))
        letters[code] = words.letters
        if words.forms:
            forms[code] = re.compile("|".join(words.forms))
        conjunctions.setdefault(words.conjunction, code)
    return KnownLanguages(table, letters, forms, conjunctions)


def _typed_forms(word: str) -> list[str]:
    """Return the parts of a word, also as people type them: "c'est" as "cest", "él" as "el"."""
    parts = [one for one in _WORD.findall(word) if len(one) > 1 or one in _SHORT]
    bare = [one for part in (*parts, word.replace("'", "")) if len(one := strip_accents(part)) > 1]
    return list(dict.fromkeys((*parts, *bare)))


def is_frequent(word: str) -> bool:
    """Whether a word is characteristic of a language."""
    table = _known_languages(codes()).words
    return all(part in table for part in _WORD.findall(word.lower()))


def tells_surely(text: str, code: str) -> bool:
    """Whether more than one word of many tells that a text is in a language.

    >>> tells_surely("bin bags and tape", "de"), tells_surely("was ist das für ein bin", "de")
    (False, True)
    """
    known, words = _known_languages(codes()).words, _WORD.findall(text[:MAX_CHARACTERS].lower())
    telling = sum(code in known.get(one, ()) for one in words)
    return telling > 1 or 2 * telling >= len(words) or not text.isascii()


def asks(text: str) -> bool:
    """Whether a text ends as a question does, or opens with a question word of any language,
    courtesies and hesitation left aside.

    >>> asks("when is high tide"), asks("oh, um, what is due?"), asks("Friday")
    (True, True, False)
    """
    said = fold_text(text[:MAX_CHARACTERS])
    return text.rstrip().endswith("?") or _opening("questions", codes()).match(said) is not None


def orders(text: str) -> bool:
    """Whether a text opens as an order does in any language, courtesies left aside.

    >>> orders("please set a timer"), orders("stell einen Wecker"), orders("a new bicycle")
    (True, True, False)
    """
    return _opening("orders", codes()).match(fold_text(text[:MAX_CHARACTERS])) is not None


def denies(text: str) -> bool:
    """Return whether a text has a negation of any language.

    >>> denies("not four"), denies("vier Personen")
    (True, False)
    """
    return _negations(codes()).search(fold_text(text[:MAX_CHARACTERS])) is not None


@cache
def _negations(every: tuple[str, ...]) -> FoldedPattern:
    known = [words for code in every if (words := find_words(code)) is not None]
    negations = strip_accents("|".join(one for words in known for one in words.negation))
    return FoldedPattern(rf"\b(?:{negations or '(?!)'})\b")


def is_courtesy(text: str) -> bool:
    """Whether a text is nothing but courtesy in any language, such as a greeting or thanks.

    >>> is_courtesy("hi there!"), is_courtesy("vielen Dank"), is_courtesy("hello, pay the bill")
    (True, True, False)
    """
    said = fold_text(text[:MAX_CHARACTERS])
    return len(text) <= MAX_CHARACTERS and _courtesy(codes()).fullmatch(said) is not None


@cache
def _courtesy(every: tuple[str, ...]) -> FoldedPattern:
    known = [words for code in every if (words := find_words(code)) is not None]
    polite = "|".join(
        one
        for words in known
        for one in (*words.courtesy, *words.politeness, *words.openers, *words.hesitation)
    )
    pattern = rf"\W*+(?:(?:{polite or '(?!)'})(?!\w)\W*+)*+"
    return FoldedPattern(strip_accents(pattern))


def without_framing(text: str, *fields: str) -> str:
    """Return a text without the phrases of these fields of `Words` before and after it, in any
    language; all of the text where nothing else is in it, or it is longer than `MAX_CHARACTERS`.

    >>> without_framing("äh, drei bitte", "hesitation", "politeness")
    'drei'
    """
    said = fold_text(text)
    lead, tail = _framing(fields, codes())
    start = match.end() if len(text) <= MAX_CHARACTERS and (match := lead.match(said)) else 0
    end = match.start() if start < len(text) and (match := tail.search(said, start)) else len(text)
    return text[start:end] if start < end <= MAX_CHARACTERS else text


@cache
def _framing(
    fields: tuple[str, ...], every: tuple[str, ...]
) -> tuple[FoldedPattern, FoldedPattern]:
    """Return the patterns of what stands before a text, and of what stands after it."""
    known = [words for code in every if (words := find_words(code)) is not None]
    frame = "|".join(one for words in known for field in fields for one in getattr(words, field))
    frame = strip_accents(frame) or "(?!)"
    lead = rf"[\s,.…]*+(?:(?:{frame})(?![\w'-])[\s,.…!]*+)*+"
    tail = rf"(?:(?<![\s,.…!])[\s,.…!]++(?:{frame})(?![\w'-]))++[\s,.…!?]*+$"
    return FoldedPattern(lead), FoldedPattern(tail)


def mended_parts(text: str) -> tuple[str, str] | None:
    """Return what stands before and after the last words of any language that mend what was said.

    A negation mends nothing: "three, not four" is three. Only short texts are read.

    >>> mended_parts("three, no four"), mended_parts("drei, nicht vier")
    (('three', 'four'), None)
    """
    return _mended_parts(text, codes()) if len(text) <= _LONGEST_ANSWER else None


@lru_cache(maxsize=64)
def _mended_parts(text: str, every: tuple[str, ...]) -> tuple[str, str] | None:
    found = [*_mending(every).finditer(fold_text(text))]
    return (text[: found[-1].start()], text[found[-1].end() :]) if found else None


@cache
def _mending(every: tuple[str, ...]) -> FoldedPattern:
    known = [words for code in every if (words := find_words(code)) is not None]
    mends = "|".join(
        rf"(?!(?:{'|'.join(words.negation) or '(?!)'})(?!\w))(?:{'|'.join(words.mends) or '(?!)'})"
        for words in known
    )
    said = (filler for words in known for filler in (*words.fillers, *words.hesitation))
    aside = "|".join(one for one in said if not re.fullmatch(mends, one))
    pattern = (
        rf"(?<=\w)[\s,.;…!-]++"
        rf"(?:(?:{aside or '(?!)'})(?!\w)[\s,.;…!-]++)*+"
        rf"(?:(?:{mends or '(?!)'})(?!\w)[\s,.;…!-]++)++"
    )
    return FoldedPattern(strip_accents(pattern))


@cache
def _opening(field: str, every: tuple[str, ...]) -> FoldedPattern:
    """Return the pattern of texts that begin with phrases of a field of `Words`."""
    known = [words for code in every if (words := find_words(code)) is not None]
    left = "|".join(
        one
        for words in known
        for one in (*words.politeness, *words.openers, *words.hesitation, *words.mends)
    )
    told = "|".join(one for words in known for one in getattr(words, field))
    pattern = rf"\W*+(?:(?:{left or '(?!)'})\b[\s,.…]++)*+(?:{told or '(?!)'})(?!\w)"
    return FoldedPattern(strip_accents(pattern))


def language_of(text: str) -> DetectedLanguage | None:
    """Return the language of a text; None if its words and letters are ambiguous.

    >>> language_of("Wie spät ist es in Paris?").code, language_of("12 * 8"), language_of("Paris?")
    ('de', None, None)
    """
    return _detect_language(text[:MAX_CHARACTERS].lower(), codes())


def language_of_request(text: str) -> DetectedLanguage | None:
    """Return the language of the last sentence that asks or orders, courtesy left aside; else that
    of the text.

    >>> language_of_request("Sorry, my German is bad. Quelle heure est-il ?").code
    'fr'
    >>> language_of_request("danke, and what is the time").code
    'en'
    """
    return _language_of_request(text[:MAX_CHARACTERS], codes())


@lru_cache(maxsize=256)
def _language_of_request(text: str, every: tuple[str, ...]) -> DetectedLanguage | None:
    whole = _detect_language(text.lower(), every)
    if whole is not None and whole.confidence == 1:
        return whole  # no word is of another language
    said = without_framing(text, "courtesy", "politeness", "openers")
    parts = _SENTENCE.split(said)
    for part in reversed(parts if len(parts) > 1 else []):
        if (asks(part) or orders(part)) and (told := language_of(part)):
            return told
    return language_of(said) or whole


def without_chat(text: str, code: str) -> str:
    """Return a text without courtesy of other languages than its own around it, and without the
    sentences before its request that are in another, and neither ask, order nor name a number.

    >>> without_chat("Danke, what is the time por favor", "en")
    'what is the time'
    >>> without_chat("kannst du mir sagen what is the time", "en")
    'what is the time'
    """
    lead, tail = _courtesy_of_others(code, codes())
    said = fold_text(text)
    start = match.end() if (match := lead.match(said)) else 0
    end = match.start() if (match := tail.search(said, start)) else len(text)
    parts = _SENTENCE.split(text[start:end] if start < end else text)
    while len(parts) > 1:
        told = language_of(parts[0])
        other = told is not None and told.code != code and not _DIGIT.search(parts[0])
        if not other or asks(parts[0]) or orders(parts[0]):
            break
        parts.pop(0)
    return " ".join(parts)


@cache
def _courtesy_of_others(own: str, every: tuple[str, ...]) -> tuple[FoldedPattern, FoldedPattern]:
    """Return the patterns of courtesy before and after a text in all languages but one."""
    others = [words for code in every if code != own and (words := find_words(code)) is not None]
    chat = "|".join(one for words in others for one in (*words.courtesy, *words.politeness))
    soft = "|".join(softener for words in others for softener in words.softeners) or "(?!)"
    opens = (
        "|".join(opener for words in others for opener in words.openers if " " in opener) or "(?!)"
    )
    known = find_words(own)
    own_opens = "|".join(known.openers) if known else ""
    mends = "|".join(
        mend for words in (*others, *([known] if known else [])) for mend in words.mends
    )
    chat = chat or "(?!)"
    lead = (
        rf"(?!(?:{mends or '(?!)'})(?!\w))"
        rf"(?:(?:(?:{own_opens or '(?!)'})[\s,]+)*+(?:{opens})[\s,]+"
        rf"|(?:{chat})(?:[ ,]+(?:{chat}))*[ ]*[,.!]+\s+|(?:{soft})[\s,]+)+"
    )
    patterns = (lead, rf"(?:[\s,]+(?:{soft})|,\s+(?:{chat}))(?=[.!?]*$)")
    first, last = (FoldedPattern(strip_accents(pattern)) for pattern in patterns)
    return first, last


@cache
def _ordering(every: tuple[str, ...]) -> dict[str, DetectedLanguage]:
    """Return the language of each word by which orders begin in one language alone."""
    known = {code: words for code in every if (words := find_words(code)) is not None}
    told = {
        code: {*_WORD.findall(" ".join((*words.orders, *words.mends)))}
        for code, words in known.items()
    }
    return {
        form: DetectedLanguage(code, 0.5)
        for code, words in known.items()
        for one in words.orders
        for word in _WORD.findall(one)
        if len(word) >= _ORDERING and not any(word in told[two] for two in known if two != code)
        for form in {word, strip_accents(word)}
    }


@lru_cache(maxsize=1024)
def _detect_language(said: str, every: tuple[str, ...]) -> DetectedLanguage | None:
    known = _known_languages(every)
    scores = dict.fromkeys(every, 0.0)
    for word in _WORD.findall(said):
        told = known.words.get(word, ())
        for code in told:
            scores[code] = scores.get(code, 0.0) + 1 / len(told)
    opens = _OPENS.match(said)
    if opens and opens[1] in known.conjunctions:
        code = known.conjunctions[opens[1]]
        scores[code] = scores.get(code, 0.0) + 1
    for code, form in known.forms.items():
        if form.search(said):
            scores[code] = scores.get(code, 0.0) + _WEIGHT_OF_LETTERS
    for code, letters in () if said.isascii() else known.letters.items():
        if letters and any(letter in said for letter in letters):
            scores[code] = scores.get(code, 0.0) + _WEIGHT_OF_LETTERS
    code, best = max(scores.items(), key=lambda item: item[1])
    others = sum(scores.values()) - best
    second = max(score for other, score in scores.items() if other != code)
    if best < _MIN_SCORE or best - second < _MIN_LEAD:
        ordered = _ordering(every).get(opens[1]) if opens and best - second < _MIN_LEAD else None
        leads = ordered is not None and scores[ordered.code] >= best - _MIN_LEAD
        return ordered if leads else None
    return DetectedLanguage(code, round(best / (best + others), 2))
