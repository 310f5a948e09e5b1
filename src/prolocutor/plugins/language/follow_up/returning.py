"""Returning: words that come back to a question of an earlier turn than the last."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from prolocutor.plugins.language.follow_up.certainty import LIKELY, SURE
from prolocutor.plugins.language.follow_up.fragments import fragment_of
from prolocutor.plugins.language.follow_up.general import (
    Meaning,
    continuing,
    meaning_of,
    meant,
    question_of,
)
from prolocutor.plugins.language.follow_up.grammar import (
    TO,
    TRIMMED,
    WITHIN,
    LanguageGrammar,
    Part,
    grammar_or_english,
    plain_of,
    stems_of,
)
from prolocutor.plugins.language.follow_up.last_turn import LastTurn, earlier_turns_of
from prolocutor.plugins.language.follow_up.listed import items_of_reply, named_by_word
from prolocutor.plugins.language.follow_up.topics import SUM, entity_types, pointed_at

_CUT: Final = re.compile(r"\s*(?:[,:;]\s*|\.\s+)")
_WORD: Final = re.compile(r"[^\W_]{3,}")
MOST_NAMING: Final = 5
"""Words that name a thing before a question about it."""

STEM: Final = 5
"""Letters by which words of one stem are told: "convert", "conversions"."""

MOST_RESUMING: Final = 4
"""Words of the longest text that goes on from a turn before the last."""

TWO_TURNS: Final = 5
"""Utterances of two whole turns and what is said now."""

OwnMeaning = Callable[[LastTurn], Meaning | None]
"""The meaning of words by the agent that answered a turn."""

EarlierTurns = Callable[[], list[LastTurn]]
"""The last turns that were questions, the latest first."""

CardOf = Callable[[str], frozenset[str]]
"""The stems of the words of a skill's card."""


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
    topic = (turn and named_by_word(topic, [turn], grammar)) or topic
    article = found[0].rpartition(" ")[2]
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
    first = plain_of(thing).split()
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
    return next((one for one in gaps if plain_of(one[1]) in grammar.leads), None)


def fitting_turn(
    text: str, last: Sequence[LastTurn], earlier: Sequence[LastTurn], grammar: LanguageGrammar
) -> LastTurn | None:
    """Return the earlier turn that words go on from, although another was between.

    It is the latest whose question has a word of theirs, or a date, hour, number, measure or name
    where they have one. None where the last turn's question has that too, or no turn's has. A
    measure goes with its unit: "5 feet" with "6 feet 2 in cm", not with "18% of 240".
    """
    words, slots = _stems(text, grammar), grammar.slots(text, inside=True)
    measures = " ".join(one.text for one in slots if one.kind == "measure")
    if units := _stems(measures, grammar):
        questions = [_stems(one.question, grammar) for one in last]
        if not any(units & one for one in questions) and (
            turn := next((one for one in earlier if units & _stems(one.question, grammar)), None)
        ):
            return turn
    if _is_thing(slots, grammar) and not any(_things(one, grammar) for one in last):
        skills = {one.skill for one in last}
        others = (one for one in earlier if one.skill not in skills)
        return next((one for one in others if _orders_thing(one, grammar)), None)
    # "On Sunday" goes with any question, "until Sunday" with one that has such a part.
    anytime = all(one.lead == 0 and one.kind in ("date", "hour") for one in slots)
    kinds = set() if anytime else _typed_kinds(slots) | _feasts(text, grammar)

    def fits(turn: LastTurn) -> bool:
        of_turn = _kinds_of(turn, grammar) if kinds else set()
        return bool(words & _stems(turn.question, grammar) or kinds & of_turn)

    if any(fits(one) for one in last):
        return None
    return next((one for one in earlier if fits(one)), None)


def owning_turn(
    text: str,
    last: Sequence[LastTurn],
    earlier: Sequence[LastTurn],
    grammar: LanguageGrammar,
    card_of: CardOf,
) -> LastTurn | None:
    """Return the earlier turn whose thing or place a pronoun means, although an order was between.

    "What's its capital" means the country of an earlier turn, whose agent names capitals on its
    card; that of the order does not.
    """
    orders = all(_is_order(one, grammar) for one in last)
    if _points_to_place(text, grammar) and (
        orders or all(SUM.search(one.question) for one in last)
    ):
        return next((one for one in earlier if _has_place(one, grammar)), None)
    if not orders or not grammar.owner.search(plain_of(text)):
        return None
    stems = {*stems_of(text)} - grammar.function
    if any(stems & card_of(one.skill) for one in last):
        return None
    return next((one for one in earlier if stems & card_of(one.skill)), None)


