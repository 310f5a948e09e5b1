"""The meaning of words after a turn by the grammar of their language, whatever agent answered.

The rules know no words of agents: only the last question and reply, and the agents' data about
them.
"""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.plugins.language.follow_up.certainty import SURE, Found
from prolocutor.plugins.language.follow_up.filling import filled, supposed
from prolocutor.plugins.language.follow_up.fragments import Continuing, Rule, fragment_of
from prolocutor.plugins.language.follow_up.grammar import (
    TRIMMED,
    LanguageGrammar,
    grammar_of,
    grammar_or_english,
    plain_of,
)
from prolocutor.plugins.language.follow_up.last_turn import LastTurn
from prolocutor.plugins.language.follow_up.pronouns import fill_pronoun
from prolocutor.plugins.language.follow_up.wordings import (
    afterwards,
    aligned,
    asked_otherwise,
    contrasted,
    corrected,
    of_place,
    owned_otherwise,
    points,
    repeats,
    returns,
    returns_otherwise,
)
from prolocutor.plugins.language.language_wishes import names_language, wished_language
from prolocutor.reading.languages import mended_parts

Meaning = tuple[str, float, str]
"""A whole question, how sure it is, and its language."""

RULES: Final[tuple[Rule, ...]] = (
    repeats, returns, owned_otherwise, points, contrasted, corrected, asked_otherwise, supposed,
    afterwards, filled, aligned, fill_pronoun, of_place,
)  # fmt: skip


def question_of(text: str, turn: LastTurn) -> Found:
    """Return the whole question that a text means after a turn, and how sure that is."""
    found = meaning_of(msgspec.structs.replace(turn, text=text))
    return found[:2] if found else None


def meaning_of(turn: LastTurn) -> Meaning | None:
    """Return the meaning of the words by the grammar of their language."""
    if wished_language(turn.text) and not names_language(turn.question):
        return turn.question, SURE, turn.language
    asked = grammar_or_english(turn.language or turn.spoken)
    spoken = grammar_of(turn.spoken) if turn.spoken else None
    found = meant(turn.text, turn, asked, spoken or asked)
    return (*found, turn.language or asked.code) if found else None


def meant(text: str, turn: LastTurn, grammar: LanguageGrammar, spoken: LanguageGrammar) -> Found:
    """Return the whole question that a text means after a turn, and how sure that is.

    `grammar` is that of the question, `spoken` that of the words, mostly the same.
    """
    said = continuing(text, turn, grammar, spoken)
    if said is None:
        return None
    if both := returns_otherwise(said):
        turn = msgspec.structs.replace(turn, question=both[0])
        fragment = msgspec.structs.replace(said.fragment, rest=both[1], joined=True)
        said = Continuing(grammar, spoken, turn, fragment)
    for rule in RULES:
        if found := rule(said):
            return grammar.joined(found[0]), found[1]
    return None


def continuing(
    text: str, turn: LastTurn, grammar: LanguageGrammar, spoken: LanguageGrammar
) -> Continuing | None:
    """Return the rules' view of a text; None for mere courtesy."""
    plain = plain_of(text).strip(TRIMMED) + " "
    if spoken.courtesy.fullmatch(plain) and not spoken.again.fullmatch(plain.strip()):
        return None
    fragment = fragment_of(text, spoken)
    if not fragment.rest or spoken.mending.fullmatch(f"{plain_of(fragment.rest)} "):
        return None
    if fragment.mends and (rest := _without_reason(fragment.rest, turn.question, spoken)):
        fragment = msgspec.structs.replace(fragment, rest=rest, clause=rest, text=rest)
    if fragment.polite and grammar.commands.match(plain_of(turn.question)):
        fragment = msgspec.structs.replace(fragment, joined=True)
    return Continuing(grammar, spoken, turn, fragment)


def _without_reason(text: str, question: str, grammar: LanguageGrammar) -> str:
    """Return what is meant before a clause that tells what became of the thing of the question:
    "parsnips, leeks went bad"; "" where there is none.
    """
    meant, _, told = text.rpartition(", ")
    said = {*plain_of(question).split()} - grammar.function
    words = plain_of(told).split()
    words = words[1:] if words[:1] and words[0] in grammar.definite else words
    is_clause = len(words) > 2 and words[0].strip(TRIMMED) in said and words[1].isalpha()
    joins = is_clause and (words[1] in grammar.leads or words[1] == grammar.words.conjunction)
    return meant if is_clause and not joins and said.isdisjoint(plain_of(meant).split()) else ""


def takes_back(text: str, grammar: LanguageGrammar, last: LastTurn | None = None) -> bool:
    """Return whether a text takes back the words or the action of the last turn."""
    fragment, plain = fragment_of(text, grammar), plain_of(text)
    denies = grammar.contrasting.search(plain) is not None
    if last is not None and (denies or mended_parts(fragment.text)):
        said = continuing(text, last, grammar, grammar)
        if said is not None and contrasted(said):
            return True
    if grammar.another.search(plain):
        return False
    rest = plain_of(fragment.rest)
    return (
        fragment.mends
        or grammar.instead.search(plain) is not None
        or (denies and any(one.fullmatch(rest) for one in grammar.contrasts))
    )


def undoes(text: str, grammar: LanguageGrammar) -> bool:
    """Return whether a text takes back the action of the last turn without a replacement."""
    plain = plain_of(text).strip(TRIMMED)
    if grammar.undo_words.search(plain) is None:
        return False
    if grammar.undoing.fullmatch(plain):
        return True
    return grammar.undoing.fullmatch(plain_of(fragment_of(text, grammar).rest)) is not None
