"""The rules of follow-ups for agents that nobody knows: slots of the same kind, and pronouns.

They know the grammar of a language (`grammar`), the last question, and what agents said that their
answer was about. A rule returns the whole question and how sure it is, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Final

import msgspec

from prolocutor.plugins.language.follow_up.certainty import GUESS, LIKELY, SURE, Found
from prolocutor.plugins.language.follow_up.grammar import (
    TRIMMED,
    TYPED,
    LanguageGrammar,
    Part,
    Span,
    plain_of,
)
from prolocutor.plugins.language.follow_up.last_turn import LastTurn
from prolocutor.reading.languages import is_frequent

MOST_PARTS: Final = 3
MOST_FRAGMENT: Final = 7
_CAPITAL: Final = r"[^\W\d_a-zà-ÿ][\w'’.-]*"
_NAME: Final = re.compile(
    rf"{_CAPITAL}(?: (?:{_CAPITAL}|(?:of|the|of the|de|del|de la|di|da) (?={_CAPITAL})))*"
)
_NUMBERED: Final = re.compile(
    r"(?:^|\s)\(?\d{1,2}[.):]\s*([^;,\n]{1,60}?)(?=\s*(?:[;,\n.]|\(?\b\d{1,2}[.):]\s|$))"
)


class Fragment(msgspec.Struct, frozen=True):
    """Words that may go on from the last turn, without those that open and close them.

    `joined`: they say that more follows; `mends`: that something was wrong; `asks`: they end in a
    question mark. `closes`: the words at their end that say how they are meant. `polite`: the words
    at their end ask for something.
    """

    text: str
    rest: str
    joined: bool = False
    mends: bool = False
    asks: bool = False
    closes: bool = False
    polite: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether the words say that they are no whole question."""
        return self.joined or self.mends or self.closes


class Continuing(msgspec.Struct, frozen=True, dict=True):
    """One turn to be understood: the words, and the turn before.

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

    @property
    def question(self) -> str:
        """The last question."""
        return self.turn.question


Rule = Callable[[Continuing], Found]


def meant(text: str, turn: LastTurn, grammar: LanguageGrammar, spoken: LanguageGrammar) -> Found:
    """Return the whole question that a text means after a turn, and how sure that is.

    `grammar` is that of the question, `spoken` that of the words, mostly the same.
    """
    plain = plain_of(text).strip(TRIMMED) + " "
    if spoken.courtesy.fullmatch(plain) and not spoken.again.fullmatch(plain.strip()):
        return None
    fragment = fragment_of(text, spoken)
    if not fragment.rest:
        return None
    if fragment.polite and grammar.commands.match(plain_of(turn.question)):
        fragment = msgspec.structs.replace(fragment, joined=True)
    said = Continuing(grammar, spoken, turn, fragment)
    for rule in RULES:
        if found := rule(said):
            return grammar.joined(found[0]), found[1]
    return None


def takes_back(text: str, grammar: LanguageGrammar) -> bool:
    """Return whether a text says that what was said, or done, in the last turn was not meant."""
    if grammar.another.search(plain_of(text)):
        return False
    fragment = fragment_of(text, grammar)
    plain = plain_of(fragment.rest)
    return (
        fragment.mends
        or grammar.instead.search(plain_of(text)) is not None
        or any(one.fullmatch(plain) for one in grammar.contrasts)
    )


def undoes(text: str, grammar: LanguageGrammar) -> bool:
    """Return whether a text wants back what the last turn did, and says nothing in its place."""
    plain = plain_of(text).strip(TRIMMED)
    if grammar.undo_words.search(plain) is None:
        return False
    if grammar.undoing.fullmatch(plain):
        return True
    return grammar.undoing.fullmatch(plain_of(fragment_of(text, grammar).rest)) is not None


def fragment_of(text: str, grammar: LanguageGrammar) -> Fragment:
    """Take a text apart."""
    asks = text.rstrip(" .!").endswith("?")
    rest = text.strip(TRIMMED + '"')
    opened = grammar.joint.match(plain_of(rest))
    joined = bool(opened and opened["joint"])
    rest = rest[opened.end() :] if opened else rest
    mended = grammar.mending.match(plain_of(rest))
    if mended and mended.end():
        rest = rest[mended.end() :]
        again = grammar.joint.match(plain_of(rest))
        rest = rest[again.end() :] if again and again["joint"] else rest
    dated = grammar.until_then.fullmatch(plain_of(rest))
    closed = None if dated else grammar.closing.search(plain_of(rest))
    tail = closed["tail"] if closed else ""
    rest = rest[: closed.start()] if closed else rest
    if not rest.strip(TRIMMED):
        rest, tail = text.strip(TRIMMED), ""
    return Fragment(
        text, rest.strip(TRIMMED), joined=joined, mends=bool(mended and mended.end()), asks=asks,
        closes=grammar.meant_closing.search(plain_of(tail)) is not None,
        polite=grammar.softening.search(f" {plain_of(tail)}") is not None,
    )  # fmt: skip


# -- whole wordings ---------------------------------------------------------------------------


def repeats(said: Continuing) -> Found:
    """ "Again", "another one": the same question once more."""
    whole = said.spoken.again.fullmatch(
        plain_of(said.fragment.rest)
    ) or said.spoken.again.fullmatch(plain_of(said.fragment.text.strip(TRIMMED)))
    return (said.question, SURE) if whole else None


def returns(said: Continuing) -> Found:
    """ "And back?", "the other way round": the two ends in each other's place."""
    texts = (plain_of(said.fragment.rest), plain_of(said.fragment.text.strip(TRIMMED)))
    if not any(said.spoken.returning.fullmatch(one) for one in texts):
        return None
    ends = [one for one in said.slots if one.lead in (_TO, _FROM) and not one.typed]
    if len(ends) >= 2:
        return _crossed(said.question, ends[-2].span, ends[-1].span), SURE
    if ends:
        other = _FROM if ends[0].lead == _TO else _TO
        lead = said.grammar.words.prepositions[other][0]
        place = said.question[ends[0].start : ends[0].span[1]]
        return _put(said.question, ends[0].whole, f"{lead} {place}"), LIKELY
    names = [one for one in said.slots if one.kind == "name"]
    if len(names) >= 2:
        return _crossed(said.question, names[-2].span, names[-1].span), SURE
    pair = [one for one in said.slots if one.lead < 0 and not one.typed][-2:]
    return (_crossed(said.question, pair[0].span, pair[1].span), LIKELY) if len(pair) == 2 else None


