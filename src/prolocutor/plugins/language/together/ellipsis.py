"""Ellipsis: the omitted words of a clause, put back from the clauses beside it.

"What time is it in Tokyo? And in London?" asks two things, the second of them in two words. A
clause leans on the clause before if it would lean on it as a question of the last turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from prolocutor.plugins.language.follow_up.certainty import SURE
from prolocutor.plugins.language.follow_up.general import question_of
from prolocutor.plugins.language.follow_up.grammar import (
    BETWEEN,
    ENGLISH,
    OF,
    TRIMMED,
    LanguageGrammar,
    Part,
    grammar_of,
    plain_of,
)
from prolocutor.plugins.language.follow_up.last_turn import LastTurn

PAIR: Final = 2
"""The parts of a property and its owner."""

MOST_COORDINATED: Final = 3
"""Words of a thing that is joined to another by "and"."""

_ENUMERATED: Final = re.compile(r"(?:and )?one\b(?! more)", re.IGNORECASE)
"""The second of "one for 5 minutes and one for 10 minutes", which is no repetition."""


def leans_on(clause: str, before: list[str], code: str = ENGLISH) -> bool:
    """Whether the clause is no request of its own, but one together with the clauses before it."""
    return bool(before) and complete_clauses([*before, clause], code)[-1] != clause


def shared_owner(clause: str, after: Sequence[str], grammar: LanguageGrammar) -> str:
    """Return the owner of a clause's property, which a later one names: "the length", "the source
    of the Nile"; "" where it has none. Clauses between the two name properties of it too.
    """
    if not after or not _asks_property(clause, grammar):
        return ""
    named = next((one for one in after if not _asks_property(one, grammar)), "")
    return _owner(named, grammar) if named and names_property(named, grammar) else ""


def names_property(text: str, grammar: LanguageGrammar) -> bool:
    """Return whether a text is a property and its owner, and nothing else: "height of Snowdon"."""
    parts = grammar.slots(text)
    return len(parts) == PAIR and parts[0].start == 0 and bool(_owner(text, grammar))


def complete_clauses(clauses: list[str], code: str = ENGLISH) -> list[str]:
    """Return the clauses with their omitted words put back."""
    full: list[str] = []
    before, grammar = "", grammar_of(code)
    for index, clause in enumerate(clauses):
        after = clauses[index + 1] if index + 1 < len(clauses) else ""
        if grammar and (owner := shared_owner(clause, clauses[index + 1 :], grammar)):
            clause = f"{clause} {owner}"
        before = _complete_clause(clause, before, code) if full else clause
        full.append(_with_end_of(after, before, grammar) if after and grammar else before)
    return full


def _complete_clause(clause: str, before: str, code: str) -> str:
    if _ENUMERATED.match(clause):
        return clause
    grammar = grammar_of(code)
    joins = grammar is not None and _has_its_like(clause, before, grammar)
    asked = f"{grammar.words.conjunction} {clause}" if grammar is not None and joins else clause
    if grammar and (owner := _owner(before, grammar)) and _is_property(clause, owner, grammar):
        return f"{clause.rstrip(TRIMMED)} {owner}"
    found = question_of(asked, LastTurn(before, "", language=code))
    return found[0] if found and found[1] >= SURE else clause


def _owner(text: str, grammar: LanguageGrammar) -> str:
    """Return the owner of the property at the end of a text: "of Snowdon"; else ""."""
    parts = grammar.slots(text)
    if len(parts) < PAIR or parts[-1].lead != OF or parts[-1].typed:
        return ""
    *_, noun, owner = parts
    is_noun = noun.lead < 0 and noun.article != "a" and noun.kind in ("noun", "name")
    begin, end = owner.whole
    ends = not text[end:].strip(TRIMMED) and noun.span[1] + 1 == begin
    return text[begin:end] if is_noun and ends else ""


def _asks_property(clause: str, grammar: LanguageGrammar) -> bool:
    """Return whether a clause is a noun without its owner, alone or after a question's words."""
    parts = grammar.slots(clause)
    if len(parts) != 1 or parts[0].kind not in ("noun", "name") or parts[0].article == "a":
        return False
    (one,) = parts
    asking = plain_of(clause[: one.start]).split()
    openers = grammar.questions | grammar.be
    return (
        one.lead < 0
        and not clause[one.span[1] :].strip(TRIMMED)
        and all(word in openers or word.partition("'")[0] in openers for word in asking)
    )


def _is_property(clause: str, owner: str, grammar: LanguageGrammar) -> bool:
    """Return whether a noun is another property of an owner, not another owner: "of Peru and the
    currency", unlike "of Peru and Chile".
    """
    if not _asks_property(clause, grammar):
        return False
    (noun,) = grammar.slots(clause)
    names = [one.kind for one in grammar.slots(owner)] == ["name"]
    return noun.article == "the" or (names and noun.text.islower())


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
        return _is_like_measure(parts, before, grammar)
    first = plain_of(clause).split(maxsplit=1)[0]
    owned = grammar.owner.match(plain_of(clause)) is not None
    return owned or first in grammar.leads or bool(parts and parts[0].typed)


def _is_like_measure(parts: Sequence[Part], before: str, grammar: LanguageGrammar) -> bool:
    """Return whether a clause is a measure in the unit of a question's last: "are 3 kilos and 5
    kilos".
    """
    asked = grammar.slots(before)
    if len(parts) != 1 or not asked or not grammar.opens_request(before):
        return False
    units = {one.text.rpartition(" ")[2].lower().rstrip("s") for one in (parts[0], asked[-1])}
    return parts[0].kind == asked[-1].kind == "measure" and len(units) == 1


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