def _points_to_place(text: str, grammar: LanguageGrammar) -> bool:
    """Return whether a question points to a place: "what's the currency there", not "on there"."""
    plain = plain_of(text)
    found = grammar.place.search(plain)
    before = plain[: found.start()].split() if found else []
    if len(before) < 2 or grammar.commands.match(plain):
        return False
    inside = grammar.leads.get(before[-1]) in (WITHIN, TO)
    return not inside and before[-1] not in grammar.be


def _has_place(turn: LastTurn, grammar: LanguageGrammar) -> bool:
    """Return whether a turn names a place: by its type, or a name after a preposition."""
    if not entity_types("place").isdisjoint(turn.types):
        return True
    led = [one for one in grammar.slots(turn.question, turn.entities) if one.lead >= 0]
    named = [one for one in led if one.kind == "name" or one.entity]
    return bool(named) or any(one.text.title() in turn.reply for one in led if not one.typed)


def _is_order(turn: LastTurn, grammar: LanguageGrammar) -> bool:
    return grammar.commands.match(plain_of(turn.question)) is not None


def _is_thing(slots: Sequence[Part], grammar: LanguageGrammar) -> bool:
    """Return whether words are one thing that is no name and no property: "baby wipes"."""
    bare = len(slots) == 1 and slots[0].kind == "noun" and slots[0].lead < 0
    return bare and not grammar.is_relation(slots[0].text)


def _things(turn: LastTurn, grammar: LanguageGrammar) -> list[Part]:
    """Return the parts of a question in whose place a thing may stand.

    There are none in "what time is it in Lisbon", where a name is typed as such.
    """
    asked = grammar.asking.match(plain_of(turn.question))
    place = asked.start("noun") if asked else -1
    parts = grammar.slots(turn.question, turn.entities)
    return [one for one in parts if one.kind == "noun" and one.span[0] != place]


def _orders_thing(turn: LastTurn, grammar: LanguageGrammar) -> bool:
    """Return whether a question is an order about a thing: "add diapers", "define verbose"."""
    return _is_order(turn, grammar) and any(one.lead < 0 for one in _things(turn, grammar))


def _kinds_of(turn: LastTurn, grammar: LanguageGrammar) -> set[str]:
    """Return the kinds of the parts of a turn's question; what its reply writes as a name is one:
    "what time is it in halifax", "In Halifax it is ...".
    """
    parts = grammar.slots(turn.question, turn.entities)
    small = [one for one in parts if one.kind == "noun" and not grammar.words.nouns_capital]
    named = any(one.entity or one.text.title() in turn.reply for one in small)
    return _typed_kinds(parts) | _feasts(turn.question, grammar) | ({"name"} if named else set())


def _typed_kinds(slots: Sequence[Part]) -> set[str]:
    return {one.kind for one in slots if one.typed or one.kind == "name"}


def _feasts(text: str, grammar: LanguageGrammar) -> set[str]:
    """Return the kind of a day that a text calls by the name of a feast."""
    return {"date"} if grammar.feast.search(plain_of(text)) else set()


def add_topic(topic: str, rest: str, grammar: LanguageGrammar) -> str:
    """Return a whole question with the topic at its end, unless it names it already."""
    if _stems(topic, grammar) <= _stems(rest, grammar):
        return rest
    last = plain_of(rest).strip(TRIMMED).rpartition(" ")[2]
    known = not grammar.words.heads_last and topic.partition(" ")[0] in grammar.definite
    bare = known or last in grammar.auxiliaries
    lead = "" if bare else f"{grammar.words.place_lead} "
    return f"{rest.strip(TRIMMED)} {lead}{topic}"


def _about(turn: LastTurn) -> str:
    return " ".join((turn.question, turn.reply, turn.skill.replace("_", " "), *turn.entities))


def _stems(text: str, grammar: LanguageGrammar) -> set[str]:
    words = _WORD.findall(plain_of(text))
    return {one[:STEM] for one in words if one not in grammar.function}


def with_one_list(turn: LastTurn) -> LastTurn:
    """Return the turn as if two things had been asked together where several were, or each with
    its preposition, if several are named now: "time in Oslo and in Cairo", "and in Quito and Rome".
    """
    asked = grammar_or_english(turn.language or turn.spoken)
    joint = asked.words.conjunction
    rest = plain_of(fragment_of(turn.text, asked).rest).split()
    if joint not in rest:
        return turn
    question = turn.question
    parts = asked.slots(question, inside=True)
    for first, second in pairwise(parts):
        run = [first]
        for one in parts[parts.index(first) + 1 :]:
            between = plain_of(question[run[-1].span[1] : one.span[0]])
            words = between.replace(",", " ").split()
            joined = joint in words or "," in between
            if not joined or any(w != joint and w not in asked.leads for w in words):
                break
            run.append(one)
        led = plain_of(question[first.span[1] : second.span[0]]).split() != [joint]
        if len(run) > 1 and joint in plain_of(question[first.span[1] : run[-1].span[0]]).split():
            if not led and len(run) == 2:
                return turn
            end = run[-1].span
            listed = f"{question[: first.span[1]]} {joint} {question[slice(*end)]}"
            return replace(turn, question=f"{listed}{question[end[1] :]}")
    return turn