def points(said: Continuing) -> Found:
    """ "The second one", "both", "the other one": what the reply named, in place of its like."""
    rest, grammar = said.fragment.rest, said.spoken
    plain = plain_of(rest)
    ranked = grammar.ranked.fullmatch(plain)
    patterns = (grammar.both, grammar.other, *grammar.ordinals)
    if ranked is None and not any(one.fullmatch(plain) for one in patterns):
        return None
    items = _items(said, asked=False)
    chosen = ""
    old = grammar.ranks.search(plain_of(said.question))
    if ranked is not None and old is not None and len(items) < 2:
        return _put(said.question, old.span(), rest[slice(*ranked.span("rank"))]), SURE
    both = items if len(items) > 1 else _items(said, asked=True)
    if grammar.both.fullmatch(plain) and len(both) > 1:
        chosen = f"{', '.join(both[:-1])} {grammar.words.conjunction} {both[-1]}"
    elif grammar.other.fullmatch(plain):
        asked = plain_of(said.question).lower()
        others = [one for one in items if plain_of(one).lower() not in asked]
        chosen = others[0] if others else ""
    else:
        place = _ordinal(plain, grammar, len(items))
        if place is not None:
            chosen = items[place]
    if chosen:
        return _chosen(said, chosen)
    head = next((one for one in said.slots if one.lead < 0 and one.kind in ("noun", "name")), None)
    if ranked is None or head is None:
        return None
    the = grammar.words.articles[0] if grammar.words.articles else ""
    whole = _put(
        said.question, head.whole, f"{the} {rest[slice(*ranked.span('rank'))]} {head.text}"
    )
    hour = next((one for one in said.slots if one.kind == "hour"), None)
    if hour is not None:
        moved = len(whole) - len(said.question)
        span = (hour.whole[0] + moved, hour.whole[1] + moved)
        whole = _put(whole, span, "").rstrip()
    return whole, SURE


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
    asked = plain_of(said.question).lower()
    known = next(
        (
            one
            for one in said.slots
            if any(plain_of(n).lower() == one.text.lower() for n in said.turn.entities)
        ),
        None,
    )
    named = [one for one in said.slots if one.kind == "name"]
    nouns = [one for one in said.slots if one.kind == "noun" and one.lead < 0]
    slot = known or (named[-1] if named else nouns[-1] if nouns else None)
    if slot is None or plain_of(item).lower() in asked:
        return item, LIKELY
    return _put(said.question, slot.span, item), LIKELY


def contrasted(said: Continuing) -> Found:
    """ "Not Paris, Berlin", "print, not paint": one is said in place of what the question has."""
    for text in (said.fragment.rest, said.fragment.text.strip(TRIMMED)):
        plain = plain_of(text)
        for pattern in said.spoken.contrasts:
            if not (found := pattern.fullmatch(plain)):
                continue
            old, new = found["old"].strip(TRIMMED), text[slice(*found.span("new"))].strip(TRIMMED)
            if new and (span := _span_of(old, new, said.question)):
                return _put(said.question, span, new), SURE
    return None


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
    if not said.fragment.mends or grammar.orders.match(plain_of(rest)) is None:
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


def asked_otherwise(said: Continuing) -> Found:
    """ "And when?", "how much?": the question word alone."""
    rest, grammar = plain_of(said.fragment.rest).lower(), said.spoken
    if grammar.how_much.fullmatch(rest):
        topic = topic_of(said)
        if not topic or not grammar.words.costs:
            return None
        return grammar.words.costs.format(lead=said.fragment.rest, owner=topic), SURE
    if rest not in grammar.questions or not (said.fragment.joined or said.fragment.asks):
        return None
    first = said.question.split(maxsplit=1)
    if (
        len(first) < 2
        or plain_of(first[0]).lower() not in grammar.questions
        or not said.fragment.joined
    ):
        return None
    return f"{said.fragment.rest} {first[1]}", SURE


def headed(said: Continuing) -> Found:
    """ "And the diving one?": another kind of what the question is about."""
    found = said.spoken.headed.fullmatch(plain_of(said.fragment.rest))
    if not said.grammar.words.heads_last:
        return None
    if found is None:
        return _sized(said)
    kind = said.fragment.rest[slice(*found.span("kind"))]
    nouns = [one for one in said.slots if not one.typed and one.kind != "verb"]
    slot = next((one for one in nouns if " " in one.text or one.entity), None)
    if slot is None or kind.lower() in said.grammar.function:
        return None
    return _put(said.question, (slot.span[0], slot.span[1] - len(_head(slot))), f"{kind} "), SURE


