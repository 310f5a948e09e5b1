"""Clauses: an utterance cut where one request ends and another begins.

`ask_each` is a formatter for `fan_out: true`: an agent is asked for the whole utterance first and
then for each of its clauses. Most utterances are a single request; they are asked for once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import zip_longest
from typing import Any, Final

from prolocutor.plugins.language.follow_up.framing import framing_of
from prolocutor.plugins.language.follow_up.grammar import (
    ENGLISH,
    LanguageGrammar,
    grammar_of,
)
from prolocutor.plugins.language.together.ellipsis import (
    complete_clauses,
    leans_on,
    names_property,
    shared_owner,
)
from prolocutor.reading.languages import language_of
from prolocutor.reading.locales.locale import codes

MAX_CLAUSES: Final = 5
"""Clauses in one utterance; with more of them only the whole is asked for."""

LONGEST_TEXT: Final = 500

MOST_KEPT: Final = 64
"""Texts whose clauses are kept: every agent is asked for those of one utterance."""

_STARTS_ANEW: Final = (
    r"(?:(?:what|how|when|who|where|which)(?:'s|s)?|tell me|convert|define|set|flip|roll|remind me"
    r"|give me|show me|(?:the )?[a-z]{4,} of)\b"
)
_SUM: Final = r"\d[\d.]*\s*(?:[-+*/^x×÷]|plus|minus|times|divided by)\s*\d"
_BREAK: Final = re.compile(
    r"(?<=[?!;]) |(?<=[a-z)]\.) "
    r"| ?[,;]? (?:(?:and|then|plus|also|&) )+(?:(?:then|also) )?| ?; ?"
    rf"|, (?={_STARTS_ANEW}|{_SUM}|\d|[\w' -]{{2,30}}(?:,| and ))"
    r"|,? or (?=\d|(?:what|how|when|who|where|which)\b)",
    re.IGNORECASE,
)
_COMPARES: Final = re.compile(
    r"\b(?:which|bigger|smaller|larger|more|less|greater|pick|choose|either)\b", re.IGNORECASE
)
_COMPARED: Final = re.compile(
    r"\b(?:who|which|what)\b[^,]* (?:the )?(?:\w+er|more|less|better|worse)\b[^,?]*, [^,?]*$",
    re.IGNORECASE,
)
"""A choice of two as far as the first of them."""
_GREETING: Final = re.compile(
    r"(?:(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day))"
    r"(?: there| again| you| prolocutor| assistant)?[\s,.!]+)+",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(r"(?:(?:and|then|also|plus)\b[\s,]*)+", re.IGNORECASE)
_LEAD: Final = re.compile(
    r"(?:(?:and|then|also|plus|so|well|ok|okay|oh|hey|hi|hello|please|kindly|just|now|first|next|"
    r"after that|by the way|btw|quickly|can you|could you|would you|will you|i want you to|"
    r"i'd like you to|i need you to)[\s,:.!]+)*",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    r"(?:what|whats|what's|which|who|who's|whose|when|when's|where|where's|why|how|how's|"
    r"is|are|was|were|does|do|did|has|have|will|am|should|may|must|isn't|aren't|"
    r"tell|give|show|say|list|name|find|look|read|check|calculate|compute|convert|work out|solve|"
    r"(?:i )?(?:need|want) (?:to know )?(?:the|an?|some) |"
    r"add|put|pop|set|start|stop|pause|cancel|delete|remove|clear|remind|wake|mark|tick|cross|move|"
    r"flip|toss|roll|throw|pick|choose|draw|generate|define|explain|translate|spell|count|"
    r"divide|multiply|i want to know|i'd like to know|i would like to know|i wonder|do you know|"
    r"let me know|let me hear|make me laugh|the time|the weather|the meaning|the capital|the date|"
    r"use|(?:the )?[a-z]{4,}(?: [a-z]+)? (?:of|for) (?=\w)|"
    r"another (?:one|joke)|one more|help|time in|time at)\b"
    r"|[-(]?\d[\d.,]*\s*(?:[-+*/^x×÷%]|plus|minus|times|divided|percent|[a-z°]+ (?:to|in|into) )",
    re.IGNORECASE,
)


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
    grammar = grammar_of(told.code) if told is not None and told.code != ENGLISH else None
    if grammar is not None:
        return _split_with_grammar(text, grammar)
    greeting = _GREETING.match(text)
    if greeting and _is_request(text[greeting.end() :]):
        text = text[greeting.end() :]
    else:
        greeting = None
    every = _cut_apart(text, _BREAK, _is_request, ENGLISH)
    clauses = [one for one in every if not framing_of(ENGLISH).explains(one)]
    whole = len(clauses) == len(every) == 1 and not greeting
    if len(clauses) > MAX_CLAUSES or whole:
        return []
    return [_drop_joint(clause) for clause in complete_clauses(clauses)]


def _split_between_languages(text: str) -> list[str]:
    """Return the two requests of a text, each in its language: "put milk on my list y dime qué
    hora es"; none for other texts.
    """
    for code in codes():
        for gap in _gaps(code).finditer(text):
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
    """Return the clauses of a text in another language than English, as its grammar tells them."""
    clauses = _cut_apart(
        text,
        _gaps(grammar.code),
        lambda one: grammar.opens_request(one) or names_property(one, grammar),
        grammar.code,
    )
    return complete_clauses(clauses, grammar.code) if 1 < len(clauses) <= MAX_CLAUSES else []


def _cut_apart(
    text: str, gap: re.Pattern[str], is_request: Callable[[str], bool], code: str
) -> list[str]:
    """Return a text cut where a request, or what leans on the one before, stands on either side."""
    grammar = grammar_of(code)
    assert grammar is not None
    text = _politeness_between(code).sub("", text)
    clauses: list[str] = []
    start = 0
    gaps = [*gap.finditer(text)]
    segments = [
        text[one.end() : after.start() if after else None]
        for one, after in zip_longest(gaps, gaps[1:])
    ]
    for place, (one, segment) in enumerate(zip(gaps, segments, strict=True)):
        before, rest = text[start : one.start()], text[one.end() :]
        if code == ENGLISH and _chooses(one[0], before, text):
            continue
        if shared_owner(before, segments[place:], grammar) or (
            (is_request(before) or leans_on(before, clauses, code))
            and (is_request(rest) or leans_on(segment, [*clauses, before], code))
        ):
            clauses.append(before)
            start = one.end()
    return [clause.strip() for clause in (*clauses, text[start:])]


@cache
def _politeness_between(code: str) -> re.Pattern[str]:
    """Return the pattern of politeness after a request and before the next: "please, and"."""
    grammar = grammar_of(code)
    assert grammar is not None
    polite = "|".join(grammar.words.politeness) or "(?!)"
    return re.compile(rf",?\s+(?:{polite})(?=,? {grammar.words.conjunction} )", re.IGNORECASE)


def _chooses(gap: str, before: str, text: str) -> bool:
    """Return whether what a gap parts is a choice of two."""
    picks = "or" in gap.lower().split() and _COMPARES.search(text) is not None
    picks = picks or (gap[0] == "," and _COMPARES.search(before) is not None)
    return picks or _COMPARED.search(before) is not None


@cache
def _gaps(code: str) -> re.Pattern[str]:
    grammar = grammar_of(code)
    joint = grammar.words.conjunction if grammar is not None else ""
    return re.compile(
        rf"(?<=[?!;]) (?:{joint} )?|(?<=[^\W\d_]\.) (?:{joint} )?|,? {joint} ", re.IGNORECASE
    )


def _drop_joint(clause: str) -> str:
    joint = _JOINT.match(clause)
    return clause[joint.end() :] if joint else clause


def _is_request(text: str) -> bool:
    text = text.strip()
    lead = _LEAD.match(text)
    return _REQUEST.match(text, lead.end() if lead else 0) is not None


def _replace_text(state: dict[str, Any], last: dict[str, Any], text: str) -> dict[str, Any]:
    changed = {**last, "text": text}
    return {
        **state,
        "human_utterances": [*state["human_utterances"][:-1], changed],
        "utterances": [*state["utterances"][:-1], changed],
    }
