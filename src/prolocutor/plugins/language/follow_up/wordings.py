"""Wordings: follow-ups told by their words alone: "again", "and back?", "the second one"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final

from prolocutor.plugins.language.follow_up.certainty import GUESS, LIKELY, SURE, Found
from prolocutor.plugins.language.follow_up.fragments import (
    Continuing,
    attach_words,
    cross_words,
    in_text,
    put_words,
)
from prolocutor.plugins.language.follow_up.grammar import (
    FOR,
    FROM,
    OF,
    TO,
    TRIMMED,
    WITHIN,
    LanguageGrammar,
    Part,
    Span,
    plain_of,
    stems_of,
    unaccented,
)
from prolocutor.plugins.language.follow_up.listed import (
    named_items,
    other_of_kind,
    ranked_hour,
    ranked_item,
)
from prolocutor.plugins.language.follow_up.spelling import MIN_LETTERS, is_near
from prolocutor.plugins.language.follow_up.topics import place_of, topic_of
from prolocutor.reading.languages import mended_parts
from prolocutor.reading.plain_text import FoldedPattern


def repeats(said: Continuing) -> Found:
    """ "Again", "another one": the same question once more."""
    return (said.question, SURE) if _is_all(said.spoken.again, said) else None


def returns(said: Continuing) -> Found:
    """ "And back?", "the other way round": the two ends in each other's place."""
    return _crossed(said) if _is_all(said.spoken.returning, said) else None


def _is_all(pattern: FoldedPattern, said: Continuing) -> bool:
    """Return whether a pattern is all of the words, with or without those around them."""
    rest, text = said.fragment.rest, said.fragment.text.strip(TRIMMED)
    if pattern.fullmatch(plain_of(rest)):
        return True
    return rest != text and pattern.fullmatch(plain_of(text)) is not None


def returns_otherwise(said: Continuing) -> tuple[str, str] | None:
    """Return the question the other way round, and what is said of that: "and back *on Sunday*"."""
    rest = said.fragment.rest
    opened = said.spoken.returning.match(plain_of(rest))
    if opened is None or rest[opened.end() : opened.end() + 1] != " ":
        return None
    topic = said.spoken.coming_back.match(plain_of(rest))  # "back to Rome"
    if topic or not any(one.lead in (TO, FROM) and not one.typed for one in said.slots):
        return None
    more = rest[opened.end() + 1 :]
    parts = said.spoken.slots(more, inside=True)
    led = bool(parts) and parts[0].whole[0] == 0 and (parts[0].lead >= 0 or parts[0].typed)
    found = _crossed(said) if led and parts[-1].span[1] == len(more) else None
    return (found[0], more) if found else None


def _crossed(said: Continuing) -> Found:
    """Return the question with its two ends in each other's place."""
    if ends := _ends_of_way(said):
        return _swap_places(said, *ends), SURE
    if units := _units_crossed(said):
        return units, SURE
    names = [one for one in said.slots if one.kind == "name"]
    goals = [one for one in said.slots if one.lead in (TO, FROM) and not one.typed]
    goals = goals or [one for one in names if one.lead == FOR][: len(names) == 1]
    if goals:
        other = TO if goals[0].lead == FROM else FROM
        lead = said.grammar.words.prepositions[other][0]
        return put_words(
            said.question, goals[0].whole, f"{lead} {_place(said, goals[0])[1]}"
        ), LIKELY
    if len(names) >= 2:
        return cross_words(said.question, names[-2].span, names[-1].span), SURE
    pair = [one for one in said.slots if one.lead < 0 and not one.typed][-2:]
    alike = len(pair) == 2 and pair[0].kind == pair[1].kind != "verb"
    return (cross_words(said.question, pair[0].span, pair[1].span), LIKELY) if alike else None


