"""Orders: what is to be done with timers and lists, read by its parts in any order of words.

An order is a verb, with a particle or without, what it is about, where that stands, and courtesy
around them: "kannst du bitte noch Milch auf die Einkaufsliste setzen". A section `[orders]` of a
file of `wording` has the words of a language for each of these parts.
"""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple

from prolocutor_demo.reading.accents import without_accents
from prolocutor_demo.reading.languages.heard import (
    kept_words,
    orders_of,
    plain_words,
    time_words,
    words_in_english,
)

VERBS: Final = (
    "pause", "resume", "restart", "cancel", "show", "clear", "finish", "remove", "add", "start"
)  # fmt: skip
LONGEST: Final = 160
"""Characters of the longest order."""

LONGEST_QUESTION: Final = 8
"""Words of the longest question about a list, without those that name it."""

LONGEST_NAME: Final = 4
"""Words of the longest thing that is named without a verb: "the ripe plums off"."""

_ENGLISH: Final = {
    "remove": "remove {0}",
    "finish": "tick off {0}",
    "show": "show {0}",
    "start": "start {0}",
    "cancel": "cancel {0}",
    "pause": "pause {0}",
    "resume": "resume {0}",
    "restart": "restart {0}",
}
_PRONOUNS: Final = ("both", "all of them", "the other one", "the first one", "the second one",
                    "the last one", "one", "it")  # fmt: skip


class _Parts(NamedTuple):
    denied: re.Pattern[str]
    lead: re.Pattern[str]
    aside: re.Pattern[str]
    verbs: list[tuple[str, re.Pattern[str], re.Pattern[str]]]  # class, at the start, at the end
    particles: list[tuple[str, re.Pattern[str]]]
    lists: re.Pattern[str]
    names: dict[str, str]
    timer: re.Pattern[str]
    length: re.Pattern[str]
    listed: re.Pattern[str]
    owner: re.Pattern[str]
    article: re.Pattern[str]
    ends: re.Pattern[str]
    enclitic: re.Pattern[str]
    onto: re.Pattern[str]
    added: re.Pattern[str]
    note: re.Pattern[str]
    another: re.Pattern[str]
    more: re.Pattern[str]
    remaining: re.Pattern[str]
    remains: re.Pattern[str]
    left: re.Pattern[str]
    asked: re.Pattern[str]
    pronouns: list[tuple[str, re.Pattern[str]]]
    something: re.Pattern[str]
    joint: re.Pattern[str]


@functools.lru_cache(maxsize=256)
def order_in(code: str, text: str) -> str | None:
    """Return an order or a question about timers and lists in English; None for other texts."""
    if len(text) > LONGEST:
        return None
    parts = _parts(code)
    plain = _without(parts.lead, _words_apart(parts, without_accents(plain_words(code, text))))
    if found := parts.lists.search(plain):
        return _of_list(code, parts, plain, found, text)
    if parts.timer.search(plain) or parts.remains.match(plain):
        return _of_timer(code, parts, plain, text)
    return _another(code, parts, plain) or _of_thing(code, parts, plain, text)


def denies_order(code: str, text: str) -> bool:
    """Return whether a text denies an order: "stell keinen Timer", "n'ajoute pas de lait"."""
    parts = _parts(code)
    plain = without_accents(plain_words(code, text[:LONGEST]))
    return parts.denied.match(_without(parts.lead, plain)) is not None


def _of_list(code: str, parts: _Parts, plain: str, found: re.Match[str], text: str) -> str | None:
    """Return the English of an order about a list that it names."""
    name = parts.names[found["list"]]
    named = " ".join(f"my {name} list".split())
    if parts.more.match(plain, found.end()):
        return None  # another request follows
    rest = f"{plain[: found.start()]} {plain[found.end() :]}"
    asked = parts.asked.match(rest)
    verb, things = _verb_in(parts, rest)
    things = _bare(parts, things)
    if verb is None and asked and len(rest.split()) > LONGEST_QUESTION:
        return None  # something else is asked, too
    if verb == "show" or (asked and verb is None):
        return f"show {named}"
    if parts.something.fullmatch(things):
        return f"add something to {named}" if verb == "add" else None
    if verb == "clear" or (verb == "remove" and not things):
        return f"clear {named}"
    if not things:
        return f"add something to {named}" if verb == "add" else f"show {named}"
    things = _pronoun(parts, things) or _kept(code, parts, things, text)
    if verb in ("remove", "finish"):
        return f"{_ENGLISH[verb].format(things)} from {named}"
    is_order = verb in ("add", "start") or (verb is None and found["to"])
    return f"add {things} to {named}" if is_order else None


