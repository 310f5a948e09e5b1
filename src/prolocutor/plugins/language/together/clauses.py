"""Clauses: an utterance cut where one request ends and another begins.

`ask_each` is a formatter for `fan_out: true`: an agent is asked for the whole utterance first and
then for each of its clauses. Most utterances are a single request; they are asked for once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import zip_longest
from typing import Any, Final

from prolocutor.plugins.language.follow_up.framing import framing_of
from prolocutor.plugins.language.follow_up.grammar import (
    ENGLISH,
    TO,
    WITHIN,
    LanguageGrammar,
    any_of,
    grammar_of,
    grammar_or_english,
    pattern_of,
    plain_of,
)
from prolocutor.plugins.language.together.ellipsis import (
    complete_clauses,
    leans_on,
    names_property,
    shared_owner,
)
from prolocutor.reading.languages import language_of
from prolocutor.reading.locales.locale import Words, codes
from prolocutor.reading.plain_text import FoldedPattern

MAX_CLAUSES: Final = 5
"""Clauses in one utterance; with more of them only the whole is asked for."""

LONGEST_TEXT: Final = 500

MOST_KEPT: Final = 64
"""Texts whose clauses are kept: every agent is asked for those of one utterance."""


class RequestPatterns:
    """The patterns that part requests in a language that lists the words by which they begin."""

    def __init__(self, words: Words) -> None:
        asks, sequels, joint = any_of(words.questions), any_of(words.sequels), words.conjunction
        self.gap = pattern_of(
            rf"(?<=[?!;]) |(?<=[^\W\d_]\.) |(?<=\)\.) | ?[,;]? (?:(?:{sequels}) )+| ?; ?"
            rf"|, (?=(?:{asks}|{any_of(words.restarts)})\b|\d|[\w' -]{{2,30}}(?:,| {joint} ))"
            rf"|,? {words.choice} (?=\d|(?:{asks})\b)"
        )
        self.compares = pattern_of(rf"\b(?:{any_of(words.comparisons)})\b")
        self.compared = pattern_of(
            rf"\b(?:{asks})\b[^,]* (?:the )?(?:\w+er|{any_of(words.comparisons)})\b[^,?]*, [^,?]*$"
        )
        self.choice = words.choice
        self.greeting = pattern_of(rf"(?:(?:{any_of(words.greetings)})[\s,.!]+)+")
        self.joint = pattern_of(rf"(?:(?:{sequels})\b[\s,]*)+")
        self.lead = pattern_of(rf"(?:(?:{any_of(words.lead_ins)})[\s,:.!]+)*")
        into = any_of([*words.prepositions[TO], *words.prepositions[WITHIN]])
        self.request = pattern_of(
            rf"(?:{any_of(words.requests)})\b|[-(]?\d[\d.,]*\s*"
            rf"(?:[%*/+^x×÷-]|{any_of(words.operators)}|[a-z°]+ (?:{into}) )"
        )

    def begins_request(self, text: str) -> bool:
        """Return whether a text begins as a request."""
        plain = plain_of(text).strip()
        lead = self.lead.match(plain)
        return self.request.match(plain, lead.end() if lead else 0) is not None

    def chooses(self, gap: str, before: str, text: str) -> bool:
        """Return whether the words before and after a gap in lower case are a choice of two."""
        before = plain_of(before)
        told = text if self.choice in gap.split() else before if gap[0] == "," else ""
        return bool(self.compares.search(plain_of(told)) or self.compared.search(before))

    def strip_joint(self, clause: str) -> str:
        """Return a clause without the words that join it to the one before."""
        joint = self.joint.match(plain_of(clause))
        return clause[joint.end() :] if joint else clause


@cache
def _request_patterns(code: str) -> RequestPatterns:
    return RequestPatterns(grammar_or_english(code).words)


def ask_each(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the requests for the whole utterance and for each of its clauses, if it has several.

    Of a follow-up that was rewritten (`rewrites: true`), the first request has the words as they
    were said, the second the question that they mean, the others its clauses. The requests share
    their common words.
    """
    last = state["human_utterances"][-1]
    asked = [state, *(_replace_text(state, last, clause) for clause in split_clauses(last["text"]))]
    said = last.get("orig_text")
    return asked if said is None else [_replace_text(state, last, said), *asked]