def _ends_of_way(said: Continuing) -> tuple[Part, Part] | None:
    """Return the two places of a way: "from A to B", "de A à B", "leave A for B"."""
    places = [one for one in said.slots if not one.typed and one.kind != "verb"]
    ends = [one for one in places if one.lead in (TO, FROM)]
    if len(ends) >= 2:
        return ends[-2], ends[-1]
    for start, goal in pairwise(places):
        adjoins = goal.whole[0] - start.span[1] == 1
        leaves = (
            start.lead < 0
            and not start.article
            and start.kind == goal.kind == "name"
            and goal.lead in (TO, FOR)
        )
        if adjoins and (leaves or (start.lead in (OF, FROM) and goal.lead in (TO, WITHIN, FOR))):
            return start, goal
    return None


def _swap_places(said: Continuing, start: Part, goal: Part) -> str:
    """Return the question with two places swapped, with their articles; prepositions stay."""
    leads, places = zip(_place(said, start), _place(said, goal), strict=True)
    question = put_words(said.question, goal.whole, f"{leads[1]} {places[0]}".strip())
    return put_words(question, start.whole, f"{leads[0]} {places[1]}".strip())


def _place(said: Continuing, slot: Part) -> tuple[str, str]:
    """Return the preposition of a slot, and its place with its article; "zum" is "zu dem"."""
    lead = said.question[slot.whole[0] : slot.start].strip() if slot.lead >= 0 else ""
    apart = said.grammar.uncontracted.get(plain_of(lead), lead)
    lead, _, article = apart.partition(" ") if apart != lead else (lead, "", "")
    return lead, f"{article} {said.question[slot.start : slot.span[1]]}".strip()


def _units_crossed(said: Continuing) -> str:
    """Return "5 km in miles" for "5 miles in km"; "" for a question without a unit and a target."""
    amount = next((one for one in said.slots if one.kind == "measure"), None)
    target = said.slots[-1] if said.slots else None
    digits = amount and _AMOUNT.match(amount.text)
    if amount is None or target is None or not digits or target.lead < 0 or target.typed:
        return ""
    last = said.slots[-2]  # "200 Swiss francs in euros": the unit has two words
    end = last.span[1] if last.lead < 0 else amount.span[1]
    return cross_words(said.question, (amount.span[0] + digits.end(), end), target.span)


_AMOUNT: Final = re.compile(r"-?\d[\d.,]*\s?")


def points(said: Continuing) -> Found:
    """ "The second one", "both", "the other one": what the reply named, in place of its like."""
    rest, grammar = said.fragment.rest, said.spoken
    plain = plain_of(rest)
    ranked = grammar.ranked.fullmatch(plain)
    kind = grammar.ranked_one.fullmatch(plain)
    rank = ranked["rank"] if ranked is not None else kind["kind"] if kind is not None else ""
    if not rank and not grammar.choosing.fullmatch(plain):
        return None
    old = grammar.ranks.search(plain_of(said.question))
    if ranked is not None and old is not None:
        return put_words(said.question, old.span(), rest[slice(*ranked.span("rank"))]), SURE
    if chosen := named_item(said):
        return _chosen(said, chosen)
    if rank and (chosen := ranked_item(said, rank)):
        return _chosen(said, chosen)
    if rank and (told := ranked_hour(said, rank)):
        return attach_words(said.question, told), SURE
    head = next((one for one in said.slots if one.lead < 0 and one.kind in ("noun", "name")), None)
    if ranked is None or head is None or head.kind == "name" or grammar.is_relation(head.text):
        return None
    the = f"{grammar.words.articles[0]} " if grammar.words.articles else ""
    the = "" if head is said.asked_noun else the
    rank = rest[slice(*ranked.span("rank"))]
    whole = put_words(said.question, head.whole, f"{the}{rank} {head.text}")
    hour = next((one for one in said.slots if one.kind == "hour"), None)
    if hour is not None:
        moved = len(whole) - len(said.question)
        span = (hour.whole[0] + moved, hour.whole[1] + moved)
        whole = put_words(whole, span, "").rstrip()
    return whole, SURE