def _of_timer(code: str, parts: _Parts, plain: str, text: str) -> str | None:
    """Return the English of an order or a question about timers."""
    rest = parts.timer.sub(lambda found: f" {found['name'] or ''} ", plain, count=1)
    noun = rest != plain
    asks = parts.remains.match(rest)
    if asks is not None:
        told = _bare(parts, parts.left.sub(" ", rest[asks.end() :]))
        name = _name_in(parts, told)
        owned = parts.owner.match(told)
        bounded = parts.remaining.search(plain) and (not told or (owned and owned[0]))
        known = len(name.split()) < 3 and (noun or bounded)
        return f"how long is left on {_the_timer(name)}" if known else None
    verb, things = _verb_in(parts, rest)
    if verb is None and not things:
        verb, things = _verb_in(parts, plain)[0], ""  # "para" is a preposition, too
    things = parts.listed.sub(r"\1 \g<unit>", things)
    if (first := parts.length.search(things)) and (bare := parts.another.search(things)):
        unit = first[0].lstrip("0123456789., ")
        things = f"{things[: bare.end(1)]} {unit}{things[bare.end(1) :]}"
    lengths = [*parts.length.finditer(things)]
    if lengths and verb in (None, "add", "start"):
        return _timers_set(code, parts, things, lengths, text)
    name = _name_in(parts, things)
    if verb is None and parts.left.search(rest):
        return "which timers are running"
    if len(name.split()) > 2:
        return None
    if verb in (None, "add", "start"):
        return f"set a {name} timer" if name.isalpha() and name != "one" else "set a timer"
    verb = {"remove": "cancel", "clear": "cancel"}.get(verb, verb)
    return "show the timers" if verb == "show" else _ENGLISH[verb].format(_the_timer(name))


def _name_in(parts: _Parts, words: str) -> str:
    """Return the name of a timer or a pronoun in English, without what stands around it."""
    words = _bare(parts, words)
    ended = parts.ends.sub("", words)
    return _pronoun(parts, words) or _pronoun(parts, ended) or parts.owner.sub("", ended)


def _timers_set(
    code: str, parts: _Parts, things: str, lengths: list[re.Match[str]], text: str
) -> str:
    """Return the English order for timers of one or several lengths, with their names."""
    starts = [0, *(one.end() for one in lengths[:-1])]
    said = []
    for start, one, after in zip(
        starts, lengths, [*(two.start() for two in lengths[1:]), len(things)], strict=True
    ):
        length = words_in_english(code, one[0])
        before = things[start : one.start()] if one is lengths[0] or start == 0 else ""
        around = parts.joint.split(things[one.end() : after])
        names = (_name_in(parts, around[0]), _name_in(parts, before))
        name = next((each for each in names if each and each not in _PRONOUNS), "")
        named = 0 < len(name.split()) < 3
        said.append(f"{length} for the {kept_words(code, name, text)}" if named else str(length))
    return f"set a timer for {' and a timer for '.join(said)}"


def _another(code: str, parts: _Parts, plain: str) -> str | None:
    """Return the English of an order of one more thing with a length of time."""
    _, things = _verb_in(parts, plain)
    length = parts.length.search(things)
    if length is None or _name_in(parts, things[: length.start()]) != "one":
        return None
    name = _name_in(parts, things[length.end() :])
    return f"set one for {words_in_english(code, length[0])}{f' for the {name}' if name else ''}"


def _of_thing(code: str, parts: _Parts, plain: str, text: str) -> str | None:
    """Return the English of an order about things or pronouns, which names no list or timer."""
    verb, things = _verb_in(parts, plain)
    away = next((one.search(things) for name, one in parts.particles if name == "remove"), None)
    if verb is None and away is not None and things.count(" ") < LONGEST_NAME:
        verb, things = "remove", things[: away.start()]
    if verb is None and (added := parts.added.fullmatch(things)):
        verb, things = "add", added["things"]
    things = _bare(parts, things)
    pronoun = _pronoun(parts, things)
    if not things and verb in ("pause", "resume", "restart"):
        return f"{verb} it"
    if verb is None or not things or verb == "clear":
        return None
    if pronoun == "one":
        return "start one" if verb in ("add", "start") else None
    if verb == "add" and parts.something.fullmatch(things):
        return "add something to my list"
    if verb == "add":
        onto = parts.onto.search(plain) or (parts.note.match(plain) and not things[0].isdigit())
        known = pronoun is None and bool(onto)
        return f"add {_kept(code, parts, things, text)}" if known else None
    if pronoun is None and verb not in ("remove", "finish"):
        return None
    return _ENGLISH[verb].format(pronoun or _kept(code, parts, things, text))


def _kept(code: str, parts: _Parts, things: str, text: str) -> str:
    """Return things as they were typed, without the first article."""
    return kept_words(code, parts.article.sub("", things), text)


def _words_apart(parts: _Parts, plain: str) -> str:
    """Return a text whose pronouns stand apart from their verbs: "annule-le", "cancélalo"."""

    def apart(found: re.Match[str]) -> str:
        is_verb = any(verb.fullmatch(found[1]) for _, verb, _ in parts.verbs)
        return f"{found[1]} {found[2]}" if is_verb else found[0]

    return parts.enclitic.sub(apart, plain)


def _the_timer(name: str) -> str:
    if name.startswith(("the ", "all", "both")):
        return f"{name.removesuffix(' one')} timer" if name.startswith("the ") else "all timers"
    return "the timer" if name in ("", "it", "one") else f"the {name} timer"


