"""Returning: words that come back to a question of an earlier turn than the last."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from prolocutor.plugins.language.follow_up.certainty import LIKELY
from prolocutor.plugins.language.follow_up.fragments import fragment_of
from prolocutor.plugins.language.follow_up.general import meant
from prolocutor.plugins.language.follow_up.grammar import TRIMMED, LanguageGrammar, Part, plain_of
from prolocutor.plugins.language.follow_up.last_turn import LastTurn
from prolocutor.plugins.language.follow_up.listed import items_of_reply

_CUT: Final = re.compile(r"\s*(?:[,:;]\s*|\.\s+)")
_WORD: Final = re.compile(r"[^\W_]{3,}")
MOST_NAMING: Final = 5
"""Words that name a thing before a question about it."""

STEM: Final = 5
"""Letters by which words of one stem are told: "convert", "conversions"."""


def returned(
    text: str,
    turns: Sequence[LastTurn],
    grammar: LanguageGrammar,
    cards: Callable[[str], str],
) -> tuple[tuple[str, float], LastTurn] | None:
    """Return the question that words come back to, and the earlier turn that it is made from.

    "Back to Rome, and in summer?", "as I asked before, the capital?", "so about that film", "what
    was the second one again": the turn is the latest that names the same things, or has an agent
    with a card that does (`cards` gives its text by the agent's name). None for others.
    """
    plain = plain_of(text).strip(TRIMMED)
    if grammar.recalling.fullmatch(plain):
        listed = (one for one in turns if len(items_of_reply(one, grammar)) > 2)
        turn = next(listed, None)
        return None if turn is None else ((turn.question, LIKELY), turn)
    found = grammar.coming_back.match(plain)
    if found is None or not turns:
        return None
    said = text.strip(TRIMMED)[found.end() :].strip(TRIMMED)
    cut = _CUT.search(said) or grammar.inner_question.search(plain_of(said))
    cut = cut or _first_lead(said, grammar)
    topic, rest = (said[: cut.start()], said[cut.end() :]) if cut else (said, "")
    closed = grammar.closing.search(plain_of(topic))
    topic = topic[: closed.start()] if closed and closed.start() else topic
    wanted = _stems(topic, grammar)
    turn = next((one for one in turns if wanted & _stems(_about(one), grammar)), None)
    turn = turn or next((one for one in turns if wanted & _stems(cards(one.skill), grammar)), None)
    if not rest.strip(TRIMMED):
        return None if turn is None else ((turn.question, LIKELY), turn)
    article = found[0].lower().rpartition(" ")[2]
    if article in grammar.definite | grammar.possessives:
        topic = f"{article} {topic}"
    fragment = fragment_of(rest, grammar)
    goes_on = turn is not None and fragment.joined and not grammar.opens_request(fragment.rest)
    pronouns = (grammar.owner, grammar.place, grammar.person, grammar.thing)
    points = grammar.opens_request(rest) or any(one.search(plain_of(rest)) for one in pronouns)
    if points and not goes_on:
        turn = turn or replace(turns[0], skill="")  # nobody has spoken of it yet
        pointed = meant(rest, about(turn, topic), grammar, grammar)
        return pointed or (add_topic(topic, rest, grammar), LIKELY), turn
    if turn is None:
        return None
    joined = f"{grammar.words.conjunction} {rest}"
    whole = meant(joined, turn, grammar, grammar) or meant(rest, turn, grammar, grammar)
    led = any(one.lead >= 0 or one.typed for one in grammar.slots(fragment.rest, inside=True)[:1])
    added = whole is not None and whole[0].startswith(turn.question.rstrip(TRIMMED)) and not led
    return (whole if whole is not None and not added else (rest, LIKELY)), turn


def named_first(text: str, grammar: LanguageGrammar) -> tuple[str, str] | None:
    """Return the thing that words name first and the question about it that follows.

    "And the pool, when does it open?"; None for other words.
    """
    if ", " not in text:
        return None
    rest = fragment_of(text, grammar).rest
    thing, _, asked = rest.partition(", ")
    first = plain_of(thing).lower().split()
    names = 1 < len(first) <= MOST_NAMING and first[0] in grammar.definite | grammar.possessives
    names = names and len(grammar.slots(thing, inside=True)) == 1
    points = (grammar.thing, grammar.owner, grammar.person)
    asks = names and (grammar.opens_request(asked) or text.rstrip().endswith("?"))
    found = asks and any(one.search(plain_of(asked)) for one in points)
    return (thing, asked) if found and not grammar.dummies.search(plain_of(asked)) else None


def about(turn: LastTurn, topic: str) -> LastTurn:
    """Return a turn as if it had been about a topic and no more."""
    return replace(turn, question=topic, reply="", entities=(topic,), types=(), fillings={})


def _first_lead(said: str, grammar: LanguageGrammar) -> re.Match[str] | None:
    """Return the gap before the first preposition after a topic: "conversion for 200 euros"."""
    gaps = re.finditer(r"(?<=[^\W\d_]{3})\s+(?=([^\W\d_]+) )", said)
    return next((one for one in gaps if plain_of(one[1]).lower() in grammar.leads), None)


def fitting_turn(
    text: str, last: Sequence[LastTurn], earlier: Sequence[LastTurn], grammar: LanguageGrammar
) -> LastTurn | None:
    """Return the earlier turn that words go on from, although another was between.

    It is the latest whose question has a word of theirs, or a date, hour, number, measure or name
    where they have one. None where the last turn's question has that too, or no turn's has.
    """
    words, slots = _stems(text, grammar), grammar.slots(text, inside=True)
    # "On Sunday" goes with any question, "until Sunday" with one that has such a part.
    anytime = all(one.lead == 0 and one.kind in ("date", "hour") for one in slots)
    kinds = set() if anytime else _typed_kinds(slots) | _feasts(text, grammar)

    def fits(turn: LastTurn) -> bool:
        asked = turn.question
        of_turn = _typed_kinds(grammar.slots(asked)) | _feasts(asked, grammar) if kinds else set()
        return bool(words & _stems(turn.question, grammar) or kinds & of_turn)

    if any(fits(one) for one in last):
        return None
    return next((one for one in earlier if fits(one)), None)


def _typed_kinds(slots: Sequence[Part]) -> set[str]:
    return {one.kind for one in slots if one.typed or one.kind == "name"}


def _feasts(text: str, grammar: LanguageGrammar) -> set[str]:
    """Return the kind of a day that a text calls by the name of a feast."""
    return {"date"} if grammar.feast.search(plain_of(text)) else set()


def add_topic(topic: str, rest: str, grammar: LanguageGrammar) -> str:
    """Return a whole question with the topic at its end, unless it names it already."""
    if _stems(topic, grammar) <= _stems(rest, grammar):
        return rest
    last = plain_of(rest).lower().strip(TRIMMED).rpartition(" ")[2]
    known = not grammar.words.heads_last and topic.partition(" ")[0] in grammar.definite
    bare = known or last in grammar.helpers | grammar.be
    lead = "" if bare else f"{grammar.words.place_lead} "
    return f"{rest.strip(TRIMMED)} {lead}{topic}"


def _about(turn: LastTurn) -> str:
    return " ".join((turn.question, turn.reply, turn.skill.replace("_", " "), *turn.entities))


def _stems(text: str, grammar: LanguageGrammar) -> set[str]:
    words = (one.lower() for one in _WORD.findall(plain_of(text)))
    return {one[:STEM] for one in words if one not in grammar.function}
