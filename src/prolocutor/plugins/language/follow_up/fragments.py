"""Fragments: words that may go on from the last turn, without opening and closing words."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Final

import msgspec

from prolocutor.plugins.language.follow_up.certainty import Found
from prolocutor.plugins.language.follow_up.grammar import (
    OF,
    TO,
    TRIMMED,
    LanguageGrammar,
    Part,
    Span,
    grammar_or_english,
    plain_of,
)
from prolocutor.plugins.language.follow_up.last_turn import LastTurn
from prolocutor.reading.locales.locale import codes

OF_A_TURN: Final = 8
"""Texts that are taken apart in a turn, most of them several times."""

SIGNS: Final = re.compile(r"[=<>*+@\"“]|:\s")
"""Signs of formulas, addresses and quotations: no words of a fragment."""


_STARRED: Final = re.compile(r"\*+ ?([^*]+)|([^*]+)\*+")
"""Words that mend a slip of the turn before, as people mark them: "*lasagne"."""


class Fragment(msgspec.Struct, frozen=True):
    """Words that may go on from the last turn, without opening and closing words.

    `clause` is the `rest` with the words at its end. `joined`: they say that more follows;
    `mends`: that something was wrong; `asks`: they end in a question mark. `closes`: the words at
    their end say how they are meant; `counts`: they are "of them"; `polite`: they ask kindly.
    """

    text: str
    rest: str
    clause: str = ""
    joined: bool = False
    mends: bool = False
    asks: bool = False
    closes: bool = False
    counts: bool = False
    polite: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether the words say that they are no whole question."""
        return self.joined or self.mends or self.closes


class Continuing(msgspec.Struct, frozen=True, dict=True):
    """A turn to be understood: the words, and the turn before.

    `grammar` is that of the question, `spoken` that of the words, mostly the same.
    """

    grammar: LanguageGrammar
    spoken: LanguageGrammar
    turn: LastTurn
    fragment: Fragment

    @cached_property
    def slots(self) -> list[Part]:
        """The slots of the last question."""
        return self.grammar.slots(self.turn.question, self.turn.entities)

    @cached_property
    def direct_object(self) -> Part | None:
        """The object of an order: "add *two pizzas* to my list"."""
        if self.grammar.commands.match(plain_of(self.question)) is None:
            return None
        parts = [one for one in self.slots if one.kind != "verb"]
        if parts and parts[0].lead == OF:
            return parts[0]  # a partitive: "ajoute *du lait*"
        found = next((one for one in parts if one.lead < 0), None)
        return None if found is None else self.contents(found) or found

    def contents(self, amount: Part) -> Part | None:
        """Return the substance of an amount: the compost of "two bags of compost"."""
        return self._next(amount, OF) if amount.kind == "measure" else None

    def end_of_range(self, start: Part) -> Part | None:
        """Return where a range ends: the Friday of "from Monday to Friday"."""
        end = self._next(start, TO)
        return end if end is not None and end.kind == start.kind else None

    def start_of_range(self, end: Part) -> Part | None:
        """Return where a range begins: the Monday of "from Monday to Friday"."""
        starts = (one for one in self.slots if one.kind == end.kind and one.lead >= 0)
        return next((one for one in starts if self.end_of_range(one) is end), None)

    def _next(self, slot: Part, lead: int) -> Part | None:
        """Return the slot right after another, if it has a preposition of a class."""
        at = next((n for n, one in enumerate(self.slots, 1) if one is slot), len(self.slots))
        after = self.slots[at] if at < len(self.slots) else None
        close = after is not None and after.lead == lead and after.whole[0] - slot.span[1] == 1
        return after if close else None

    @cached_property
    def told_slot(self) -> Part | None:
        """The slot with an indefinite article that the reply is about: "*A puppy* pays 15"."""
        reply = plain_of(self.turn.reply).partition(" ")[2]
        told = (one for one in self.slots if one.article == "a" and one.kind in ("noun", "name"))
        return next((one for one in told if reply.startswith(plain_of(one.text))), None)

    @cached_property
    def asked_noun(self) -> Part | None:
        """The noun that a question word asks for: "which *bus* stops here"."""
        found = self.grammar.asking.match(plain_of(self.question))
        place = found.start("noun") if found else -1
        return next((one for one in self.slots if one.span[0] == place), None)

    @property
    def question(self) -> str:
        """The last question."""
        return self.turn.question


Rule = Callable[[Continuing], Found]