def named_item(said: Continuing) -> str:
    """Return the item of the reply that "the second one" or "both" means, or ""."""
    plain, grammar = plain_of(said.fragment.rest), said.spoken
    items = named_items(said, asked=False)
    if grammar.both.fullmatch(plain):
        both = items if len(items) > 1 else named_items(said, asked=True)
        return f"{', '.join(both[:-1])} {grammar.words.conjunction} {both[-1]}" if both[1:] else ""
    told = [one for one in items if not in_text(one, said.question)]
    if grammar.other.fullmatch(plain):
        return told[0] if told else other_of_kind(said)
    told = items if items == [*said.turn.listed] else told
    place = _ordinal(plain, grammar, len(told))
    return "" if place is None else told[place]


def _ordinal(plain: str, grammar: LanguageGrammar, count: int) -> int | None:
    if count < 2:
        return None
    for place, pattern in enumerate(grammar.ordinals):
        if pattern.fullmatch(plain):
            last = grammar.words.last and place == len(grammar.ordinals) - 1
            return count - 1 if last else place if place < count else None
    return None


def _chosen(said: Continuing, item: str) -> Found:
    """Put a thing that is named in place of its like, else of what the question is about."""
    asked = plain_of(said.question)
    entities = {plain_of(one) for one in said.turn.entities}
    known = [one for one in said.slots if plain_of(one.text) in entities]
    nouns = [one for one in said.slots if one.kind in ("noun", "name")]
    head = 0 if not (said.grammar.words.heads_last or said.grammar.words.nouns_capital) else -1
    alike = [one for one in nouns if stems_of(one.text)[head] == stems_of(item)[head]]
    named = [one for one in nouns if one.kind == "name"]
    bare = [one for one in nouns if one.lead < 0 and one.kind == "noun"]
    slot = next(iter([*alike, *known[:1], *named[-1:], *bare[-1:]]), None)
    if slot is None or slot is said.asked_noun or plain_of(item) in asked:
        return item, LIKELY
    return put_words(said.question, slot.span, item), LIKELY


def owned_otherwise(said: Continuing) -> Found:
    """ "The adults'?": another owner of the same thing, in the words of the last question."""
    rest = said.fragment.text.strip(TRIMMED)[-len(said.fragment.rest) :]
    owners = [*said.spoken.genitive.finditer(plain_of(rest))]
    if len(owners) != 1 or owners[0].end() < len(rest):
        return None
    asked = [*said.grammar.genitive.finditer(plain_of(said.question))]
    asked = [one for one in asked if one.end() < len(said.question.rstrip(TRIMMED))]
    article = plain_of(rest[: owners[0].start()]).strip()
    if not asked or article not in {"", *said.spoken.definite}:
        return None
    return put_words(
        said.question, asked[-1].span(), unaccented(rest)[slice(*owners[0].span())]
    ), SURE


def contrasted(said: Continuing) -> Found:
    """ "Not Paris, Berlin", "print, not paint": one is said in place of what the question has."""
    whole = said.fragment.text.strip(TRIMMED)
    if said.spoken.contrasting.search(plain_of(whole)) is None:
        return _repaired(said)
    for text in (said.fragment.rest, whole, whole.partition(", ")[2]):
        plain = plain_of(text)
        for pattern in said.spoken.contrasts:
            if not (found := pattern.fullmatch(plain)):
                continue
            old, new = found["old"].strip(TRIMMED), text[slice(*found.span("new"))].strip(TRIMMED)
            meant = said.spoken.instead.search(plain_of(new))
            new = new[: meant.start()].rstrip(TRIMMED) if meant else new
            mended = said.spoken.mending.match(plain_of(new))  # "not 3, rather 6"
            new = new[mended.end() :] if mended and mended.end() < len(new) else new
            heads = [said.spoken.headed.fullmatch(plain_of(one)) for one in (old, new)]
            if heads[0] is not None and heads[0]["kind"]:  # "not a small one, a big one"
                old = heads[0]["kind"]
                of_new = heads[1] is not None and heads[1]["kind"] and heads[1].span("kind")
                new = new[slice(*of_new)] if of_new else new
            if new and (span := _span_of(old, new, said.question) or _number_span(old, new, said)):
                return put_words(said.question, _like_span(new, span, said), new), SURE
    return _contrasted_at_once(said) or _repaired(said)