def _verb_in(parts: _Parts, text: str) -> tuple[str | None, str]:
    """Return the class of the verb at the start or at the end of a text, and the rest."""
    text = _bare(parts, text)
    opens = [(name, found) for name, first, _ in parts.verbs if (found := first.match(text))]
    ends = [(name, found) for name, _, last in parts.verbs if (found := last.search(text))]
    for name, found in opens[:1] or ends[:1]:
        rest = _bare(parts, text[: found.start()] or text[found.end() :])
        for other, particle in parts.particles:
            tail = particle.search(rest)
            if tail and (other != "cancel" or name in ("add", "start")):
                return other or name, rest[: tail.start()]
        return name, rest
    return None, text


def _pronoun(parts: _Parts, words: str) -> str | None:
    return next((english for english, one in parts.pronouns if one.fullmatch(words)), None)


def _without(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return text[found.end() :] if found and found.end() < len(text) else text


def _bare(parts: _Parts, text: str) -> str:
    """Return words without courtesy and other words that mean nothing here around them."""
    text = " ".join(text.split())
    while (shorter := parts.aside.sub("", text).strip()) != text:
        text = shorter
    return text


@functools.cache
def _parts(code: str) -> _Parts:
    given, lists = orders_of(code)
    words = {name: without_accents(one).replace("ß", "s") for name, one in given.items()}
    to, of, the = words["to"], words["from"], words["the"]
    named = "|".join(sorted(map(re.escape, lists), key=len, reverse=True))
    units, whole = time_words(code)
    unit, length = "|".join(units), "|".join(whole)
    one = rf"(?:(?:\d+(?:[.,]\d+)?) ?(?:{unit})|(?:1 )?(?:{length}))(?!\w)"
    to_do = rf"(?:{words['infinitive']} )?" if "infinitive" in words else ""
    verbs = "|".join(words[name] for name in VERBS if name in words)
    return _Parts(
        denied=re.compile(words["denied"].replace("VERB", verbs)),
        lead=re.compile(rf"(?:(?:{words['lead']})(?: |(?<=')))*"),
        aside=re.compile(rf"^(?:{words['aside']})(?: |$)| (?:{words['aside']})$"),
        verbs=[
            (
                name,
                re.compile(rf"(?:{words[name]})(?!\w)"),
                re.compile(rf" {to_do}(?:{words[name]})$"),
            )
            for name in VERBS
            if name in words
        ],
        particles=[
            (name, re.compile(rf"(?:^| )(?:{words[key]})$"))
            for name, key in (("remove", "away"), ("cancel", "off"), ("", "particle"))
            if key in words
        ],
        lists=re.compile(
            rf"(?<![\w'])(?:(?:(?P<to>{to})|{of})(?: |(?<=')))?(?:(?:{the}) )?"
            rf"(?P<list>{named})(?!\w)"
        ),
        names=lists,
        timer=re.compile(
            rf"(?<![\w'])(?:(?:{to}|{of}) )?(?:(?:{the}) )?(?:"
            rf"(?P<name>(?!(?:{words['aside']}|{the}|\d+)\b){words['compound']}) ?-?)?"
            rf"(?:{words['timer']})(?!\w)"
        ),
        length=re.compile(rf"{one}(?: (?:{words['joint']} )?{one})*"),
        listed=re.compile(
            rf"\b(\d+)(?=(?: (?:\w+ )*?)\d+ (?P<unit>{unit})(?!\w))(?! ?(?:{unit})\b)"
        ),
        owner=re.compile(rf"^(?:(?:{words['for']})(?: |(?<=')))?(?:(?:{the})(?: |(?<=')))?"),
        remains=re.compile(rf"(?:{words['remains']})(?!\w)"),
        article=re.compile(rf"^(?:{the})(?: |(?<='))"),
        ends=re.compile(rf"(?:^| )(?:{to}|{of}|{words['for']}|{the})$"),
        enclitic=re.compile(words["enclitic"]),
        added=re.compile(
            rf"(?P<things>(?!\d|(?:{words['asked']})\b)\S+(?: \S+){{0,{LONGEST_NAME - 1}}}?)"
            rf" (?:{words.get('added', '(?!)')})"
        ),
        onto=re.compile(rf" (?:{words['onto']})$"),
        more=re.compile(
            rf",? (?:{words['joint']}) (?:{verbs}|{words['tell']}|{words['asked']}"
            rf"|{words['remains']})(?!\w)"
        ),
        note=re.compile(rf"(?:{words['note']})(?!\w)"),
        another=re.compile(
            rf"(?:{words['joint']}) (?:{words['another']}) (\d+)(?! ?(?:{unit})(?!\w))(?!\w)"
        ),
        remaining=re.compile(rf"(?<![\w'])(?:{words['remaining']})(?!\w)"),
        left=re.compile(rf"(?<![\w'])(?:{words['left']})(?!\w)"),
        asked=re.compile(rf"(?:{words['asked']})(?!\w)"),
        pronouns=[
            (english, re.compile(words[english])) for english in _PRONOUNS if english in words
        ],
        something=re.compile(words["something"]),
        joint=re.compile(rf"\b(?:{words['joint']})\b"),
    )