def _sized(said: Continuing) -> Found:
    """ "Large?": the same thing in another size."""
    size, sizes = said.fragment.rest, said.grammar.sizes
    slot = next((one for one in said.slots if one.lead < 0 and one.kind in ("noun", "name")), None)
    if size.lower() not in sizes or slot is None:
        return None
    first, _, rest = slot.text.partition(" ")
    end = slot.span[0] + len(first) + 1 if rest and first.lower() in sizes else slot.span[0]
    return _put(said.question, (slot.span[0], end), f"{size} "), LIKELY


def _head(slot: Part) -> str:
    return slot.text.rpartition(" ")[2]


def of_topic(said: Continuing) -> Found:
    """ "What's the entrance fee?": a question about the topic that does not name it."""
    rest, grammar = said.fragment.rest, said.spoken
    plain = plain_of(rest)
    if (
        not grammar.words.owned
        or not grammar.opens_request(rest)
        or grammar.commands.match(plain)
        or grammar.idioms.fullmatch(plain)
        or grammar.dummies.search(plain)
        or grammar.thing.search(plain)
    ):
        return None
    parts = [one for one in grammar.slots(rest) if one.kind != "verb"]
    if len(parts) != 1 or parts[0].article != "the" or parts[0].lead >= 0:
        return None
    first, relation = parts[0], parts[0].text
    if first.kind != "noun" or first.span[1] != len(rest) or _in(relation, said.question):
        return None
    topic = topic_of(said) if said.turn.entities else ""
    if not topic or _in(topic, relation):
        return None
    owned = grammar.words.owned.format(relation=relation, owner=topic)
    before = rest[: first.start].rstrip()
    article = rest[first.start : first.span[0]]
    return f"{before} {owned if owned.startswith(article) else article + owned}", GUESS


# -- pronouns ---------------------------------------------------------------------------------


def pointed(said: Continuing) -> Found:
    """ "How long does it last?", "her number": what a pronoun stands for is said."""
    grammar, rest = said.spoken, said.fragment.rest
    plain = plain_of(rest)
    dummy = grammar.idioms.fullmatch(plain) or grammar.dummies.search(plain)
    if (
        (dummy and not grammar.place.search(plain))
        or _SIGNS.search(rest)
        or (
            not grammar.opens_clause(rest)
            and not said.fragment.joined
            and not said.fragment.asks
            and len(rest.split()) < 2
        )
    ):
        return None
    whole = rest
    if grammar.owner.search(plain):
        owner = person_of(said) or topic_of(said)
        if owner:
            whole = grammar.owner.sub(
                lambda one: _owned(grammar, rest, one, owner), plain_of(whole), 1
            )
    if grammar.person.search(plain_of(whole)) and (who := person_of(said)):
        whole = _substituted(grammar.person, whole, lambda _: who, grammar)
    if grammar.until_then.fullmatch(plain_of(whole)):
        day = next((one.text for one in said.slots if one.kind == "date"), "") or topic_of(said)
        whole = grammar.time.sub(lambda _: day, whole) if day else whole
    if grammar.place.search(plain_of(whole)) and (where := place_of(said)):
        whole = _with_place(whole, where, grammar)
    for place, pattern in enumerate(grammar.inner_ordinals):
        if found := pattern.search(plain_of(whole)):
            items = _items(said, asked=False)
            last = grammar.words.last and place == len(grammar.inner_ordinals) - 1
            if len(items) > max(1, 0 if last else place):
                whole = _put(whole, found.span(), items[-1 if last else place])
    their_place = grammar.place.search(plain) is not None and whole != rest
    if not (dummy or their_place or _own_thing(whole, grammar)) and grammar.thing.search(
        plain_of(whole)
    ):
        plural = grammar.thing.search(plain_of(whole))[0].lower() in grammar.plurals  # type: ignore[index]
        topic = topic_of(said, plural=plural)
        own = plural and any(one.kind == "name" for one in grammar.slots(rest))
        if own or (plural and not said.turn.entities and not topic.endswith("s")):
            where = "" if own or not _named_place(said) else place_of(said)
            topic = where and grammar.words.dwellers.format(place=where)
        if topic:
            whole = _substituted(grammar.thing, whole, lambda _: topic, grammar)
    if whole == rest:
        return None
    if _starts_owned(rest, grammar):
        first, second = [*plain_of(said.question).lower().split()[:2], "", ""][:2]
        if first in grammar.questions and (second in grammar.be or first.endswith("s")):
            lead = said.question.split()[: 2 if second in grammar.be else 1]
            whole = f"{' '.join(lead)} {whole}"
    return whole, SURE


def _named_place(said: Continuing) -> bool:
    return any(one.kind == "name" for one in said.slots)


def _owned(grammar: LanguageGrammar, rest: str, one: re.Match[str], owner: str) -> str:
    noun = rest[slice(*one.span("noun"))]
    head, _, more = noun.partition(" ")
    if more and plain_of(more).lower() in grammar.function:
        return f"{grammar.words.owned.format(relation=head, owner=owner)} {more}"
    return grammar.words.owned.format(relation=noun, owner=owner)


def _starts_owned(rest: str, grammar: LanguageGrammar) -> bool:
    return grammar.owner.match(plain_of(rest)) is not None


