"""Ellipsis: the omitted words of a clause, put back from the clauses beside it.

"What time is it in Tokyo? And in London?" asks two things, the second of them in two words. A
clause leans on the clause before if it would lean on it as a question of the last turn.
"""

from __future__ import annotations

import re
from typing import Final

from prolocutor.plugins.language.follow_up.annotator import ENGLISH, question_of
from prolocutor.plugins.language.follow_up.certainty import SURE
from prolocutor.plugins.language.follow_up.grammar import (
    BETWEEN,
    TRIMMED,
    LanguageGrammar,
    Part,
    grammar_of,
    plain_of,
)
from prolocutor.plugins.language.follow_up.last_turn import LastTurn

_NOUN: Final = (
    r"(?:population|capital(?: city)?|currency|area|size|languages?|neighbou?rs|continent"
    r"|synonyms?|antonyms?|opposite|meaning|definition)"
)
_NOUN_ALONE: Final = re.compile(rf".*\b{_NOUN}", re.IGNORECASE)
_NOUN_OF: Final = re.compile(
    rf"(?:the )?{_NOUN} (?P<of>(?:of|for) [\w' .-]{{1,40}}?)[?!.]*", re.IGNORECASE
)

_OF: Final = re.compile(r"\b(?:of|for|in|its|their|there|that)\b", re.IGNORECASE)
_OF_AT_END: Final = re.compile(rf"\b{_NOUN} (?P<of>(?:of|for) [\w' .-]{{1,40}}?)[?!.]*$")

MOST_COORDINATED: Final = 3
"""Words of a thing that is joined to another by "and"."""

_ENUMERATED: Final = re.compile(r"(?:and )?one\b(?! more)", re.IGNORECASE)
"""The second of "one for 5 minutes and one for 10 minutes", which is no repetition."""


def leans_on(clause: str, before: list[str], code: str = ENGLISH) -> bool:
    """Whether the clause is no request of its own, but one together with the clauses before it."""
    return bool(before) and complete_clauses([*before, clause], code)[-1] != clause


def complete_clauses(clauses: list[str], code: str = ENGLISH) -> list[str]:
    """Return the clauses with their omitted words put back."""
    full: list[str] = []
    before, grammar = "", grammar_of(code)
    for index, clause in enumerate(clauses):
        after = clauses[index + 1] if index + 1 < len(clauses) else ""
        of = _NOUN_OF.fullmatch(after)
        if of and _NOUN_ALONE.fullmatch(clause):
            clause = f"{clause} {of['of']}"
        before = _complete_clause(clause, before, code) if full else clause
        full.append(_with_end_of(after, before, grammar) if after and grammar else before)
    return full


def _complete_clause(clause: str, before: str, code: str) -> str:
    if _ENUMERATED.match(clause):
        return clause
    grammar = grammar_of(code)
    joins = grammar is not None and _has_its_like(clause, before, grammar)
    asked = f"{grammar.words.conjunction} {clause}" if grammar is not None and joins else clause
    owner = _OF_AT_END.search(before)
    if owner and _NOUN_ALONE.fullmatch(clause.rstrip(TRIMMED)) and not _OF.search(clause):
        return f"{clause.rstrip(TRIMMED)} {owner['of']}"
    found = question_of(asked, LastTurn(before, "", language=code))
    return found[0] if found and found[1] >= SURE else clause


def _with_end_of(after: str, clause: str, grammar: LanguageGrammar) -> str:
    """Return a clause with the end of the one after it: "5 miles", "and 10 miles in km"."""
    own, others = grammar.slots(clause), grammar.slots(after)
    if len(others) != 2 or not own or not (own[-1].typed and own[-1].kind == others[0].kind):
        return clause
    starts, (begin, end) = not after[: others[0].start].strip(), others[1].whole
    leads = {one.lead for one in own}
    if starts and others[1].lead >= 0 and others[1].lead not in leads and own[-1].lead < 0:
        return f"{clause.rstrip(TRIMMED)} {after[begin:end]}"
    return clause


def _has_its_like(clause: str, before: str, grammar: LanguageGrammar) -> bool:
    """Return whether a clause opens with a phrase or a measure that may stand in a question's."""
    if grammar.opens_request(clause) or grammar.commands.match(plain_of(before)):
        return False
    parts = grammar.slots(clause)
    if len(parts) == 1 and _is_coordinated(parts[0], before, grammar):
        return True
    if grammar.code == ENGLISH:
        return False
    first = plain_of(clause).lower().split(maxsplit=1)[0]
    owned = grammar.owner.match(plain_of(clause)) is not None
    return owned or first in grammar.leads or bool(parts and parts[0].typed)


def _is_coordinated(part: Part, before: str, grammar: LanguageGrammar) -> bool:
    """Return whether a thing is asked about as a question's last is: "of Peru and Chile"."""
    slots = grammar.slots(before)
    if part.kind not in ("name", "noun", "date") or part.lead >= 0 or part.article or not slots:
        return False
    last = slots[-1]
    ends = last.span[1] == len(before.rstrip(TRIMMED))
    is_place = last.lead >= 0 and last.lead != BETWEEN
    is_like = last.kind == part.kind if last.typed or part.typed else True
    return ends and is_place and is_like and len(part.text.split()) <= MOST_COORDINATED