def split_clauses(text: str) -> list[str]:
    """Return the clauses of a text with several requests, or with a request after a greeting; else
    none.

    It is cut at the end of sentences and at "and", "then", "also", "plus", wherever what stands on
    either side reads like a request of its own, or like the rest of the one before.
    """
    return [*_split(text)] if len(text) <= LONGEST_TEXT else []


@lru_cache(maxsize=MOST_KEPT)
def _split(text: str) -> list[str]:
    text = " ".join(text.split())
    told = language_of(text)
    if (told is None or told.confidence < 1) and (mixed := _split_between_languages(text)):
        return mixed
    grammar = grammar_or_english(told.code if told is not None else ENGLISH)
    if not grammar.words.requests:
        return _split_with_grammar(text, grammar)
    code, patterns = grammar.code, _request_patterns(grammar.code)
    greeting = patterns.greeting.match(plain_of(text))
    greets = greeting is not None and patterns.begins_request(text[greeting.end() :])
    text = text[greeting.end() :] if greeting and greets else text
    every = _cut_apart(text, patterns.gap, patterns.begins_request, code)
    clauses = [one for one in every if not framing_of(code).explains(one)]
    whole = len(clauses) == len(every) == 1 and not greets
    if len(clauses) > MAX_CLAUSES or whole:
        return []
    return [patterns.strip_joint(one) for one in complete_clauses(clauses, code)]


def _split_between_languages(text: str) -> list[str]:
    """Return the two requests of a text, each in its language: "put milk on my list y dime qué
    hora es"; none for other texts.
    """
    for code in codes():
        for gap in _gaps(code).finditer(plain_of(text)):
            parts = text[: gap.start()].strip(), text[gap.end() :].strip()
            told = [language_of(one) for one in parts]
            if None in told or len({one.code for one in told if one}) < len(parts):
                continue
            if all(
                (grammar := grammar_of(one.code)) is not None and grammar.opens_request(part)
                for one, part in zip(told, parts, strict=True)
                if one is not None
            ):
                return [*parts]
    return []


def _split_with_grammar(text: str, grammar: LanguageGrammar) -> list[str]:
    """Return the clauses of a text in a language whose requests its grammar alone tells."""
    clauses = _cut_apart(
        text,
        _gaps(grammar.code),
        lambda one: grammar.opens_request(one) or names_property(one, grammar),
        grammar.code,
    )
    return complete_clauses(clauses, grammar.code) if 1 < len(clauses) <= MAX_CLAUSES else []


def _cut_apart(
    text: str, gap: FoldedPattern, is_request: Callable[[str], bool], code: str
) -> list[str]:
    """Return a text cut where a request, or what leans on the one before, stands on either side."""
    grammar = grammar_of(code)
    assert grammar is not None
    text = _politeness_between(code).sub(lambda _: "", text)
    clauses: list[str] = []
    start, listed = 0, grammar.words.requests
    gaps = [*gap.finditer(plain_of(text))]
    segments = [
        text[one.end() : after.start() if after else None]
        for one, after in zip_longest(gaps, gaps[1:])
    ]
    for place, (one, segment) in enumerate(zip(gaps, segments, strict=True)):
        before, rest = text[start : one.start()], text[one.end() :]
        if listed and _request_patterns(code).chooses(one[0], before, text):
            continue
        if shared_owner(before, segments[place:], grammar) or (
            (is_request(before) or leans_on(before, clauses, code))
            and (is_request(rest) or leans_on(segment, [*clauses, before], code))
        ):
            clauses.append(before)
            start = one.end()
    return [clause.strip() for clause in (*clauses, text[start:])]


@cache
def _politeness_between(code: str) -> FoldedPattern:
    """Return the pattern of politeness after a request and before the next: "please, and"."""
    grammar = grammar_of(code)
    assert grammar is not None
    polite = any_of(grammar.words.politeness)
    return pattern_of(rf",?\s+(?:{polite})(?=,? {grammar.words.conjunction} )")


@cache
def _gaps(code: str) -> FoldedPattern:
    grammar = grammar_of(code)
    joint = grammar.words.conjunction if grammar is not None else ""
    return pattern_of(rf"(?<=[?!;]) (?:{joint} )?|(?<=[^\W\d_]\.) (?:{joint} )?|,? {joint} ")


def _replace_text(state: dict[str, Any], last: dict[str, Any], text: str) -> dict[str, Any]:
    changed = {**last, "text": text}
    return {
        **state,
        "human_utterances": [*state["human_utterances"][:-1], changed],
        "utterances": [*state["utterances"][:-1], changed],
    }