def _own_thing(text: str, grammar: LanguageGrammar) -> bool:
    """Return whether words name a thing of their own that a later pronoun stands for."""
    found = grammar.thing.search(plain_of(text))
    if found is None:
        return False
    before = text[: found.start()]
    return bool(re.search(r"[,;:.]\s", before)) or (
        re.search(rf"\s{re.escape(grammar.words.conjunction)}\s", before) is not None
        and any(one.article for one in grammar.slots(before))
    )


def _substituted(
    pattern: re.Pattern[str],
    text: str,
    new: Callable[[re.Match[str]], str],
    grammar: LanguageGrammar,
) -> str:
    """Replace the pronouns that stand alone; "that train" keeps its own."""
    plain = plain_of(text)
    pieces, at = [], 0
    for one in pattern.finditer(plain):
        after = re.match(r"\s+([\w'’-]+)", plain[one.end() :])
        word = after[1].lower() if after else ""
        opens = word in grammar.subjects or word in grammar.definite or word in grammar.indefinite
        free = (
            not word
            or (word in grammar.function and not opens)
            or plain_of(one[0]).lower() not in grammar.demonstratives
        )
        before = plain[: one.start()].split()
        if not free or (before and before[-1].lower() in grammar.subjects):
            continue
        pieces += [text[at : one.start()], new(one)]
        at = one.end()
    return "".join([*pieces, text[at:]])


def _with_place(text: str, where: str, grammar: LanguageGrammar) -> str:
    plain = plain_of(text)
    one = list(grammar.place.finditer(plain))[-1]
    before, after = text[: one.start()].rstrip(), text[one.end() :]
    words = before.split()
    last = plain_of(words[-1]).lower() if words else ""
    if last in grammar.be and after.strip(TRIMMED):
        return text
    lead = "" if last in grammar.leads else grammar.words.place_lead
    if last in grammar.goes and not grammar.dummies.search(plain):
        lead = grammar.words.prepositions[_TO][0]
    if last in grammar.be:
        return f"{before} {plain_of(one[0])} {lead} {where}"
    return f"{before} {lead} {where}{after}" if before else f"{lead} {where}{after}"


# -- slots --------------------------------------------------------------------------------------


def replaced(said: Continuing) -> Found:
    """ "And in Lyon?", "a van", "no, Tuesday": each part in place of its like, or at the end."""
    fragment, grammar = said.fragment, said.spoken
    rest = fragment.rest
    if len(rest.split()) > MOST_FRAGMENT or grammar.opens_clause(rest):
        return None
    plain = plain_of(rest).lower()
    if (plain in grammar.function and plain not in grammar.numbers) or grammar.idioms.fullmatch(
        plain
    ):
        return None
    if _is_clause(rest, grammar, goes_on=fragment.goes_on):
        return None
    parts = grammar.slots(rest, said.turn.entities, inside=fragment.goes_on)
    if (
        not parts
        or len(parts) > MOST_PARTS
        or (parts[0].whole[0] > 0 and not _is_small(rest, parts[0], grammar))
    ):
        return None
    parts = _merged(rest, parts, compounds=fragment.goes_on)
    question, slots, sure, put = said.question, said.slots, SURE, 0
    if not fragment.goes_on:
        sure = GUESS
    used: set[Span] = set()
    for part in parts:
        slot = _filled_by(part, slots, said) or best_slot(
            part, [one for one in slots if one.span not in used], said
        )
        if slot is None:
            continue
        new, gone = _in_place(rest, part, slot, said)
        moved = len(new) - (gone[1] - gone[0])
        question = _put(question, gone, new)
        put += 1
        slots = [_moved(one, gone[1], moved) for one in slots if one is not slot]
        used = {(a + moved, b + moved) if a >= gone[1] else (a, b) for a, b in used}
        used.add((gone[0], gone[0] + len(new)))
    if put:
        if not fragment.goes_on and put < len(parts):
            return None
        typed = all(one.typed or one.lead >= 0 or one.kind == "name" for one in parts)
        ok = fragment.goes_on or fragment.asks or typed
        left = [
            one
            for one in parts
            if not any(rest[slice(*one.span)] in question[a:b] for a, b in used)
        ]
        for one in left:
            question = _attached(question, rest[slice(*one.whole)])
        if parts[0].lead >= 0 and not fragment.goes_on and " " in rest:
            sure = SURE
        return (question, sure) if ok else None
    return attached(said, parts)


def afterwards(said: Continuing) -> Found:
    """ "And after that?": later than the hour that the reply names."""
    if not said.spoken.afterwards.fullmatch(plain_of(said.fragment.rest)):
        return None
    hours = [one.text for one in said.grammar.slots(said.turn.reply) if one.kind == "hour"]
    after = said.grammar.words.after.replace("{time}", hours[0]) if hours else said.fragment.rest
    return _attached(said.question, after or said.fragment.rest), LIKELY


def _is_clause(rest: str, grammar: LanguageGrammar, *, goes_on: bool) -> bool:
    """Return whether words are more than a fragment: they have a verb, a sign or a choice."""
    tokens = grammar.tokens(rest)
    words = [plain_of(one.text).lower() for one in tokens if one.kind != "mark"]
    untyped = [plain_of(one.text).lower() for one in tokens[1:] if one.kind not in TYPED]
    verbs = grammar.be | grammar.helpers | grammar.questions
    if any(one in verbs for one in untyped) or _SIGNS.search(rest):
        return True
    if goes_on:
        return False
    choice = plain_of(grammar.words.choice).lower()
    return len(words) > MOST_BARE or choice in words or any(one in grammar.things for one in words)