def told_first(text: str, grammar: LanguageGrammar) -> dict[str, Any]:
    """Return the question after a statement with a name that it is about: "my son moved to Cairo
    how late is it there".
    """
    plain = plain_of(text)
    inner = grammar.inner_question.search(plain)
    if inner is None or grammar.commands.match(plain) or plain.split()[0] in (grammar.questions):
        return {}
    told, asked = text[: inner.start()].strip(TRIMMED), text[inner.end() :]
    names = [one.text for one in grammar.slots(told) if one.kind == "name"]
    speakers = {*grammar.words.speakers}
    if len(names) != 1 or speakers.isdisjoint(plain_of(told).split()):
        return {}
    pronouns = (grammar.place, grammar.thing, grammar.person, grammar.owner)
    if not any(one.search(plain_of(asked)) for one in pronouns):
        return {}
    turn = about(LastTurn("", "", language=grammar.code), names[0])
    joint = f" {grammar.words.conjunction} "
    parts = asked.split(joint)
    found = [question_of(part, turn) for part in parts]
    if not any(found):
        return {}
    whole = joint.join(
        one[0] if one else add_topic(names[0], part, grammar)
        for one, part in zip(found, parts, strict=True)
    )
    return {"text": whole, "of": "", "confidence": LIKELY}


def pointed_back(
    text: str,
    state: Mapping[str, Any],
    grammar: LanguageGrammar,
    own_meaning: OwnMeaning,
    card_of: CardOf,
) -> dict[str, Any]:
    """Return the meaning of words about a thing of an earlier turn: "the word from before", or a
    number of it: "that 360 plus 80".
    """
    if numbered := grammar.that_number.match(plain_of(text)):
        replies = (one.reply for one in earlier_turns_of(state, text))
        if any(numbered["number"] in one for one in replies):
            return {"text": text[numbered.start("number") :], "of": "", "confidence": SURE}
    pointed = grammar.earlier.search(plain_of(text))
    if pointed is None or len(state["utterances"]) < TWO_TURNS - 2:
        return {}
    noun = pointed["noun"] or pointed["last"]
    if noun[:1].isdigit():
        return {"text": f"{text[: pointed.start()]}{noun}{text[pointed.end() :]}", "of": "",
                "confidence": SURE}  # fmt: skip
    rest = f"{text[: pointed.start()]}{grammar.words.things[0]}{text[pointed.end() :]}"
    turns = earlier_turns_of(state, rest)
    said = continuing(rest, turns[0], grammar, grammar) if turns and pointed["noun"] else None
    if said is not None and noun in grammar.one:
        named_one = pointed_at(said, noun)
        whole = f"{text[: pointed.start()]}{named_one}{text[pointed.end() :]}"
        return annotation_of(turns[0], whole, SURE) if named_one else {}
    named = [one for one in turns if _names(card_of(one.skill), noun)]
    for turn in named or (turns if pointed["noun"] else []):
        general = replace(turn, spoken=grammar.code)
        found = own_meaning(turn) or (meaning_of(general) if named else None)
        if found is not None and found[1] >= LIKELY and found[0] != rest:
            return annotation_of(turn, found[0], SURE)
    return {}


def resumed(
    text: str,
    last: Sequence[LastTurn],
    earlier: EarlierTurns,
    grammar: LanguageGrammar,
    own_meaning: OwnMeaning,
) -> dict[str, Any]:
    """Return the meaning of a few words that only the agent of an earlier turn understands."""
    if not last or len(text.split()) > MOST_RESUMING or grammar.opens_request(text):
        return {}
    for turn in earlier()[len(last) :]:
        found = None if turn.skill == last[-1].skill else own_meaning(turn)
        if found is not None and found[1] >= SURE and found[0] != turn.question:
            return annotation_of(turn, found[0], LIKELY)
    return {}


def annotation_of(turn: LastTurn, whole: str, sure: float) -> dict[str, Any]:
    """Return the annotation for words that mean a whole question after a turn."""
    told = {"text": whole, "of": turn.question, "confidence": sure}
    return told | ({"skill": turn.skill} if turn.skill else {})


def _names(card: frozenset[str], noun: str) -> bool:
    """Return whether a card has a word or a form of it."""
    stem = noun[:STEM]
    return any(one.startswith(stem) or stem.startswith(one) for one in card if len(one) > 3)