def mistyped(said: Continuing) -> Found:
    """ "I meant 54" after "what's 45 times 12": in place of the only word that is nearly it."""
    new = said.fragment.rest
    if not said.fragment.mends or not new.isalnum():
        return None
    key = plain_of(new)
    words = [one for one in _SAID.finditer(plain_of(said.question)) if one[0] != key]
    near = [one for one in words if _is_nearly(one[0], key)]
    return (put_words(said.question, near[0].span(), new), SURE) if len(near) == 1 else None


def _is_nearly(word: str, key: str) -> bool:
    if word.isdigit() or key.isdigit():
        return len(word) > 1 and sorted(word) == sorted(key)
    return min(len(word), len(key)) > MIN_LETTERS and is_near(word, key)


_SAID: Final = re.compile(r"[^\W_]+")


def _repaired(said: Continuing) -> Found:
    """ "Salt no pepper": a word of the last question, and what was meant in its place."""
    parts = mended_parts(said.fragment.text)
    if parts is None or len(parts[0].split()) > _LEAST_CONTRAST or not parts[1].strip(TRIMMED):
        return None
    old, new = (one.strip(TRIMMED) for one in parts)
    span = _span_of(old, new, said.question)
    return (put_words(said.question, _like_span(new, span, said), new), SURE) if span else None


def _number_span(old: str, new: str, said: Continuing) -> Span | None:
    """Return where the only number of a question stands that words deny in another spelling."""
    grammar, slots = said.grammar, [one for one in said.slots if one.kind in ("number", "measure")]
    kinds = [grammar.kinds.fullmatch(plain_of(one)) for one in (old, new)]
    if len(slots) != 1 or not all(one is not None and one["number"] for one in kinds):
        return None
    amount = grammar.amount.match(plain_of(slots[0].text))
    start = slots[0].span[0]
    return slots[0].span if amount is None else (start, start + amount.end())


def _contrasted_at_once(said: Continuing) -> Found:
    """ "Not milk cream": a contrast without a sign between, as people speak it."""
    words = said.fragment.rest.split()
    if len(words) < _LEAST_CONTRAST or words[0].lower() not in said.spoken.words.negation:
        return None
    for size in range(len(words) - 2, 0, -1):
        old, new = " ".join(words[1 : size + 1]), " ".join(words[size + 1 :])
        if span := _span_of(old, new, said.question):
            return put_words(said.question, _like_span(new, span, said), new), SURE
    return None


_LEAST_CONTRAST: Final = 3
"""Words of the shortest contrast: a negation, what was said and what is meant."""


def _like_span(new: str, span: Span, said: Continuing) -> Span:
    """Return a span; for a measure in place of its unit alone, that of the whole measure."""
    parts = said.spoken.slots(new)
    around = (one.span for one in said.slots if one.span[0] <= span[0] and span[1] <= one.span[1])
    whole = next(around, span)
    return whole if len(parts) == 1 and parts[0].kind == "measure" else span


def _span_of(old: str, new: str, question: str) -> Span | None:
    """Return where old words stand in a question, with the word after them that the new end in."""
    words = rf"(?<![\w'-]){re.escape(old)}(?![\w'-])"
    place = re.search(words, plain_of(question), re.IGNORECASE)
    if place is None:
        return None
    last = re.escape(plain_of(new).rpartition(" ")[2])
    more = re.match(rf"\s+{last}(?![\w'-])", plain_of(question)[place.end() :], re.IGNORECASE)
    both = more is not None and " " in new
    return place.start(), place.end() + (more.end() if more is not None and both else 0)