_SIGNS: Final = re.compile(r"[=<>*+@\"“]|:\s")
MOST_BARE: Final = 4


def attached(said: Continuing, parts: list[Part]) -> Found:
    """ "With insurance?", "first class?", "tomorrow?": what the question had not, at its end."""
    fragment, grammar, rest = said.fragment, said.spoken, said.fragment.rest
    first = parts[0]
    if not fragment.goes_on and len(parts) > 1:
        return None
    if first.typed or first.lead >= 0:
        if fragment.goes_on or fragment.asks or first.lead >= 0:
            return _attached(said.question, rest), LIKELY if fragment.goes_on else GUESS
        return None
    if not ((fragment.asks and len(rest.split()) < 3) or fragment.goes_on):
        return None
    if first.article == "a" and fragment.joined:
        return None
    topic = topic_of(said)
    relation = first.article == "the" or (not first.article and rest.endswith("s"))
    if (
        topic
        and relation
        and grammar.words.owned
        and first.kind == "noun"
        and not _ends_in(rest, "ss")
    ):
        bare = rest[slice(*first.span)]
        if not (first.article == "the" and not fragment.joined):
            return grammar.words.owned.format(relation=bare, owner=topic), LIKELY
    if first.article == "the" and not fragment.joined:
        name = next((one for one in said.slots if one.kind == "name"), None)
        if name is not None:
            return _put(said.question, (name.span[1], name.span[1]), f", {rest}"), LIKELY
    return _attached(said.question, rest), LIKELY if fragment.goes_on else GUESS


def _filled_by(part: Part, slots: list[Part], said: Continuing) -> Part | None:
    """Return the slot that the agent itself says such words may stand in."""
    for values in said.turn.fillings.values():
        known = {plain_of(one).lower() for one in values}
        if plain_of(part.text).lower() not in known:
            continue
        for slot in slots:
            if plain_of(slot.text).lower() in known:
                return slot
    return None


def best_slot(part: Part, slots: list[Part], said: Continuing) -> Part | None:
    """Return the slot of the last question that a part fits best; None where it fits none."""
    scored = [
        (score, place) for place, one in enumerate(slots) if (score := _score(part, one, said)) > 0
    ]
    if not scored:
        return None
    score, place = max(scored)
    loose = not (said.fragment.goes_on or part.lead >= 0 or part.typed or part.kind == "name")
    return slots[place] if score >= (_LOOSE if loose else _LEAST) else None


_LEAST: Final = 1.0
_LOOSE: Final = 3.0
_OF: Final = 1
_TO: Final = 2
_FROM: Final = 3


def _score(part: Part, slot: Part, said: Continuing) -> float:
    """Return how well a part fits a slot; 0 where it does not."""
    score = 1.0
    named = part.kind == "name"
    if (
        not said.fragment.goes_on
        and named
        and not part.entity
        and not _is_name(part.text, slot.text)
    ):
        return 0
    if part.lead >= 0 and slot.lead == part.lead:
        score += 6
    elif part.lead >= 0 and not (part.typed and slot.kind == part.kind):
        return 0
    direct = said.grammar.commands.match(plain_of(said.question)) is not None
    if part.lead < 0 and part.kind == slot.kind == "number":
        score += 1 if part.text.isalpha() == slot.text.isalpha() else 0
    if part.kind == "number" and slot.kind == "name" and _numbered(part, slot):
        return score + 5
    if part.typed or slot.typed:
        same = part.kind == slot.kind or {part.kind, slot.kind} <= {"measure", "number"}
        if not same:
            counted = direct and slot.kind == "measure" and slot is _counted_object(said)
            if counted and not part.typed:
                return score + 4
            amount = slot.kind in ("measure", "number") and not part.typed
            return score - 3 if part.lead >= 0 and slot.lead == part.lead and amount else 0
        if part.kind == "measure" == slot.kind and _unit(part) != _unit(slot) and part.lead < 0:
            score -= 2
        return score + 5
    if direct and part.lead < 0 and slot is _first_object(said):
        score += 3
    if slot.kind == "verb":
        bare = " " not in part.text and not part.article and part.lead < 0 and part.kind == "noun"
        return score + 0.2 if bare and said.fragment.joined else 0
    capitals = any(one.span[0] and one.text[:1].isupper() for one in said.slots)
    if _shape(part.text) == _shape(slot.text) and any(c.isdigit() for c in part.text):
        score += 5
    elif part.kind == slot.kind == "name":
        score += 3
    elif part.kind == "name" and slot.kind != "name":
        score -= 0.5 if slot.entity else 1.5 if capitals else 0
    elif part.kind == "noun" and slot.kind == "noun":
        score += 1
    elif part.kind == "noun" and slot.entity and slot.text.islower():
        score += 2.5
    elif (
        part.kind == "noun"
        and slot.kind == "name"
        and slot.text[:1].isupper()
        and not said.grammar.words.nouns_capital
    ):
        others = [one for one in said.slots if one.kind in ("noun", "verb") and one.lead < 0]
        if said.fragment.goes_on or part.text.endswith("s"):
            score -= 1.2 if capitals and others else 0
        elif " " not in part.text and not part.article:
            score += 2.5
    determined = slot.lead < 0 and said.grammar.determined.match(plain_of(said.question))
    if determined and plain_of(determined["noun"]).lower() == plain_of(slot.text).lower():
        score -= 1.0 if not part.text.endswith("s") else 0
    if part.article and slot.article:
        score += 2 if part.article == slot.article else 0.5
    elif part.article:
        score -= (4 if slot.kind == "name" else 1.5) if part.article == "a" else 1
    elif slot.article == "the" and part.kind == "noun" and part.lead < 0:
        score -= 1
    mine, its = plain_of(part.text).lower().split(), plain_of(slot.text).lower().split()
    if not mine or not its:
        return 0
    if set(mine) & set(its):
        score += 4
    elif _alike(mine[-1], its[-1]):
        score += 2.2
    elif _plural(mine[-1]) and _plural(its[-1]) and part.kind == slot.kind:
        score += 1
    elif _plural(its[-1]) != _plural(mine[-1]) and not said.fragment.goes_on:
        score -= 1
    if slot.article == "a" and _plural(mine[-1]) and not part.article:
        score -= 2
    if slot.entity or any(plain_of(one).lower() == " ".join(its) for one in said.turn.entities):
        score += 1.5
    return score + slot.span[0] / 1000


