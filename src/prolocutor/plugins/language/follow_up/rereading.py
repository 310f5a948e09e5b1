"""Other readings of words that no agent has answered: the request somewhere among them.

The first reading keeps all the words that may matter. When no agent knows what they mean, it costs
nothing to suppose that a part of them is the request and the rest chat: a reading is dropped unless
an agent answers it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from prolocutor.plugins.language.follow_up.fragments import Continuing, fragment_of
from prolocutor.plugins.language.follow_up.grammar import (
    TRIMMED,
    LanguageGrammar,
    any_of,
    grammar_or_english,
    pattern_of,
    plain_of,
)
from prolocutor.plugins.language.follow_up.last_turn import LastTurn
from prolocutor.plugins.language.follow_up.topics import topic_of
from prolocutor.reading.languages import is_frequent
from prolocutor.reading.plain_text import FoldedPattern

LEAST_WORDS: Final = 2
"""Words of the shortest request that is sought among others."""

_WORD: Final = re.compile(r"\S+")
_MARK: Final = re.compile(r"[.!?;:…]+(?=\s|$)|,(?=\s)|\s[–-]+(?=\s)")
_DIGIT: Final = re.compile(r"\d")
_SENTENCE: Final = frozenset(".!?")


def inner_requests(text: str, grammar: LanguageGrammar) -> Iterator[str]:
    """Return the parts of a text that may be a request by themselves, the likeliest first.

    A part begins where a clause does, or at a word that asks or orders; it ends at a mark, before
    words that make a condition, or with the text. The words around it are chat.
    """
    plain = plain_of(text)
    for start in _starts(text, plain, grammar):
        for end in dict.fromkeys(_ends(plain, start, grammar)):
            part = text[start:end].strip(f"{TRIMMED}-–")
            if not part or part == text or not _has_content(part, grammar):
                continue
            if _is_chat(plain[:start], grammar) and _is_chat(plain[end:], grammar):
                yield f"{part}?" if plain[end : end + 1] == "?" else part


def _starts(text: str, plain: str, grammar: LanguageGrammar) -> list[int]:
    """Return the places where a request may start, the likeliest first.

    Within a clause, only a direct question ("what time is it") and an order after words of kindness
    ("would you be so kind as to tell me") are such places.
    """
    marks = [0, *(one.end() for one in _MARK.finditer(plain))]
    words = [(one.start(), one[0].strip(TRIMMED)) for one in _WORD.finditer(plain)]
    asked_first = bool(words) and words[0][1] in grammar.questions
    places: list[tuple[int, int]] = []
    for n, (start, word) in enumerate(words):
        begins = any(mark <= start and not plain[mark:start].strip() for mark in marks)
        joined = begins or words[n - 1][1] == grammar.words.conjunction
        ordered = not begins and word.isalpha() and word not in grammar.function
        lead, after = plain[:start], [one for _, one in words[n + 1 : n + 3]]
        orders = grammar.commands.match(plain, start) is not None
        opens = word in grammar.helpers or grammar.opens_request(text[start:])
        if joined and opens:
            places.append((0 if start else 2, start))
        elif begins and fragment_of(text[start:], grammar).joined:
            places.append((2, start))
        elif joined and ordered and grammar.opens_request(lead):
            places.append((2, start))  # "could you do me a favour and halve 187"
        elif orders and not asked_first and _kind_words(grammar.code).search(lead):
            places.append((1, start))
        elif asked_first and _content_words(lead, grammar):
            continue
        elif word in grammar.questions and _asks(word, after, grammar):
            places.append((1, start))
    return [start for _, start in sorted(places)]


def _asks(word: str, after: list[str], grammar: LanguageGrammar) -> bool:
    """Return whether a question word and the words after it begin a question, not a clause."""
    verbs, said = grammar.auxiliaries, " ".join([word, *after])
    determines = "'" in word or any(said.startswith(f"{one} ") for one in grammar.determining)
    return determines or bool(after and after[0] in verbs)


def _ends(plain: str, start: int, grammar: LanguageGrammar) -> Iterator[int]:
    """Return the places where a request that starts somewhere may end."""
    condition = _reason_words(grammar.code).search(plain, start + 1)
    if condition is not None:
        yield condition.start()
    if mark := _MARK.search(plain, start):
        yield mark.start()
    yield len(plain)


@cache
def _reason_words(code: str) -> FoldedPattern:
    """Return the pattern of words that open a clause about why or if something is asked."""
    words = grammar_or_english(code).words
    return _words_pattern([*words.conditions, *words.reasons])


@cache
def _kind_words(code: str) -> FoldedPattern:
    """Return the pattern of words that ask kindly, or to be told."""
    words = grammar_or_english(code).words
    return _words_pattern([*words.kindness, *words.politeness, *words.telling])


@cache
def _chat_words(code: str) -> FoldedPattern:
    """Return the pattern of words by which people speak of themselves, or kindly."""
    words = grammar_or_english(code).words
    return _words_pattern([*words.speakers, *words.kindness, *words.courtesy, *words.politeness])


def _words_pattern(phrases: list[str]) -> FoldedPattern:
    return pattern_of(rf"(?<![\w'])(?:{any_of(phrases)})(?![\w'])")


def _is_chat(words: str, grammar: LanguageGrammar) -> bool:
    """Return whether words around a request may be left out.

    Each clause must have no word of a meaning of its own, or be about the speakers, or kind, or a
    sentence that asks nothing. Words with numbers are never left out.
    """
    if _DIGIT.search(words):
        return False
    start = 0
    for end, mark in [*((one.end(), one[0]) for one in _MARK.finditer(words)), (len(words), "")]:
        clause, begun, start = words[start:end].strip(), start > 0, end
        asks = grammar.opens_request(clause)
        orders = asks and grammar.commands.search(clause) is not None
        told = _content_words(clause, grammar)
        if not told or (_chat_words(grammar.code).search(clause) and not orders):
            continue
        sentence = mark[:1] in _SENTENCE or (begun and not mark)
        if not sentence or asks or fragment_of(clause, grammar).joined:
            return False
    return True


def _has_content(part: str, grammar: LanguageGrammar) -> bool:
    words = plain_of(part)
    told = _content_words(words, grammar) or grammar.slots(part, inside=True)
    return len(words.split()) >= LEAST_WORDS and bool(told)


def _content_words(plain: str, grammar: LanguageGrammar) -> list[str]:
    words: Iterable[str] = (one.strip(TRIMMED) for one in plain.split())
    return [one for one in words if one and one not in grammar.function and not is_frequent(one)]


def put_topic_first(text: str, turn: LastTurn, grammar: LanguageGrammar) -> str:
    """Return a question with the subject of the last turn before it: "the tour: may I bring a dog".

    "" for a text that asks nothing, and after an order.
    """
    asked = grammar_or_english(turn.language or grammar.code)
    orders = grammar.commands.match(plain_of(fragment_of(text, grammar).rest))
    asks = grammar.opens_request(text) and not orders
    asks = asks or text.rstrip().endswith("?")
    of_order = asked.commands.match(plain_of(turn.question)) is not None
    if not asks or of_order or not asked.opens_request(turn.question):
        return ""
    fragment = fragment_of(text, grammar)
    said = Continuing(asked, grammar, turn, fragment)
    topic = topic_of(said)
    if not topic:
        return ""
    kinds = {one.kind for one in grammar.slots(text, inside=True) if one.typed}
    more = [one for one in said.slots if one.typed and one.kind not in kinds]
    words = [turn.question[slice(*one.whole)] for one in more]
    kept = [one for one in words if plain_of(one) not in plain_of(topic)]
    return f"{' '.join([topic, *kept])}: {fragment.clause}"
