"""Lists: the things that a reply names, and which of them words such as "the cheaper one" mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.plugins.language.follow_up.fragments import Continuing, Fragment, in_text
from prolocutor.plugins.language.follow_up.grammar import (
    FOR,
    FROM,
    TO,
    WITHIN,
    LanguageGrammar,
    Span,
    plain_of,
    stems_of,
)
from prolocutor.plugins.language.follow_up.last_turn import LastTurn
from prolocutor.plugins.language.follow_up.topics import names_in, without_amounts
from prolocutor.reading.languages import is_frequent
from prolocutor.reading.numbers import read_value

_NUMBERED: Final = re.compile(
    r"(?:^|\s)\(?\d{1,2}[.):]\s*([^;,\n]{1,60}?)(?=\s*(?:[;,\n.]|\(?\b\d{1,2}[.):]\s|$))"
)
_MASKED: Final = re.compile(r"(?<=\d)[:.,](?=\d)|[$€£¥()]")
"""Marks of amounts and brackets, which are no marks of a list."""

_AMOUNT: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_CURRENCY: Final = re.compile(r"[$€£¥]")
_COLON: Final = re.compile(r":\s")


class ListedItem(msgspec.Struct, frozen=True):
    """A thing of a list, and the amount that the list says of it: its value, and its kind or ""."""

    text: str
    value: float = 0.0
    kind: str = ""


def named_items(said: Continuing, *, asked: bool) -> list[str]:
    """Return the things that the last reply names; with `asked` also the slots of the question.

    They are those of an earlier reply's list where the question is about one of these.
    """
    items, listed = _told_items(said, asked=asked), [*said.turn.listed]
    goes_on = any(in_text(one, said.question) for one in listed)
    return listed if goes_on or (listed and len(items) < 2) else items


def things_of_reply(turn: LastTurn, grammar: LanguageGrammar) -> list[str]:
    """Return the things that the reply of a turn names."""
    return _told_items(Continuing(grammar, grammar, turn, Fragment("", "")), asked=False)


def _told_items(said: Continuing, *, asked: bool) -> list[str]:
    turn = said.turn
    told = [(name, kind) for name, kind in turn.kinds if in_text(name, turn.reply)]
    kept = without_amounts([name for name, _ in told], said.grammar)
    if len(kept) > 1:
        new = [one for one in told if one[0] in kept and not in_text(one[0], said.question)]
        kinds = Counter(kind for _, kind in new if kind)
        kind, count = kinds.most_common(1)[0] if kinds else ("", 0)
        if count > 1:
            return [name for name, its in new if its == kind]
        return [name for name, _ in new] if len(new) > 1 else kept
    if asked:
        known = [name for name, _ in turn.kinds]
        return known if len(known) > 1 else _items_of(turn.question, said.grammar)
    names = [
        _bare_item(one, said.grammar, opens=False) for one in names_in(turn.reply, said.grammar)
    ]
    names = [one for one in names if not is_frequent(one)]
    listed = _items_of(turn.reply, said.grammar)
    if listed and all(one[:1].isalpha() for one in listed):
        return listed
    return [] if said.grammar.words.nouns_capital else names


def named_by_word(words: str, turns: Sequence[LastTurn], grammar: LanguageGrammar) -> str:
    """Return the name or thing of turns that "the harbour one" calls by a word of it, or ""."""
    ends = grammar.ends_in_one.search(plain_of(words))
    wanted = {*stems_of(words[: ends.start()])} - grammar.function if ends else set()
    for turn in turns if wanted else ():
        texts = (turn.question, turn.reply)
        known = [*turn.entities, *(one for text in texts for one in names_in(text, grammar))]
        if found := next((one for one in known if wanted <= {*stems_of(one)}), ""):
            return found
    return ""


def ranked_item(said: Continuing, rank: str) -> str:
    """Return the item of the last reply's list with the least or most of its amounts, or "".

    `rank` are the words that say so: "cheapest", "moins cher". Without a list it is the thing with
    that amount among those that the reply tells, or that and earlier replies.
    """
    place = _place_of(rank, said.spoken)
    if place is None:
        return ""
    of_hours, choose = place[0], min if place[1] else max
    items = listed_items(said.turn.reply, said.grammar)
    fit = [one for one in items if one.kind and (one.kind == "hour") is of_hours]
    if len(fit) > 1 and len(fit) == len(items):
        found = choose(fit, key=lambda one: one.value)
        names = (one for one in named_items(said, asked=False) if in_text(one, found.text))
        return next(names, found.text)
    if of_hours:
        return ""
    told = _priced(said, said.turn.reply)
    if len(told) < 2:
        told += [one for reply in said.turn.replies for one in _priced(said, reply)]
    return choose(told, key=lambda one: one.value).text if len(told) > 1 else ""


def ranked_hour(said: Continuing, rank: str) -> str:
    """Return the earlier or later of the hours of the last reply, with their preposition, or ""."""
    of_hours, least = _place_of(rank, said.spoken) or (False, True)
    slots = said.grammar.slots(said.turn.reply) if of_hours else []
    at = (one for one in slots if one.lead == WITHIN or one.kind == "hour")
    hours = [one for one in at if one.kind in ("hour", "number")]
    if len(hours) < 2:
        return ""
    found = (min if least else max)(hours, key=lambda one: _hour_value(one.text))
    lead = said.turn.reply[hours[0].whole[0] : hours[0].span[0]]
    return f"{lead.lower()}{found.text}"


def _place_of(rank: str, grammar: LanguageGrammar) -> tuple[bool, bool] | None:
    """Return whether words rank hours, and whether the least is meant; None for other words."""
    *more, word = plain_of(rank).split()
    place = grammar.ranking.get(grammar.bare(word))
    return place and (place[0], place[1] ^ any(one in grammar.less for one in more))


def _hour_value(text: str) -> float:
    digits = _AMOUNT.search(text)
    value = read_value(digits[0].replace(":", ".")) if digits else None
    return float(value or 0) % 12 + 12 * ("p" in text.lower()) if "m" in text else float(value or 0)


def _priced(said: Continuing, reply: str) -> list[ListedItem]:
    """Return the things of a reply with the amount that is said of each, all of one unit."""
    things, found, last = "", [], 0
    for one in said.grammar.slots(reply, said.turn.entities):
        if one.kind == "measure" and last and one.start - last == 1:
            things, last = f"{things} {one.text}", 0  # "the Flex 20 plan"
            continue
        last = one.span[1] if one.kind == "name" and not things else 0
        unit = plain_of(one.text).rpartition(" ")[2]
        digits = _AMOUNT.search(one.text)
        if one.kind in ("measure", "number") and one.article != "a" and digits and things:
            value = read_value(digits[0])
            found += [] if value is None else [ListedItem(things, float(value), unit)]
            things = ""
        elif not things and (one.kind == "name" or (one.kind == "noun" and (
            one.article or said.grammar.is_plural(one.text)
        ))):  # fmt: skip
            things = reply[one.start : one.span[1]]
            things = things[0].lower() + things[1:] if one.article else things
    units = Counter(one.kind for one in found if not one.kind.isdecimal())
    unit = units.most_common(1)[0][0] if units else ""
    return [one for one in found if one.kind == unit or one.kind.isdecimal()]


def two_things(said: Continuing) -> list[str]:
    """Return the two things that "both" are: those of the last reply, question, or two turns."""
    told = named_items(said, asked=False)
    new = [one for one in told if not in_text(one, said.question)]
    turn = said.turn
    pairs = ([old, name] for name, kind in turn.kinds for old, sort in turn.before if kind == sort)
    before = next((pair for pair in pairs if pair[0] != pair[1]), [])
    for items in (told, new, before, named_items(said, asked=True)):
        if len(items) == 2 and not said.grammar.opens_clause(items[0]):
            return items
    return []


def other_of_kind(said: Continuing) -> str:
    """Return the entity of an earlier turn that one of the last question has taken the place of."""
    kinds = {kind for name, kind in said.turn.kinds if kind and in_text(name, said.question)}
    earlier = (name for name, kind in said.turn.before if kind in kinds)
    return next((one for one in earlier if not in_text(one, said.question)), "")


def items_of_reply(turn: LastTurn, grammar: LanguageGrammar) -> list[str]:
    """Return the items of the list in a reply, if it has one."""
    listed = _items_of(turn.reply, grammar)
    return listed if all(one[:1].isalpha() for one in listed) else []


def _items_of(text: str, grammar: LanguageGrammar) -> list[str]:
    return [one.text for one in listed_items(text, grammar)]


def listed_items(text: str, grammar: LanguageGrammar) -> list[ListedItem]:
    """Return the things that a text lists: numbered, or with commas and a conjunction.

    A list after a colon begins there.
    """
    numbered = [one.strip(" .") for one in _NUMBERED.findall(text)]
    if len(numbered) > 1:
        return [ListedItem(one) for one in numbered]
    if all(f" {joint} " not in plain_of(text) for joint in grammar.joining):
        return []
    masked = _MASKED.sub("_", text)
    colon = _COLON.search(masked)
    listed = grammar.listed.search(masked, colon.end() if colon else 0)
    listed = listed or (grammar.listed.search(masked) if colon else None)
    if listed is None:
        return []
    after_colon = colon is not None and listed.start() >= colon.end()
    pieces = _pieces(listed.span(), masked, text, grammar)
    amounts = [_amount_in(one, grammar) for one in pieces]
    priced = sum(one is not None for one in amounts) > 1
    priced = priced and any(one is not None and one[2] != "number" for one in amounts)
    items = []
    for n, piece in enumerate(pieces):
        found = amounts[n] if priced else None
        name = _without_amount(piece, found, grammar) if found else piece
        bare = _bare_item(name, grammar, opens=n == 0 and not after_colon)
        if n == 0 and not after_colon and len(bare.split()) > 2:
            bare = next(iter(names_in(bare, grammar)[-1:]), bare)
        if n == len(pieces) - 1:
            bare = _without_way(bare, grammar)
        if not bare or plain_of(bare) in grammar.function:
            continue
        if not grammar.courtesy.fullmatch(f"{plain_of(bare)} "):
            items.append(ListedItem(bare, *(found[1:] if found else ())))
    return items


def _pieces(span: Span, masked: str, text: str, grammar: LanguageGrammar) -> list[str]:
    """Return the parts of a list between its commas and conjunctions."""
    pieces, at = [], span[0]
    for gap in [*grammar.gap.finditer(masked, *span), None]:
        end = gap.start() if gap else span[1]
        pieces.append(text[at:end].strip(" ."))
        at = gap.end() if gap else end
    return [one for one in pieces if one]


def _amount_in(piece: str, grammar: LanguageGrammar) -> tuple[int, float, str] | None:
    """Return where an amount stands in a part of a list, its value, and its kind."""
    typed = [one for one in grammar.typed_parts(piece) if one[2] != "code"]
    typed.sort(key=lambda one: one[2] == "number")  # "one in Rome for 9 euros"
    start, end, kind = next(iter(typed), (0, 0, "date"))
    digits = _AMOUNT.search(piece[start:end])
    value = None if digits is None else read_value(digits[0].replace(":", "."))
    if digits is None or value is None or kind == "date":
        return None
    sort = "hour" if ":" in digits[0] else "amount" if _CURRENCY.search(piece) else kind
    return start, float(value), sort if sort in ("hour", "number") else "amount"


def _without_way(item: str, grammar: LanguageGrammar) -> str:
    """Return the last item of a list without where all of them go: "KX 4 *from Oslo to Rome*"."""
    words = item.split()
    ends = (
        n
        for n, one in enumerate(words)
        if grammar.leads.get(plain_of(one)) in _WAYS
        or (n and one.islower() and grammar.is_verb(one) and words[n - 1][:1].isupper())
    )
    return " ".join(words[: next(ends, None)]) or item


_WAYS: Final = (TO, FROM, FOR)


def _without_amount(piece: str, amount: tuple[int, float, str], grammar: LanguageGrammar) -> str:
    """Return a part of a list without its amount and the verb or preposition before that."""
    words = piece[: amount[0]].rstrip(" (€$£¥").split()
    known = grammar.leads.keys() | grammar.auxiliaries
    while words and plain_of(words[-1]) in known:
        words.pop()
    return " ".join(words)


def _bare_item(item: str, grammar: LanguageGrammar, *, opens: bool) -> str:
    """Return an item of a list without its preposition, its article and the verb beside it.

    `opens`: it is the first, after the verb if there is one.
    """
    joint = grammar.joint.match(plain_of(item))
    words = (item[joint.end() :] if joint else item).split()
    verbs = grammar.auxiliaries
    while words and plain_of(words[-1]) in grammar.leads:
        words.pop()
    verb = next((n for n, one in enumerate(words) if n and plain_of(one) in verbs), None)
    words = words[verb + 1 :] if opens and verb is not None else words[:verb]
    before = 0
    for known in (grammar.leads, grammar.any_article, grammar.leads):
        before += plain_of("".join(words[before : before + 1])) in known
    return " ".join(words[before:])