def _is_name(text: str, other: str) -> bool:
    """Return whether words that nothing opens are a name, or a code like another one."""
    if any(sign.isdigit() for sign in text):
        return _shape(text) == _shape(other)
    shouts = text.isupper() and len(text) > 4
    if set(text.lower().split()) & set(other.lower().split()):
        return True
    return not shouts and all(
        one[:1].isupper() or one in ("of", "the", "and") for one in text.split()
    )


def _in_place(rest: str, part: Part, slot: Part, said: Continuing) -> tuple[str, Span]:
    """Return the new words, and the span of the question whose place they take."""
    words = rest[slice(*part.whole)]
    if said.spoken is not said.grammar:
        return part.text, slot.span
    if part.kind == "number" and slot.kind == "name" and (number := _numbered(part, slot)):
        return part.text, (slot.span[1] - len(number), slot.span[1])
    if part.kind == "number" and slot.kind == "measure":
        old = _AMOUNT.match(slot.text)
        if old is not None and old.end() < len(slot.text):
            amount = (slot.span[0], slot.span[0] + old.end())
            return (words if part.lead >= 0 and slot.lead >= 0 else part.text), (
                (slot.whole[0] if part.lead >= 0 and slot.lead >= 0 else amount[0]), amount[1]
            )  # fmt: skip
    if part.kind == slot.kind == "date" and (whole := _dated(part.text, slot.text)):
        lead = words[: len(words) - len(part.text)]
        return (lead + whole if slot.lead >= 0 else whole), (slot.whole if lead else slot.span)
    if part.lead >= 0:
        if slot.lead >= 0 or slot.typed:
            return words, slot.whole
        return words, slot.span
    if part.article:
        return rest[part.start : part.span[1]], (slot.start, slot.span[1])
    if (part.kind == "measure" and slot.kind == "number") or part.kind == slot.kind == "number":
        return part.text, slot.span
    if (inner := _modifier(part, slot, said)) is not None:
        return part.text, inner
    if slot.article == "a" and part.kind == "noun" and part.text.endswith("s") and slot.lead < 0:
        return part.text, (slot.start, slot.span[1])
    return part.text, slot.span


def _numbered(part: Part, slot: Part) -> str:
    """Return the number at the end of a name, "parcel 4711", if a part is such a number too."""
    found = _NUMBER_AT_END.search(slot.text)
    return found[0] if found and _shape(part.text) == _shape(found[0]) else ""


_NUMBER_AT_END: Final = re.compile(r"(?<=\s)\d+\Z")
_AMOUNT: Final = re.compile(r"-?\d[\d.,]*+|[^\W\d_]++(?=\s)")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")


def _dated(new: str, old: str) -> str:
    """Return a date that names no year with that of the date whose place it takes."""
    year = _YEAR.search(old)
    if year is None or _YEAR.search(new) or not any(sign.isdigit() for sign in new):
        return ""
    return f"{new}{old[old.rindex(year[0]) - 1 :]}" if old.endswith(year[0]) else ""


def _modifier(part: Part, slot: Part, said: Continuing) -> Span | None:
    """Return the words before a noun whose place a word takes: "a tennis court", "squash?"."""
    if part.kind == "verb" or part.lead >= 0 or slot.typed or " " not in slot.text:
        return None
    mine, its = plain_of(part.text).lower().split(), plain_of(slot.text).lower().split()
    if slot.core is not None and mine[-1] != its[-1]:
        return slot.core if slot.core[1] < slot.span[1] else None
    if (
        not said.grammar.words.heads_last
        or slot.article != "a"
        or len(mine) > 1
        or slot.text != slot.text.lower()
        or part.text != part.text.lower()
    ):
        return None
    start, size = slot.span[0], its[0] in said.grammar.sizes
    if mine[0] in said.grammar.sizes:
        return (start, start + len(slot.text.split(" ")[0])) if size else None
    last = slot.span[1] - len(slot.text.rpartition(" ")[2])
    return (start + len(its[0]) + 1, slot.span[1]) if size else (start, last - 1)


def _first_object(said: Continuing) -> Part | None:
    return next((one for one in said.slots if one.lead < 0 and one.kind != "verb"), None)