def corrected(said: Continuing) -> Found:
    """ "No wait, call dad": an order in place of the last one, from the word that both have."""
    grammar, rest = said.spoken, said.fragment.rest
    if not said.fragment.mends:
        return None
    if act := _other_act(said):
        return act, SURE
    if grammar.orders.match(plain_of(rest)) is None:
        return None
    first = re.escape(plain_of(rest).split()[0])
    place = re.search(rf"(?<![\w'-]){first}(?![\w'-])", plain_of(said.question), re.IGNORECASE)
    if place is None:
        return rest, LIKELY
    when = [one for one in said.slots if one.kind in _TIMES and one.span[0] > place.start()]
    slots = grammar.slots(rest)
    own = any(one.kind in _TIMES for one in slots)
    tail = f" {said.question[when[0].whole[0] :]}" if when and not own else ""
    if not tail and not any(one.lead >= 0 for one in slots):
        more = [one for one in said.slots if one.lead >= 0 and one.span[0] > place.start()]
        tail = f" {said.question[more[0].whole[0] :]}" if more else ""
    return f"{said.question[: place.start()]}{rest}{tail}", SURE


_TIMES: Final = frozenset({"date", "hour"})


def _other_act(said: Continuing) -> str:
    """Return an order to note an act with another act in its place: "no, water the roses"."""
    if said.grammar.commands.match(plain_of(said.question)) is None:
        return ""
    after = said.slots[1:]
    act = [one for one in after[:1] if one.kind == "verb"]  # "remind me to *paint* the fence"
    rest_of_act = takewhile(lambda one: one.lead < 0 and not one.typed, after[len(act) :])
    noted = [*act, *rest_of_act]
    rest, grammar = said.fragment.rest, said.spoken
    named = grammar.slots(rest)
    is_other = named and named[0].start == 0 and not named[0].typed and named[0].lead < 0
    if not (is_other and noted) or grammar.thing.search(plain_of(rest)):
        return ""
    if named[0].article or not (_is_act(named, grammar) or " " in named[0].text):
        return ""  # another object of the same act
    start, end = noted[0].start, noted[-1].span[1]
    acts = _is_act(said.grammar.slots(said.question[start:end]), said.grammar)
    return f"{said.question[:start]}{rest.rstrip(TRIMMED)}{said.question[end:]}" if acts else ""


def _is_act(parts: Sequence[Part], grammar: LanguageGrammar) -> bool:
    """Return whether parts begin with a word and the object after it: "paint the fence", or a verb
    and a name: "call Ada".
    """
    if len(parts) < 2:
        return False
    first, after = parts[:2]
    named = after.kind == "name" and grammar.is_verb(plain_of(first.text))
    follows = after.start == first.span[1] + 1 and (bool(after.article) or named)
    return follows and not first.article and max(first.lead, after.lead) < 0


def asked_otherwise(said: Continuing) -> Found:
    """ "And when?", "how often?", "why not?", "how much for a car?": other words that ask."""
    fragment, grammar = said.fragment, said.spoken
    words = plain_of(fragment.rest).split()
    lead = 1 if len(words) > 1 and words[0] in grammar.leads else 0
    if not words[lead:] or words[lead] not in grammar.questions:
        return None
    if (found := _price_asked(said)) or said.fragment.rest.lower() == said.question.lower():
        return found
    if found := _dwellers_asked(said):
        return found
    ask = words[lead:]
    bare = (
        len(ask) == 1
        or " ".join(ask) in grammar.adverbs
        or grammar.determined.fullmatch(" ".join(ask))
        or (len(ask) == 2 and ask[0] in grammar.measuring)
    )
    if not bare or not (fragment.joined or fragment.asks or lead or len(ask) > 1):
        return None
    asked = [plain_of(one) for one in said.question.split()]
    verbs = grammar.auxiliaries
    if not asked or not (fragment.joined or len(words) > 1 or " ".join(words) in grammar.adverbs):
        return None
    if asked[0] in grammar.be and grammar.determined.fullmatch(" ".join(ask)):
        topic = topic_of(said)  # "is the 14:05 late": "what platform"
        return (f"{fragment.rest} {asked[0]} {topic}", LIKELY) if topic else None
    if asked[0] in verbs:
        return f"{fragment.rest} {said.question[0].lower()}{said.question[1:]}", SURE
    if asked[0] not in grammar.questions and not (len(asked) > 1 and asked[1] in grammar.questions):
        return None
    end = next((n for n, one in enumerate(asked) if one in verbs), 1)
    return " ".join([fragment.rest, *said.question.split()[end:]]), SURE


