"""Filling: parts of a fragment put into the last question, in place of their like or at its end.

The possible uses of a part are its candidates. Each names the clues that speak for it or against
it; `WEIGHTS`, which `bench/follow_ups.py --fit` finds, says how much each clue counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Final

import msgspec

from prolocutor.plugins.language.follow_up.certainty import GUESS, LIKELY, SURE, Found
from prolocutor.plugins.language.follow_up.fragments import (
    SIGNS,
    Continuing,
    attach_words,
    fragment_of,
    put_words,
)
from prolocutor.plugins.language.follow_up.grammar import (
    BETWEEN,
    FOR,
    FROM,
    OF,
    TO,
    TRIMMED,
    TYPED,
    WITHIN,
    LanguageGrammar,
    Part,
    Span,
    plain_of,
    stems_of,
)
from prolocutor.plugins.language.follow_up.topics import entity_types, head_noun, topic_of

MOST_PARTS: Final = 3
MOST_TRIED: Final = 5
"""Candidates of each of several parts that are tried together."""

MOST_FRAGMENT: Final = 7
MOST_BARE: Final = 4
"""Words of a fragment, and of one that does not say that it goes on."""

_SIZES: Final = 0
"""The place of sizes among the lists of `sizes`: a large tennis court is a tennis court."""

LONGEST_SIGN: Final = 3
"""Letters of the sign of a unit: "min"."""

WEIGHTS: Final[dict[str, float]] = {
    "add": -0.3,
    "add: article": -0.6,
    "add: joined": -0.3,
    "add: name": -0.8,
    "add: preposition": 0.8,
    "add: relation": 0.6,
    "add: typed": -1.0,
    "alone": 0.7,
    "alone: asks": -1.2,
    "alone: joined": -1.7,
    "alone: name": 1.2,
    "alone: on the card": 0.2,
    "alone: polite": 0.9,
    "alone: preposition": -2.2,
    "alone: several parts": 4.0,
    "alone: the": -1.6,
    "alone: typed": -1.7,
    "alone: unmarked": 0.9,
    "alone: words": 1.1,
    "asked": -0.5,
    "bare noun for name": -1.3,
    "both on the card": 1.4,
    "fill: joined": 1.4,
    "measure for number": -1.1,
    "modifier": 1.4,
    "modifier: a": 0.7,
    "modifier: added": -0.8,
    "modifier: headless": 0.8,
    "modifier: in a phrase": -0.7,
    "modifier: name": 1.2,
    "modifier: quality": 2.0,
    "modifier: same article": 1.6,
    "modifier: told": 0.8,
    "name for noun": -1.3,
    "noun for name": -1.4,
    "number in name": 0.6,
    "object": 1.3,
    "one article": -1.2,
    "other article": -1.2,
    "other figures": -1.2,
    "other number": -1.1,
    "predicate": 1.0,
    "property": -1.2,
    "property: joined": -0.5,
    "property: relation": 6.5,
    "relation for thing": -1.7,
    "same article": 1.4,
    "same ending": 1.9,
    "same figures": 1.6,
    "same kind": 1.2,
    "same kind, typed": 1.3,
    "same preposition": 1.8,
    "same word": 1.9,
    "slot with preposition": -0.2,
    "thing for relation": -2.4,
    "told": 1.2,
    "verb for noun": -1.0,
    "verb: known": 1.7,
}
LATER: Final = 0.01
"""What a slot counts more than the slot before it."""

_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_NUMBER_AT_END: Final = re.compile(r"(?<=\s)\d+[a-z]?\Z|\A\d+\Z")
_NUMBER_AT_START: Final = re.compile(r"\d+(?=\s)")
_SIGNED: Final = re.compile(r"[$€£¥]\s?(?=\d)")
_WORDS: Final = re.compile(r"[\w'-]+")
_DIGITS: Final = re.compile(r"\d+")


class Candidate(msgspec.Struct, frozen=True):
    """A possible use of a part: `new` words in place of a `span` of the question, "the relation of
    its topic" (`whole`), or `new` words at its end; words of no kind stand alone.

    `slot` is the slot to fill.
    """

    clues: tuple[str, ...]
    new: str = ""
    span: Span | None = None
    whole: str = ""
    slot: Part | None = None

    @property
    def alone(self) -> bool:
        """Whether the words are no follow-up."""
        return not (self.new or self.whole)

    def score(self, weights: dict[str, float]) -> float:
        """Return how much speaks for it; a later slot counts a little more."""
        place = LATER * self.slot.span[0] / 10 if self.slot is not None else 0.0
        return sum([weights.get(one, 0.0) for one in self.clues], place)


Filling = tuple[Candidate, ...]
"""What becomes of all parts of a fragment."""


def filled(said: Continuing) -> Found:
    """ "And in Lyon?", "a van", "no, Tuesday": each part in place of its like, or at the end."""
    parts = fragment_parts(said)
    if not parts:
        return None
    best = max(fillings(parts, said), key=score_of)
    if best[0].alone:
        return None
    if best[0].whole:
        return best[0].whole, LIKELY
    put = any(one.span is not None for one in best)
    sure = SURE if put else LIKELY
    if not said.fragment.goes_on:
        if _is_farewell(parts, said):
            return None
        all_put = all(one.span is not None for one in best)
        phrase = all_put and parts[0].lead >= 0 and " " in said.fragment.rest
        sure = SURE if phrase else GUESS
    return question_with(said, best), sure


def _is_farewell(parts: list[Part], said: Continuing) -> bool:
    """Return whether words say until when: "bis Montag" after a question that does not say it."""
    day = parts[0].kind == "date" and parts[0].lead == TO
    ends = any(one.lead == TO and one.typed for one in said.slots)
    return day and len(parts) == 1 and not (ends or said.fragment.asks or said.direct_object)


def supposed(said: Continuing) -> Found:
    """ "How much would six be?", "is the Ship any cheaper": a part in the words around it.

    What is compared is the topic with that part, all else is the question.
    """
    text, grammar = said.fragment.text.strip(TRIMMED), said.spoken
    plain = plain_of(text)
    if grammar.supposing.search(plain) is None:
        return None
    found = next((o for p in grammar.suppositions if (o := p.fullmatch(plain))), None)
    if found is None:
        return None
    part, comma, more = text[slice(*found.span("part"))].partition(",")
    asks = grammar.inner_question.search(plain_of(more)) is not None
    if asks or grammar.thing.match(plain_of(part)) or grammar.inner_pointing.search(plain_of(part)):
        return None
    opened = plain.split()
    condition = next((n for n, one in enumerate(opened) if one in grammar.words.conditions), None)
    if condition is not None and grammar.predicates.fullmatch(
        plain_of(part)
    ):  # "if it's delivered"
        return attach_words(said.question, " ".join(text.split()[condition:])), LIKELY
    inner = msgspec.structs.replace(fragment_of(part, grammar), joined=True)
    typed = any(one.typed for one in grammar.slots(inner.rest, inside=True)[:1])
    if opened[0] in grammar.subjects and not typed:
        return None  # "we'd be glad"
    if typed and grammar.how_much.match(plain) and said.grammar.heads_be(said.question):
        noun = head_noun(said)
        if noun and said.grammar.is_plural(noun) and not any(one.typed for one in said.slots):
            return put_words(text, found.span("part"), f"{part} {noun}"), LIKELY  # "six loaves"
    words = plain_of(text[found.end("part") :]).split()
    asked = next((one for one in words if one in grammar.questions), "")
    if asked and asked not in plain_of(said.question).split():
        return None  # it goes on from another question
    compares = any(grammar.bare(one) in grammar.ranking for one in words)
    question = topic_of(said) if compares else said.question
    turn = msgspec.structs.replace(said.turn, question=question)
    whole = filled(Continuing(said.grammar, grammar, turn, inner))
    if whole is None or whole[0].startswith(question.rstrip(TRIMMED)):
        return (said.fragment.text, GUESS) if grammar.condition.search(plain) else None
    if compares:
        return put_words(text, found.span("part"), whole[0]), LIKELY
    return f"{whole[0].rstrip(TRIMMED)}{comma}{more}" if comma else whole[0], LIKELY


def fillings(parts: list[Part], said: Continuing) -> list[Filling]:
    """Return the possible uses of a fragment's parts; the last filling is that they stand alone.

    No two parts fill the same slot. Of each of several parts the likeliest candidates are tried.

    """
    found = [list(candidates(part, said)) for part in parts]
    alone = tuple(some.pop() for some in found)
    if len(parts) == 1:
        return [*((one,) for one in found[0]), alone]
    for some in found:
        some[:] = [one for one in some if not one.whole]
        some.sort(key=lambda one: one.score(WEIGHTS), reverse=True)
    tried = product(*(some[:MOST_TRIED] for some in found))
    if parts[0].lead < 0 and not said.fragment.goes_on:  # a noun with what belongs to it
        clues = (*alone[0].clues, "alone: several parts")
        alone = (msgspec.structs.replace(alone[0], clues=clues), *alone[1:])
    return [*(some for some in tried if _fill_apart(some)), alone]


def _fill_apart(some: Filling) -> bool:
    slots = [id(one.slot) for one in some if one.slot is not None]
    spans = sorted(one.span for one in some if one.span is not None)
    apart = all(one[1] <= after[0] for one, after in pairwise(spans))
    return apart and len(set(slots)) == len(slots)


def score_of(filling: Filling) -> float:
    """Return the score of the uses of all parts together."""
    return sum(one.score(WEIGHTS) for one in filling)


def question_with(said: Continuing, chosen: Filling) -> str:
    """Return the last question with the chosen uses of the parts of a fragment."""
    question = said.question
    for one in sorted(chosen, key=lambda one: one.span or (0, 0), reverse=True):
        if one.span is not None:
            question = put_words(question, one.span, one.new)
    for one in chosen:
        if one.span is None:
            question = one.whole or attach_words(question, one.new)
    return question


# -- the parts of a fragment ----------------------------------------------------------------------


def fragment_parts(said: Continuing) -> list[Part]:
    """Return the parts of words that are no clause of their own; none for others."""
    fragment, grammar = said.fragment, said.spoken
    rest = fragment.rest
    plain = plain_of(rest)
    if grammar.other.fullmatch(plain):
        return []
    if (headed := _headed_part(rest, said)) is not None:
        return [headed]
    if (
        len(rest.split()) > MOST_FRAGMENT
        or (grammar.opens_clause(rest) and not _is_named(said))
        or (plain in grammar.function and grammar.kinds.fullmatch(plain) is None)
        or (grammar.idioms.fullmatch(plain) and grammar.kinds.fullmatch(plain) is None)
        or _is_clause(rest, grammar, goes_on=fragment.goes_on)
    ):
        return []
    inside = fragment.goes_on or said.question[:1].islower()
    parts = grammar.slots(rest, said.turn.entities, inside=inside)
    before = rest[: parts[0].whole[0]].strip() if parts else ""
    if not parts or not (_is_small(before, grammar) or f" {before} " in said.question):
        return []
    if not inside and parts[0].kind == "noun" and rest[:1].isupper() and _asks_of_names(said):
        parts[0] = msgspec.structs.replace(parts[0], kind="name")
    parts = _joined(rest, parts, grammar, compounds=fragment.goes_on)
    parts = [
        msgspec.structs.replace(one, headless=True, kind="noun")
        if one is parts[-1]
        and (grammar.is_headless(one, said.question) or (one.article and _is_quality(one, said)))
        else one
        for one in parts
    ]
    dated = any(one.kind == "date" for one in said.slots)
    if len(parts) == 1 and dated and grammar.feast.fullmatch(plain_of(parts[0].text)):
        parts[0] = msgspec.structs.replace(parts[0], kind="date")
    return parts if len(parts) <= MOST_PARTS else []


def _headed_part(rest: str, said: Continuing) -> Part | None:
    """Return the adjective of a noun that is left out ("in a large one", "the blue ones")."""
    grammar = said.spoken
    plain = plain_of(rest)
    may_head = grammar.headless.search(plain)  # quicker than the whole pattern
    found = grammar.headed.fullmatch(plain) if may_head else None
    if found is None:
        return None
    kind = found["kind"] or ""
    if kind in grammar.function and kind not in grammar.possessives:
        return None
    if grammar.commands.fullmatch(kind):
        return None  # "remove one"
    if kind.rpartition(" ")[2] in grammar.auxiliaries:
        return None  # "my sister had one"
    said_as = next(name for name in ("kind", "more", "sort") if found[name])
    a, b = found.span(said_as)
    typed = next(iter(grammar.slots(rest[a:b], inside=True)), None)
    if typed is not None and typed.typed and any(one.kind == typed.kind for one in said.slots):
        return Part((a, b), (a, b), typed.kind, rest[a:b], start=a)  # "the Monday one"
    article = "the" if found["the"] else "a" if found["a"] or said_as == "sort" else ""
    start = next((found.start(name) for name in ("the", "a") if found[name]), a)
    lead = grammar.leads[found["lead"]] if found["lead"] else -1
    sort = "name" if rest[a].isupper() else "noun"
    return Part((a, b), (0, b), sort, rest[a:b], lead, article, start=start, headless=True)


def _asks_of_names(said: Continuing) -> bool:
    """Return whether the last question has names, and no other nouns."""
    kinds = {one.kind for one in said.slots}
    return "name" in kinds and "noun" not in kinds


def _is_named(said: Continuing) -> bool:
    """Return whether words that open as a clause are a thing: "and my account", "and order 12"."""
    rest = plain_of(said.fragment.rest)
    first, _, more = rest.partition(" ")
    if not said.fragment.joined or (not more or first in said.grammar.possessives):
        return said.fragment.joined
    return any(first in stems_of(one.text) for one in said.slots if one.kind != "verb")


def _is_clause(rest: str, grammar: LanguageGrammar, *, goes_on: bool) -> bool:
    """Return whether words are more than a fragment: they have a verb, a sign or a choice."""
    tokens = grammar.tokens(rest)
    untyped = [plain_of(one.text) for one in tokens[1:] if one.kind not in TYPED]
    if not grammar.asking_words.isdisjoint(untyped) or SIGNS.search(rest):
        return True
    if any(one.search(plain_of(rest)) for one in grammar.clitics):
        return True  # "pintarlas"
    if "," in rest and not grammar.things.isdisjoint(untyped):
        return True  # "if it rains, is it off"
    if goes_on or not tokens:
        return False
    words = [plain_of(one.text) for one in tokens if one.kind != "mark"]
    acts = len(words) > 1 and grammar.is_verb(words[0])
    opens = tokens[0].kind in ("lead", "the", "a", *TYPED)
    long = len(words) > MOST_BARE and not opens
    choice = plain_of(grammar.words.choice)
    return long or acts or choice in words or not grammar.clausal.isdisjoint(untyped)


def _is_small(before: str, grammar: LanguageGrammar) -> bool:
    words = plain_of(before).split()
    return len(words) < 2 and all(one in grammar.small for one in words)


def _joined(
    rest: str, parts: list[Part], grammar: LanguageGrammar, *, compounds: bool
) -> list[Part]:
    """Return parts with the parts of a single thing joined: "milk and eggs", "Monday to Friday".

    `compounds`: also those joined by "of".
    """
    joined: list[Part] = []
    for one in parts:
        last = joined[-1] if joined else None
        if last is None:
            joined.append(one)
            continue
        between = plain_of(rest[last.span[1] : one.span[0]]).strip()
        bare = one.lead < 0 and not one.typed and not last.typed and one.kind != "verb"
        of = compounds and one.lead == OF and last.kind != "verb"
        of = of and not rest[last.span[1] : one.whole[0]].strip()
        listed = between in grammar.joining and (one.typed == last.typed)
        range_ = one.lead == TO and one.kind == last.kind and one.typed
        if not (of or listed or range_ or (bare and one.whole[0] - last.span[1] <= 1)):
            joined.append(one)
            continue
        span = (last.span[0], one.span[1])
        kind = last.kind if last.typed else "name" if "name" in (last.kind, one.kind) else "noun"
        joined[-1] = msgspec.structs.replace(
            last, span=span, whole=(last.whole[0], one.span[1]), kind=kind, text=rest[slice(*span)]
        )
    return joined


# -- candidates -----------------------------------------------------------------------------------


def candidates(part: Part, said: Continuing) -> Iterator[Candidate]:
    """Return the possible uses of a part; the last candidate stands alone."""
    named = _slot_by_agent(part, said)
    for slot in [named] if named is not None else said.slots:
        no_thing = said.fragment.counts and slot.typed and not _counts_things(slot, said)
        clues = None if part.headless or no_thing else _clues(part, slot, said)
        if clues is not None:
            new, span = _words_in_place(part, slot, said)
            yield Candidate(tuple(clues), new, _span_of_list(slot, span, said), slot=slot)
        first, _, counted = slot.text.partition(" ")
        count = said.grammar.kinds.fullmatch(plain_of(first)) if slot.entity and counted else None
        if part.kind == "number" and part.lead < 0 and count and count["number"]:
            span = (slot.span[0], slot.span[0] + len(first))
            yield Candidate(("same kind, typed",), part.text, span, slot=slot)
        elif part.kind == "number" and slot.article == "a" and part.lead in (-1, slot.lead):
            counts = ("object",) if slot is said.direct_object else ()
            yield Candidate(counts, f"{part.text} ", (slot.start, slot.span[0]), slot=slot)
        inner = _modifier_span(part, slot, said)
        if inner is not None:
            clues = _modifier_clues(part, slot, inner, said)
            yield Candidate(tuple(clues), *_described(part, slot, inner, said), slot=slot)
    if not part.headless:
        yield from _added(part, said)
    fragment = said.fragment
    alone = ["alone"]
    alone += ["alone: joined"] if fragment.goes_on else []
    alone += ["alone: asks"] if fragment.asks else []
    alone += ["alone: preposition"] if part.lead >= 0 else []
    alone += ["alone: typed"] if part.typed else []
    alone += ["alone: name"] if part.kind == "name" else []
    alone += ["alone: the"] if part.article == "the" else []
    marked = fragment.goes_on or fragment.asks or part.lead >= 0 or part.typed
    alone += [] if marked or part.kind == "name" else ["alone: unmarked"]
    alone += ["alone: words"] if _has_words(part, said) else []
    alone += ["alone: polite"] if fragment.polite and not fragment.goes_on else []
    alone += ["alone: on the card"] if stems_of(part.text)[-1] in said.turn.card else []
    yield Candidate(tuple(alone))


def _has_words(part: Part, said: Continuing) -> bool:
    return " " in part.text and part.lead < 0 and not (part.typed or said.fragment.asks)


def _is_place_of(slot: Part, said: Continuing) -> bool:
    """Return whether a part is the place that a thing is of: "the library of *Lyon*"."""
    kinds = {plain_of(name): kind for name, kind in said.turn.kinds}
    kind = kinds.get(plain_of(slot.text), "")
    named = slot.lead == OF and slot.kind == "name" and not slot.article
    alone = not any(one.lead == WITHIN and not one.typed for one in said.slots)
    return named and alone and (not kind or kind in entity_types("place"))


def _slot_by_agent(part: Part, said: Continuing) -> Part | None:
    """Return the slot that the agent itself says such words may stand in."""
    for values in said.turn.fillings.values():
        known = {plain_of(one) for one in values}
        if plain_of(part.text) in known:
            return next((one for one in said.slots if plain_of(one.text) in known), None)
    return None


def _clues(part: Part, slot: Part, said: Continuing) -> list[str] | None:
    """Return the clues for and against a part in place of a slot; None where it cannot stand."""
    kinds, same = {part.kind, slot.kind}, _are_alike(part, slot, said)
    same_lead = part.lead >= 0 and (
        part.lead == slot.lead
        or ({part.lead, slot.lead} == {0, TO} and _is_target(slot, said))
        or ({part.lead, slot.lead} == {OF, FROM} and _is_start(slot, said))
        or (part.lead == OF and said.grammar.is_owner(said.question, slot))
        or (part.lead == WITHIN and _is_place_of(slot, said) and part.kind == "name")
    )
    words, its = stems_of(part.text), stems_of(slot.text)
    shared = words[-1] == its[-1] or bool({*words} & {*its})
    numbered = _number_in_name(slot, part) is not None
    if slot.kind == "verb" and not _may_be_verb(part, said):
        return None
    if slot is said.asked_noun and part.kind == "name":
        return None  # a name is no answer to "at what *time*"
    in_quality = same_lead and slot.kind == "noun" and not slot.article  # "in green", "in oak"
    if _is_quality(part, said) and not (said.grammar.qualities(slot.text) or in_quality):
        return None
    if in_quality and said.grammar.qualities(slot.text) and part.article:
        return None  # "in a smaller size" is no "in brown"
    of_name = slot.lead == FOR and slot.kind == "name" and slot.article == "the"
    if part.lead == FOR and of_name and part.kind == "noun" and not part.article:
        return None  # "for children" is not for "for the Blake exhibition"
    if part.lead >= 0 and not same_lead and not (same and part.typed):
        return None
    if (
        not same
        and part.typed
        and not numbered
        and any(_are_alike(part, o, said) for o in said.slots)
    ):
        return None
    if part.kind == "number" and not slot.typed and not numbered:
        return None  # it counts, and is no thing
    if not same and (part.typed or slot.typed) and not (shared or numbered):
        amount = kinds <= {"measure", "number", "noun", "name"}
        amount = amount and (not part.typed or slot is said.direct_object)
        counts = _is_count(part, said) and slot.kind in ("noun", "name")
        counts = counts and slot.article == "a"
        amount = amount or counts
        if not (amount or (same_lead and not part.typed)):
            return None
    counted = _counts_things(slot, said)
    if part.typed and _is_beside_the_point(part, slot, said):
        return None
    if part.kind == slot.kind == "measure" and _unit(part, said) != _unit(slot, said):
        other = _is_time(part, said) != _is_time(slot, said)
        if slot is said.direct_object:  # "10 kg in pounds" after "convert 5 km to miles"
            other = not (counted or said.fragment.goes_on)
        if other or (part.lead >= 0 and not same_lead):
            return None
        others = (one for one in said.slots if one.kind == "measure")
        if any(_unit(one, said) == _unit(part, said) for one in others):
            return None
    clues = []
    if same:
        clues.append("same kind, typed" if part.typed else "same kind")
        clues += ["measure for number"] if (part.kind, slot.kind) == ("measure", "number") else []
    elif counted or (slot.article == "a" and _is_count(part, said)):
        clues.append("same kind")
    elif part.typed or slot.typed:
        pass
    elif slot.kind == "verb":
        clues += ["predicate"] if said.grammar.heads_be(said.question) else []
        clues += ["verb: known"] if said.spoken.is_verb(part.text) else []
    elif (part.kind == "noun" and slot.text.islower()) or said.question.islower():
        clues.append("same kind")  # names are typed in small letters, too
    elif not said.grammar.words.nouns_capital:
        bare = not (said.fragment.goes_on or part.article)
        noun = "bare noun for name" if bare else "noun for name"
        clues.append("name for noun" if part.kind == "name" else noun)
    if same_lead:
        clues.append("same preposition")
    elif slot.lead >= 0:
        clues.append("slot with preposition")
    if same_lead or counted:
        pass  # the preposition says more than the article
    elif part.article == slot.article:
        clues += ["same article"] if part.article else []
    elif said.grammar.words.heads_last or not (part.kind == "name" and slot.article == "the"):
        clues.append("other article" if part.article and slot.article else "one article")
    if slot.kind != "verb" and said.spoken.is_verb(part.text) and not part.article:
        clues.append("verb for noun")
    if part.kind == "number" and (numbered or slot.typed):
        alike = _figures(part.text) == _figures(slot.text)
        clues.append("same figures" if alike else "other figures")
        clues += ["number in name"] if numbered else []
    if shared:
        clues.append("same word")
    elif len(words[-1]) > 4 and len(its[-1]) > 4:
        end = -2 if slot.kind == "verb" else -3
        clues += ["same ending"] if words[-1][end:] == its[-1][end:] else []
    if "name" not in kinds and not (part.typed or same_lead or counted):
        clues += (
            ["other number"]
            if said.grammar.is_plural(part.text) != said.grammar.is_plural(slot.text)
            else []
        )
    if said.grammar.is_relation(part.text) != said.grammar.is_relation(slot.text):
        of_part = said.grammar.is_relation(part.text)
        clues.append("relation for thing" if of_part else "thing for relation")
    clues += ["told"] if slot.entity or slot is said.told_slot else []
    clues += ["object"] if slot is _object_like(part, said) else []
    clues += ["asked"] if slot is said.asked_noun else []
    if words[-1] in said.turn.card and its[-1] in said.turn.card:
        clues.append("both on the card")
    if said.fragment.goes_on:
        clues.append("fill: joined")
    return clues


def _object_like(part: Part, said: Continuing) -> Part | None:
    """Return the object of an order; for a noun without an article rather a noun after a
    preposition than an object with one: the tea of "set a timer for tea", for "no, rice".
    """
    found = said.direct_object
    if found is None or found.article != "a" or part.article or part.kind not in ("noun", "name"):
        return found
    bare = [one for one in said.slots if one.kind == part.kind and not one.article]
    return next((one for one in reversed(bare) if one.lead >= 0), found)


def _are_alike(part: Part, slot: Part, said: Continuing) -> bool:
    """Return whether a part is of the kind of a slot, or may be: "eight" of an hour, a measure."""
    at_hour = part.kind == "number" and slot.kind == "hour"
    at_hour = at_hour or (part.kind == "hour" and slot.kind == "number" and slot.lead == WITHIN)
    amounts = {part.kind, slot.kind} == {"measure", "number"}
    alike = part.kind == slot.kind or amounts or at_hour or _year_span(part, slot) is not None
    return alike or _are_times_alike(part, slot, said)


def _are_times_alike(part: Part, slot: Part, said: Continuing) -> bool:
    """Return whether both are lengths of time, or points of which not the later is finer.

    A part of a day takes the place of that of a date: "on Monday *morning*", "in the evening".
    """
    may_be_hour = part.kind == "number" and part.lead == WITHIN
    role = "point" if may_be_hour else said.spoken.time_role(part)
    if not role or role != said.grammar.time_role(slot):
        return False
    kinds = ("hour" if part.kind == "number" else part.kind, slot.kind)
    if role == "length" or "measure" in kinds:
        return True
    others = {one.kind for one in said.slots}
    if kinds == ("date", "hour"):
        return "date" not in others and said.spoken.end_of_day(part.text) is not None
    return "hour" not in others and said.grammar.end_of_day(slot.text) is not None


def _is_beside_the_point(part: Part, slot: Part, said: Continuing) -> bool:
    """Return whether a part of a typed kind cannot stand in a slot of that kind.

    That is a length for a point, the end of a range for a day without "to", and a time for a
    number where the question counts things, too. A length without a preposition may be either.
    """
    grammar = said.grammar
    roles = {said.spoken.time_role(part), grammar.time_role(slot)}
    either = part.kind == slot.kind and part.lead < 0
    if "measure" in (part.kind, slot.kind) and roles == {"point", "length"} and not either:
        return True
    if part.lead >= 0 and part.lead not in (TO, FROM) and said.start_of_range(slot) is not None:
        return True
    counts = (o for o in said.slots if o.kind == "measure" and not _is_time(o, said))
    bare = part.kind == "number" and slot.kind == "measure" and _is_time(slot, said)
    return bare and any(one.lead == part.lead for one in counts)


def _is_target(slot: Part, said: Continuing) -> bool:
    """Return whether a slot is what an amount is converted to: "5 miles to *km*"."""
    amounts = ("measure", "number")
    return slot is said.slots[-1] and any(one.kind in amounts for one in said.slots[:-1])


def _is_start(slot: Part, said: Continuing) -> bool:
    """Return whether a slot is where a way begins: "*de Nantes* à Rennes"."""
    after = said.slots[said.slots.index(slot) + 1 :][:1]
    return slot.kind == "name" and any(one.lead in (0, TO) and not one.typed for one in after)


def _counts_things(slot: Part, said: Continuing) -> bool:
    """Return whether a measure counts things, in no unit: "two pizzas"."""
    unit = plain_of(slot.text).rpartition(" ")[2]
    counts = slot.kind == "measure" and slot is said.direct_object
    return counts and len(unit) > LONGEST_SIGN and unit not in said.grammar.units


def _is_count(part: Part, said: Continuing) -> bool:
    """Return whether a part counts persons or things, in no unit: "three nurses"."""
    noun = plain_of(part.text).rpartition(" ")[2]
    counts = part.kind == "measure" and noun not in said.spoken.units
    return counts and len(noun) > LONGEST_SIGN and part.lead < 0


def _may_be_verb(part: Part, said: Continuing) -> bool:
    bare = part.lead < 0 and not part.article and part.kind in ("noun", "verb")
    bare = bare and not said.grammar.is_plural(part.text)
    of_be = said.grammar.heads_be(said.question)
    short = " " not in part.text or of_be
    return bare and short and (said.fragment.joined or (said.fragment.asks and of_be))


def _modifier_span(part: Part, slot: Part, said: Continuing) -> Span | None:
    """Return where words of a slot may take a part: "a tennis court", "squash?", "a larger one"."""
    grammar = said.grammar
    describes = part.headless or _is_quality(part, said)
    if part.typed or slot.kind == "verb" or (part.article and not describes):
        return None
    if describes and grammar.is_relation(slot.text):
        return None
    like = _like_word(part, slot, said)
    if like is not None and (part.lead < 0 or (describes and " " in slot.text)):
        return like  # "in red" after "the blue scarf", too
    if part.lead >= 0 and not (part.headless and part.lead == slot.lead):
        return None
    if like is not None or any(_like_word(part, one, said) for one in said.slots):
        return like  # a red thing is not blue, too
    if slot.typed:
        return _after_amount(slot, said) if describes else None
    if slot.lead >= 0 and not part.headless:
        return None
    start, end = slot.span
    leads = grammar.words.heads_last or grammar.words.nouns_capital
    if describes and not leads:
        return end, end
    if slot.core is not None and slot.core[1] < end:
        return slot.core
    if slot.core is not None and not (slot.entity and grammar.words.heads_last):
        return start, slot.core[0] - 1
    if not part.headless and (part.kind == "name" or " " in part.text):
        return None
    if not (describes or said.fragment.goes_on or slot.article == "a" or slot.entity):
        return None
    first, *more = slot.text.split(" ")
    if not leads or not more:
        return (start, start) if describes else None
    if _SIZES in grammar.qualities(part.text) or (not part.headless and describes):
        return start, start
    head = end - len(more[-1]) - 1
    sized = bool(grammar.qualities(first)) and len(more) > 1
    return (start + len(first) + 1 if sized else start), head


def _like_word(part: Part, slot: Part, said: Continuing) -> Span | None:
    """Return the word of a slot that describes it as a part does: a size, a colour, a year."""
    if part.headless and part.text.isdecimal():
        like = (one for one in _DIGITS.finditer(slot.text) if len(one[0]) == len(part.text))
        if found := next(like, None):
            return slot.span[0] + found.start(), slot.span[0] + found.end()
    if sort := said.grammar.qualities(part.text):
        for found in _WORDS.finditer(slot.text):
            if found[0].islower() and sort & said.grammar.qualities(found[0]):
                start, end = slot.span[0] + found.start(), slot.span[0] + found.end()
                return start, _end_of_pair(end, sort, said)
    return None


def _end_of_pair(end: int, sort: frozenset[int], said: Continuing) -> int:
    """Return where the quality ends that is joined to one that ends at a place: "red and blue"."""
    joint = said.grammar.gap.match(said.question, end)
    word = _WORDS.match(said.question, joint.end()) if joint and joint[0].strip(" ,;") else None
    return word.end() if word and sort & said.grammar.qualities(word[0]) else end


def _after_amount(slot: Part, said: Continuing) -> Span | None:
    """Return where words may describe things that are counted: "20 *large* boxes"."""
    amount = said.grammar.amount.match(plain_of(slot.text))
    counts = slot.kind == "measure" and amount and _unit(slot, said) not in said.grammar.units
    if not counts or len(_unit(slot, said)) <= LONGEST_SIGN or not amount:
        return None
    before = said.grammar.words.heads_last or said.grammar.words.nouns_capital
    place = slot.span[0] + amount.end() + 1 if before else slot.span[1]
    return place, place


def _described(part: Part, slot: Part, inner: Span, said: Continuing) -> tuple[str, Span]:
    """Return the new words of a slot that a part describes, with its article, and their span."""
    new = part.text
    if inner[0] == inner[1]:
        new = f" {new}" if inner[0] == slot.span[1] else f"{new} "
    if not (part.article and slot.article) or said.grammar.words.heads_last:
        return new, inner
    rest, span = said.fragment.rest, (slot.start, max(slot.span[1], inner[1]))
    changed = put_words(said.question, inner, new)
    text = changed[slot.span[0] : span[1] + len(changed) - len(said.question)]
    return f"{rest[part.start : part.span[0]]}{text}", span


def _modifier_clues(part: Part, slot: Part, inner: Span, said: Continuing) -> list[str]:
    clues = ["modifier"]
    clues += ["verb for noun"] if said.spoken.is_verb(part.text) else []
    clues += ["modifier: headless"] if part.headless else []
    clues += ["modifier: quality"] if _like_word(part, slot, said) else []
    named = slot.core is not None and part.kind == "name"
    clues += ["modifier: name"] if named and not said.grammar.words.nouns_capital else []
    clues += ["modifier: told"] if slot.entity else []
    clues += ["modifier: same article"] if part.headless and part.article == slot.article else []
    clues += ["modifier: in a phrase"] if part.lead < 0 <= slot.lead else []
    clues += ["modifier: a"] if slot.article == "a" else []
    clues += ["modifier: added"] if inner[0] == inner[1] else []
    clues += ["object"] if slot is said.direct_object else []
    return clues


def _added(part: Part, said: Continuing) -> Iterator[Candidate]:
    """Return the question with a part at its end, or a property of its topic."""
    rest, words = said.fragment.rest, said.grammar.words
    new = rest[slice(*part.whole)]
    clues = ["add"]
    clues += ["add: preposition"] if part.lead >= 0 else []
    clues += ["add: typed"] if part.typed else []
    clues += ["add: article"] if part.article else []
    clues += ["add: name"] if part.kind == "name" else []
    clues += ["add: joined"] if said.fragment.goes_on else []
    clues += ["add: relation"] if said.grammar.is_relation(part.text) else []
    if part.lead >= 0 or said.fragment.goes_on or said.fragment.asks:
        yield Candidate(tuple(clues), new)
    if part.kind != "noun" or part.lead >= 0 or part.article == "a":
        return
    relation = said.grammar.is_relation(part.text)
    fits = part.article == "the" or said.grammar.is_plural(part.text) or relation
    if words.owned and fits and (topic := topic_of(said)):
        clues = ["property"]
        clues += ["property: joined"] if said.fragment.goes_on else []
        things = (one.text for one in said.slots if one.kind != "verb")
        of_thing = not any(said.grammar.is_relation(one) for one in things)
        of_thing = of_thing and (said.fragment.goes_on or said.fragment.asks)
        clues += ["property: relation"] if relation and of_thing else []
        whole = words.owned.format(relation=part.text, owner=topic)
        yield Candidate(tuple(clues), whole=whole)


# -- the words in place of a slot -----------------------------------------------------------------


def _verb_of_act(part: Part, slot: Part, said: Continuing) -> int | None:
    """Return where the object of an ordered act stands that a thing takes the place of: "remind me
    to buy *bread*"; None for other slots.
    """
    verb, _, thing = slot.text.partition(" ")
    acts = thing and slot.lead == TO and slot.kind == "noun" and said.grammar.is_verb(verb)
    bare = part.lead < 0 and part.kind in ("noun", "name")
    if not (acts and bare) or said.grammar.is_verb(part.text.partition(" ")[0]):
        return None
    ordered = said.grammar.commands.match(plain_of(said.question))
    return slot.span[0] + len(verb) + 1 if ordered else None


def _is_quality(part: Part, said: Continuing) -> bool:
    return not part.typed and bool(said.grammar.qualities(part.text))


def _words_in_place(part: Part, slot: Part, said: Continuing) -> tuple[str, Span]:
    """Return the new words, and the span of the question whose place they take."""
    rest = said.fragment.rest
    words = rest[slice(*part.whole)]
    if said.spoken is not said.grammar:
        return part.text, slot.span
    both_led = part.lead >= 0 and slot.lead >= 0
    if (act := _verb_of_act(part, slot, said)) is not None:
        return rest[part.start : part.span[1]], (act, slot.span[1])
    if both_led and (until := said.end_of_range(slot)) and _has_lead(part, said, TO):
        return words, (slot.whole[0], until.span[1])
    until = said.end_of_range(slot) if part.typed and part.lead >= 0 else None
    if until is not None and part.lead not in (TO, FROM):
        return words, (slot.whole[0], until.span[1])
    if (number := _number_in_name(slot, part)) is not None:
        return part.text, number
    if changed := _end_of_day_changed(part, slot, said):
        return changed
    if (year := _year_span(part, slot)) is not None:
        return part.text, year
    if (month := said.grammar.month_in(part, slot)) is not None:
        return part.text, month
    if part.kind == "measure" and (inside := said.contents(slot)) and _has_lead(part, said, OF):
        return part.text, (slot.span[0], inside.span[1])
    if part.article and (amount := next((o for o in said.slots if said.contents(o) is slot), None)):
        return rest[part.start : part.span[1]], (amount.start, slot.span[1])
    if part.kind == "number" and slot.kind == "measure":
        old = said.grammar.amount.match(plain_of(slot.text))
        if old is not None and old.end() < len(slot.text):
            start, end = slot.span[0], slot.span[0] + old.end()
            return (words, (slot.whole[0], end)) if both_led else (part.text, (start, end))
    if part.kind == slot.kind == "date" and (whole := _date_with_year(part.text, slot.text)):
        lead = words[: len(words) - len(part.text)]
        return (lead + whole if slot.lead >= 0 else whole), (slot.whole if lead else slot.span)
    if part.lead >= 0:
        led = slot.lead >= 0 or slot.typed or said.grammar.is_owner(said.question, slot)
        return words, _with_hour(slot.whole if led else slot.span, part, slot, said)
    if part.article:
        return rest[part.start : part.span[1]], (slot.start, _end_of_name(slot, said))
    if part.kind == slot.kind == "date" and slot.lead == WITHIN:
        is_bare = said.spoken.bare_days.fullmatch(plain_of(part.text))
        return part.text, slot.whole if is_bare else slot.span  # "tomorrow" after "on Monday"
    sign = _SIGNED.match(slot.text)
    if part.kind == slot.kind == "number" and sign and part.text[0].isdigit():
        return f"{sign[0]}{part.text}", slot.span
    counted = part.kind == "measure" or (part.kind == "noun" and said.grammar.is_plural(part.text))
    bare = part.kind == "name" and slot.kind == "noun" and not said.grammar.words.heads_last
    if (slot.article == "a" and counted and not slot.typed) or (bare and slot.article == "the"):
        return part.text, (slot.start, slot.span[1])
    return part.text, slot.span


def _end_of_day_changed(part: Part, slot: Part, said: Continuing) -> tuple[str, Span] | None:
    """Return the new words and the span of the part of the day in a date: "Monday *morning*"."""
    hour = part.kind in ("hour", "number") and slot.kind == "date"
    tail = said.grammar.end_of_day(slot.text) if hour else None
    if tail is None:
        return None
    span = (slot.span[0] + tail[0], slot.span[0] + tail[1])
    if said.spoken.daytime.fullmatch(plain_of(part.text)) is None:
        return said.fragment.rest[slice(*part.whole)], span
    return (part.text.lower() if slot.text[tail[0] - 1].isalpha() else part.text), span


def _with_hour(span: Span, part: Part, slot: Part, said: Continuing) -> Span:
    """Return the span of a date with the hour beside it where a part says both."""
    if not (part.kind == slot.kind == "date" and said.spoken.end_of_day(part.text)):
        return span
    for one in said.slots:
        if one.kind == "hour" and one.whole[0] - span[1] == 1:
            return span[0], one.span[1]
        if one.kind == "hour" and span[0] - one.span[1] == 1:
            return one.whole[0], span[1]
    return span


def _span_of_list(slot: Part, span: Span, said: Continuing) -> Span:
    """Return the span of the whole list that a slot belongs to: "time in *Rome, Oslo and Lima*"."""
    ordered = said.direct_object is not None and not said.fragment.joined
    if said.spoken is not said.grammar or ordered:
        return span
    run = [slot]
    for one in said.slots[said.slots.index(slot) + 1 :]:
        if not _continues_list(run[-1], one, said):
            break
        run.append(one)
    for one in reversed(said.slots[: said.slots.index(slot)]):
        if not _continues_list(one, run[0], said):
            break
        run.insert(0, one)
    first = run[0]
    if len(run) == 1 or span[1] != slot.span[1] or first.lead == BETWEEN:
        return span
    return (first.whole[0] if span[0] < slot.span[0] else first.span[0], run[-1].span[1])


def _continues_list(one: Part, after: Part, said: Continuing) -> bool:
    """Return whether a part follows another in a list: of names, or of what "and X" adds to."""
    between = plain_of(said.question[one.span[1] : after.start]).strip(" ,")
    comma = said.question[one.span[1] : after.start].lstrip().startswith(",")
    conjunction = plain_of(said.grammar.words.conjunction)
    listed = between == conjunction or (comma and not between)
    alike = one.kind == after.kind and (one.kind == "name" or said.fragment.joined)
    return listed and alike and after.lead in (-1, one.lead)


def _end_of_name(slot: Part, said: Continuing) -> int:
    """Return where the thing ends that an agent names and a slot opens: "*corte de pelo*"."""
    rest = plain_of(said.question[slot.span[0] :])
    named = [one for one in said.turn.entities if rest.startswith(plain_of(one))]
    return max([slot.span[1], *(slot.span[0] + len(one) for one in named)])


def _number_in_name(slot: Part, part: Part) -> Span | None:
    """Return where the number of a name stands, "parcel 4711", whose place a part may take.

    The number before an address, "4 High Street", only gives way to a number with its preposition.
    """
    code = part.kind == "number" or (part.kind == "name" and " " not in part.text)
    if not code or slot.kind != "name" or not part.text[0].isdigit():
        return None
    found = _NUMBER_AT_END.search(slot.text)
    if found is None and part.lead >= 0 and part.lead == slot.lead:
        found = _NUMBER_AT_START.match(slot.text)
    return (slot.span[0] + found.start(), slot.span[0] + found.end()) if found else None


def _figures(text: str) -> int:
    """Return how many figures the first number of a text has; 0 for a number in words."""
    found = _DIGITS.search(text)
    return len(found[0]) if found else 0


def _unit(part: Part, said: Continuing) -> str:
    plain = plain_of(part.text)
    return said.grammar.amount.lower.sub("", plain, count=1).strip().rstrip("s")


def _has_lead(part: Part, said: Continuing, lead: int) -> bool:
    """Return whether a preposition stands inside a part: "four bags *of* bark"."""
    return any(said.spoken.leads.get(one) == lead for one in plain_of(part.text).split())


def _is_time(part: Part, said: Continuing) -> bool:
    """Return whether a measure is in a unit of time: "three days"."""
    return not said.grammar.units.isdisjoint(plain_of(part.text).split())


def _year_span(part: Part, slot: Part) -> Span | None:
    """Return where a date names the year whose place a year takes: "and 1985?"."""
    year = _YEAR.search(slot.text) if slot.kind in ("date", "number") else None
    if year is None or part.kind not in ("number", "date") or not _YEAR.fullmatch(part.text):
        return None
    return slot.span[0] + year.start(), slot.span[0] + year.end()


def _date_with_year(new: str, old: str) -> str:
    """Return a new date with the year of the old date, or "" where it needs none."""
    year = _YEAR.search(old)
    if year is None or _YEAR.search(new) or not any(sign.isdigit() for sign in new):
        return ""
    return f"{new}{old[old.rindex(year[0]) - 1 :]}" if old.endswith(year[0]) else ""