def _counted_object(said: Continuing) -> Part | None:
    """Return what an order is about where it has a number of things: "add two pizzas"."""
    first = _first_object(said)
    return first if first is not None and first.text[-1:] == "s" else None


def _plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


def _merged(rest: str, parts: list[Part], *, compounds: bool) -> list[Part]:
    """Return parts with those joined that follow each other without a preposition.

    `compounds`: also those joined by "of".
    """
    joined: list[Part] = []
    for one in parts:
        last = joined[-1] if joined else None
        of = compounds and one.lead == _OF and last is not None and one.whole[0] - last.span[1] <= 1
        if last is not None and (
            (of and last.kind != "verb")
            or (one.lead < 0 and not one.typed and not last.typed and one.kind != "verb")
        ):
            span = (last.span[0], one.span[1])
            kind = "name" if "name" in (last.kind, one.kind) else "noun"
            joined[-1] = msgspec.structs.replace(
                last,
                span=span,
                whole=(last.whole[0], one.span[1]),
                kind=kind,
                text=rest[slice(*span)],
            )
        else:
            joined.append(one)
    return joined


def _is_small(rest: str, part: Part, grammar: LanguageGrammar) -> bool:
    before = plain_of(rest[: part.whole[0]]).lower().split()
    return all(one in grammar.small for one in before) and len(before) < 2


# -- what the last turn was about ---------------------------------------------------------------


def topic_of(said: Continuing, *, plural: bool = False) -> str:
    """Return what the last turn was about, with its article; "" where that is not clear."""
    turn = said.turn
    new = [
        name for name, kind in turn.kinds if kind not in _PEOPLE and not _in(name, turn.question)
    ]
    if said.grammar.determined.match(plain_of(turn.question)) and not _counted(said):
        answer = new[0] if new else _name_in(said)
        if answer:
            return answer
    main = _main(said, plural=plural)
    if plural and main.endswith("s"):
        return main
    inside = [name for name, _ in turn.kinds if main and _in(name, main)]
    old = [name for name, kind in turn.kinds if _in(name, turn.question) and kind not in _PEOPLE]
    if main and (inside or not turn.kinds or not old):
        return main
    if old:
        return _with_article(said, old[0])
    return new[0] if new else main


def _counted(said: Continuing) -> bool:
    return said.grammar.counts.match(plain_of(said.question)) is not None


def _main(said: Continuing, *, plural: bool) -> str:
    """Return the first noun phrase of the last question, with the places that belong to it."""
    slots = said.slots
    relation = next((n for n, one in enumerate(slots[1:]) if one.lead == _OF), None)
    if (
        relation is not None
        and slots[relation + 1].kind == "name"
        and slots[relation].article != "a"
    ):
        return _bare_whole(said, slots[relation + 1])
    heads = [one for one in slots if one.lead < 0 and not one.typed and one.kind != "verb"]
    fit = [one for one in heads if one.text.endswith("s") == plural] if len(heads) > 1 else []
    for n, one in enumerate(slots):
        if fit and one not in fit:
            continue
        counts = one.kind in ("measure", "number") and n + 1 < len(slots)
        if (
            one.lead >= 0
            or one.kind == "verb"
            or (
                one.typed
                and not (
                    counts and slots[n + 1].lead < 0 and slots[n + 1].whole[0] - one.span[1] == 1
                )
            )
        ):
            continue
        if plain_of(one.text).lower() in said.grammar.degrees:
            continue
        end = one.span[1]
        follows = slots[n + 1] if n + 1 < len(slots) else None
        if (
            follows is not None
            and (follows.kind == "name" or counts)
            and follows.lead < 0
            and follows.whole[0] - end <= 1
        ) and ((one.kind == "noun" and not one.article) or counts):
            end = follows.span[1]
        for other in slots[n + 1 :]:
            if other.lead >= 0 and other.whole[0] - end <= 1 and not other.typed:
                end = other.span[1]
        return said.question[one.whole[0] : end].strip(TRIMMED)
    named = next((one for one in slots if one.lead >= 0 and one.kind == "name"), None)
    return _bare_whole(said, named) if named is not None else ""


def _bare_whole(said: Continuing, slot: Part) -> str:
    words = said.question[slice(*slot.whole)].split()
    while words and plain_of(words[0]).lower() in said.grammar.leads:
        words = words[1:]
    return " ".join(words)


def _with_article(said: Continuing, name: str) -> str:
    for one in said.slots:
        if plain_of(one.text).lower() == plain_of(name).lower():
            return _bare_whole(said, one) or name
    return name


def person_of(said: Continuing) -> str:
    """Return the person that the last turn was about, "" where it names none."""
    turn = said.turn
    people = [name for name, kind in turn.kinds if kind in _PEOPLE]
    if people:
        return people[0]
    if _WHO.match(plain_of(turn.question)) and (answered := _name_in(said, first=True)):
        return answered
    asked = next(
        (one.text for one in said.slots if one.kind == "name" and not _says_where(one, said)), ""
    )
    if asked and not said.grammar.determined.match(plain_of(turn.question)) and not turn.types:
        return asked
    named = _name_in(said, first=True)
    new = [name for name, _ in turn.kinds if not _in(name, turn.question)]
    return new[0] if new else named or topic_of(said)


def _says_where(slot: Part, said: Continuing) -> bool:
    """Return whether a part says where something is: "in Oslo"."""
    lead = said.question[slot.whole[0] : slot.span[0]].split()[:1]
    return lead == [said.grammar.words.place_lead]