def _price_asked(said: Continuing) -> Found:
    """ "How much?", "how much for two?": of the subject of the last turn."""
    rest, grammar = said.fragment.rest, said.spoken
    plain = plain_of(rest)
    end = next(
        (one.start() for one in re.finditer(r"(?= )|$", plain)
         if grammar.how_much.fullmatch(plain[: one.start()])), 0,
    )  # fmt: skip
    if not end:
        return None
    parts = grammar.slots(rest[end:], inside=True) if end < len(rest) else []
    led = end == len(rest) or (bool(parts) and parts[0].lead > OF and parts[0].whole[0] == 1)
    topic = topic_of(said) if led else ""
    if not topic or not grammar.words.costs:
        return None
    return grammar.words.costs.format(lead=rest[:end], owner=topic) + rest[end:], SURE


def _dwellers_asked(said: Continuing) -> Found:
    """ "And how many people?": in the place that the last question names."""
    rest, grammar = said.fragment.rest, said.spoken
    *_, people, lead = ["", "", *grammar.words.dwellers.partition("{place}")[0].split()]
    counts = grammar.counts.match(plain_of(rest))
    if counts is None or plain_of(rest[counts.end() :]).strip() != plain_of(people):
        return None
    small = said.question.islower()  # names are typed in small letters, too
    led = [one for one in said.slots if one.lead >= 0 and not one.typed]
    places = [one.text for one in led if one.kind == "name" or one.entity or small]
    return (f"{rest} {lead} {places[-1]}", SURE) if places else None


def aligned(said: Continuing) -> Found:
    """ "And somebody born in 2001?": from the first word on that the question has too."""
    if not said.fragment.joined:
        return None
    first, _, more = plain_of(said.fragment.rest).partition(" ")
    common = first in said.spoken.leads or first in said.spoken.definite
    if not more or common or len(first) < 3:
        return None
    place = re.search(rf"\s{re.escape(first)}(?![\w'-])", plain_of(said.question), re.IGNORECASE)
    return (said.question[: place.start() + 1] + said.fragment.rest, LIKELY) if place else None


def afterwards(said: Continuing) -> Found:
    """ "And after that?": later than the hour that the reply names."""
    if not said.spoken.afterwards.fullmatch(plain_of(said.fragment.rest)):
        return None
    hours = [one.text for one in said.grammar.slots(said.turn.reply) if one.kind == "hour"]
    after = said.grammar.words.after.replace("{time}", hours[0]) if hours else said.fragment.rest
    return attach_words(said.question, after or said.fragment.rest), LIKELY


def of_place(said: Continuing) -> Found:
    """ "Is there a sauna?", "is breakfast included?": a question that lacks its place."""
    grammar, rest = said.spoken, said.fragment.clause
    plain = plain_of(rest)
    says = grammar.heads_be(rest) and plain.split()[0] in grammar.be | grammar.adverbs
    predicate = grammar.predicated.search(plain) if says else None
    exists = grammar.exists.match(plain)
    asks = predicate is not None or exists is not None
    start = exists.end() if exists else 0
    if not asks or len(plain.split()) > _SHORT or grammar.thing.search(plain, start):
        return None
    inner = {*plain.split()[1:]} if predicate else set()
    if not inner.isdisjoint(grammar.small):
        return None
    parts = grammar.slots(rest[start : predicate.start() if predicate else None], inside=True)
    parts = [one for one in parts if one.kind != "verb"]
    noun = len(parts) == 1 and parts[0].lead < 0 and not parts[0].typed
    where = place_of(said) if noun else ""
    named = any(one[:1].isupper() for one in where.split())
    if not named or (parts[0].kind == "name" and not grammar.words.nouns_capital):
        return None
    return attach_words(rest, f"{grammar.words.place_lead} {where}"), GUESS


_SHORT: Final = 6
"""Words of the longest question that lacks its place."""