@lru_cache(OF_A_TURN)
def fragment_of(text: str, grammar: LanguageGrammar) -> Fragment:
    """Take a text apart."""
    asks = text.rstrip(" .!").endswith("?")
    starred = _STARRED.fullmatch(text.strip(TRIMMED))
    text = starred[1] or starred[2] if starred else text
    rest = _with_subject_first(text.strip(TRIMMED + '"'), grammar)
    asked = rest.lower().split(maxsplit=1)[:1]  # "où" is no "ou"
    opened = None if {*asked} & grammar.accented else grammar.joint.match(plain_of(rest))
    joined = bool(opened and opened["joint"])
    meant = opened is not None and grammar.mending.fullmatch(opened[0]) is not None  # "I mean"
    rest = rest[opened.end() :] if opened else rest
    mended = grammar.mending.match(plain_of(rest))
    if mended and mended.end() and _orders_anew(rest, mended.end(), grammar):
        mended = None
    if (other := _mended_otherwise(rest, mended.end() if mended else 0)) and mended:
        mended = other
    if mended and mended.end():
        rest = rest[mended.end() :]
        again = grammar.joint.match(plain_of(rest))
        rest = rest[again.end() :] if again and again["joint"] else rest
    there = grammar.there_at.match(plain_of(rest))
    rest = rest[there.end() :] if there and joined else rest
    clause = rest.strip(TRIMMED)
    dated = grammar.until_then.fullmatch(plain_of(rest))
    closed = None if dated else grammar.closing.search(plain_of(rest))
    tail = closed["tail"] if closed else ""
    rest = rest[: closed.start()] if closed else rest
    if not rest.strip(TRIMMED):
        rest, tail = text.strip(TRIMMED), ""
    return Fragment(
        text, rest.strip(TRIMMED), clause or text, joined=joined, asks=asks,
        mends=starred is not None or meant or bool(mended and mended.end()),
        counts=bool(tail) and grammar.thing.search(plain_of(tail)) is not None,
        closes=grammar.meant_closing.search(plain_of(tail)) is not None,
        polite=grammar.softening.search(f" {plain_of(tail)}") is not None,
    )  # fmt: skip


def _mended_otherwise(text: str, start: int) -> re.Match[str] | None:
    """Return the words in another language that mend what was said: "sorry, *i meant* Brot"."""
    plain = plain_of(text)
    every = (grammar_or_english(code).mending.match(plain, start) for code in codes())
    longer = (one for one in every if one and one.end() < len(plain))
    return next((one for one in longer if len(one[0].split()) > 1), None)


def _with_subject_first(text: str, grammar: LanguageGrammar) -> str:
    """Return a question whose pronoun is no part of its verb: "coûte-t-il", "coûte il"."""
    found = grammar.inverted.search(plain_of(text))
    if found is None or grammar.dummies.search(plain_of(text)):
        return text  # "y a-t-il"
    if any(one.article or one.kind == "name" for one in grammar.slots(text[: found.start()])):
        return text  # "le musée est-il ouvert"
    return put_words(text, found.span(), " ")


def _orders_anew(text: str, lead: int, grammar: LanguageGrammar) -> bool:
    """Return whether a verb that may also correct orders something new: "mets un minuteur"."""
    verb = grammar.commands.match(plain_of(text))
    first = plain_of(text[lead:]).split(maxsplit=1)[:1]
    whole = verb is not None and verb[0] == plain_of(text[:lead]).strip(TRIMMED)
    return whole and first != [] and first[0] in grammar.indefinite


# -- texts ----------------------------------------------------------------------------------


def in_text(name: str, text: str) -> bool:
    """Return whether a text has a name, whatever its accents and capitals."""
    return plain_of(name) in plain_of(text)


def put_words(text: str, span: Span, new: str) -> str:
    """Return a text with new words in place of a span; a word before it is not said twice."""
    before, after = text[: span[0]], text[span[1] :]
    said = before.split()
    if said and new.lower().startswith(f"{said[-1].lower()} "):
        new = new[len(said[-1]) :].lstrip()
    if not new and before.endswith(" ") and (not after or after[0] in " ?!.,"):
        before = before.rstrip()
    return f"{before}{new}{after}"


def cross_words(text: str, one: Span, two: Span) -> str:
    """Return a text with two spans in each other's place."""
    (a, b), (c, d) = sorted((one, two))
    return f"{text[:a]}{text[c:d]}{text[b:c]}{text[a:b]}{text[d:]}"


def attach_words(text: str, words: str) -> str:
    """Return a question with words at its end, before its question mark."""
    return f"{text.rstrip(' ?!.')} {words}{'?' if text.rstrip().endswith('?') else ''}"