def place_of(said: Continuing) -> str:
    """Return the place that the last turn was about, "" where it names none."""
    turn = said.turn
    places = [name for name, kind in turn.kinds if kind in _PLACES]
    if places:
        return _with_article(said, places[0])
    if said.grammar.determined.match(plain_of(turn.question)) and not _counted(said):
        new = [name for name, _ in turn.kinds if not _in(name, turn.question)]
        if new or (named := _name_in(said)):
            return new[0] if new else named
    names = [one for one in said.slots if one.kind == "name" or one.entity]
    names = [one for one in names if one.entity] or [one for one in names if one.lead >= 0] or names
    goal = [one for one in names if one.lead == _TO]
    if names:
        return _bare_whole(said, goal[-1] if goal else names[0])
    nouns = [one for one in said.slots if one.kind == "noun" and one.lead >= 0]
    return _bare_whole(said, nouns[-1]) if nouns else topic_of(said)


_WHO: Final = re.compile(
    r"\W*(?:who|whom|wer|wen|wem|qui|quien(?:es)?|chi)(?:['’]?s)?\b", re.IGNORECASE
)
"""A question for a person: the reply names whom later pronouns stand for."""

_PEOPLE: Final = frozenset(
    "person people name human author director actor teacher trainer doctor".split()
)
_PLACES: Final = frozenset(
    "place city town country location venue station port address region".split()
)


def _name_in(said: Continuing, *, first: bool = False) -> str:
    """Return the first name that a reply gives and the question has not; a single word that opens
    the reply counts where `first` says so."""
    reply, question = said.turn.reply, said.question
    found = [one[0].strip() for one in _NAME.finditer(reply)]
    for n, one in enumerate(found):
        typed = said.grammar.kinds.fullmatch(plain_of(one.rstrip(".,")))
        if typed or (" " not in one and is_frequent(one)):
            continue
        opens = n == 0 and reply.startswith(one) and " " not in one and not first
        if _in(one, question) or opens:
            continue
        return one.rstrip(".,")
    return ""


def _items(said: Continuing, *, asked: bool) -> list[str]:
    """Return the things that the last reply names; with `asked` also those of the question."""
    turn = said.turn
    new = [name for name, _ in turn.kinds if _in(name, turn.reply)]
    if len(new) > 1:
        return new
    if asked:
        known = [name for name, _ in turn.kinds]
        return known if len(known) > 1 else _items_of(turn.question, said.grammar)
    found = [one[0].strip(" .,") for one in _NAME.finditer(turn.reply)]
    common = said.grammar.function
    names = [one for one in found if not (is_frequent(one) or plain_of(one).lower() in common)]
    listed = _items_of(turn.reply, said.grammar)
    return listed if all(one[:1].isalpha() for one in listed) and listed else names


def items_of_reply(turn: LastTurn, grammar: LanguageGrammar) -> list[str]:
    """Return the things that a reply lists; none where it lists none."""
    listed = _items_of(turn.reply, grammar)
    return listed if all(one[:1].isalpha() for one in listed) else []


def _items_of(text: str, grammar: LanguageGrammar) -> list[str]:
    """Return the things that a text lists: numbered, or with commas and a conjunction."""
    numbered = [one.strip(" .") for one in _NUMBERED.findall(text)]
    if len(numbered) > 1:
        return numbered
    listed = grammar.listed.search(text)
    if listed is None:
        return []
    items = [one.strip(" .") for one in grammar.gap.split(listed[0]) if one.strip()]
    named = [one[0] for one in _NAME.finditer(items[0])] if items else []
    if named and len(items[0].split()) > 2:
        items[0] = named[-1]
    return items


# -- texts --------------------------------------------------------------------------------------


def _alike(one: str, other: str) -> bool:
    return len(one) > 4 and len(other) > 4 and one[-3:] == other[-3:]


def _ends_in(text: str, letters: str) -> bool:
    return text.lower().endswith(letters)


def _shape(text: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[A-Za-z]+", "a", text))


def _unit(slot: Part) -> str:
    return (
        slot.text.split()[-1].lower().rstrip("s")
        if " " in slot.text
        else re.sub(r"[\d.,]+", "", slot.text)
    )


def _in(name: str, text: str) -> bool:
    return plain_of(name).lower() in plain_of(text).lower()


def _put(text: str, span: Span, new: str) -> str:
    before, after = text[: span[0]], text[span[1] :]
    if not new and before.endswith(" ") and (not after or after[0] in " ?!.,"):
        before = before.rstrip()
    return f"{before}{new}{after}"


def _crossed(text: str, one: Span, two: Span) -> str:
    (a, b), (c, d) = sorted((one, two))
    return f"{text[:a]}{text[c:d]}{text[b:c]}{text[a:b]}{text[d:]}"


def _attached(text: str, words: str) -> str:
    return f"{text.rstrip(' ?!.')} {words}{'?' if text.rstrip().endswith('?') else ''}"


def _moved(slot: Part, after: int, by: int) -> Part:
    if slot.span[0] < after:
        return slot
    (a, b), (c, d) = slot.span, slot.whole
    return msgspec.structs.replace(
        slot, span=(a + by, b + by), whole=(c + by, d + by), start=slot.start + by
    )


RULES: Final[tuple[Rule, ...]] = (
    repeats,
    returns,
    points,
    contrasted,
    corrected,
    asked_otherwise,
    headed,
    afterwards,
    replaced,
    pointed,
    of_topic,
)
