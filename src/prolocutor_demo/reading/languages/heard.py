"""What is heard: words of another language become the English that the agents read.

A file of `wording` has sentences (`pattern => English`) and words, for each language.
An utterance is a sentence, else it is read word by word, and only if every word is known. Accents
may be left out, and written as in "fuer" and "spaet".
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from text_to_num import alpha2digit

from prolocutor_demo.reading.accents import key_of, without_accents
from prolocutor_demo.reading.languages.names import LANGUAGES, Names, names_in

_WORDING = Path(__file__).with_name("wording")
_KIND = re.compile(r"\{(country|place|date|length|text|number|year|list|moment|items)\}")
_WORDS = {
    "country": r"[^\d?!.]{2,60}?",
    "place": r"[^\d?!.]{2,60}?",
    "date": r".{3,40}?",
    "length": r"\d.{0,30}?",
    "text": r".{1,60}?",
    "items": r".{1,90}?",
    "number": r"\d{1,6}",
    "year": r"\d{1,4}",
}
_DECIMAL = re.compile(r"(?<![\d.,])(\d+),(\d+)(?![\d,])")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[.\u202f\u00a0 ]\d{3})+(?![\d.])")
_SIGNS = re.compile(r"[¿¡!?;\"„“”«»]|(?<!\d):|:(?!\d)|\.(?!\d)|(?<!\d),|,(?!\d)")
_TOKEN = re.compile(r"\d+:\d\d|[\d.,]+|[-+*/^×÷%()=€$£]+|[^\W\d_]+(?:['’][^\W\d_]+)?|\S")
_NAME = re.compile(r"[^\W\d_]{5,}")
_TIME_UNIT = re.compile(r"\b(?:second|minute|hour|day)s?\b")
_NUMERIC_DATE = re.compile(r"([0-3]?\d)[./]\s?(0?[1-9]|1[0-2])[./]?(?:\s?((?:19|20|21)\d\d))?")
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_UMLAUTS = re.compile(r"[aou]e(?![aeiou])")
_CONTRACTED = {
    "de": (
        (re.compile(r"\b(\d{1,2}) uhr (\d\d)\b"), r"\1:\2"),
        (re.compile(r"\bisse?s\b"), "ist es"),
        (re.compile(r"\b(ist|geht|gibt|war|hat|wird)'?s\b"), r"\1 es"),
    ),
    "fr": (
        (re.compile(r"\bà (\d{1,2}) ?h(?:eures?)?\b"), r"à \1:00"),
        (re.compile(r"\bà (\d{1,2}) ?h(?:eures?)? ?(\d\d)\b"), r"à \1:\2"),
        (
            re.compile(
                r"\b(c|qu) ?(?=est\b)|\b(j) ?(?=ai\b)|\b(l) ?(?=heure\b)|\b(d) ?(?=habitants\b)"
            ),
            r"\1\2\3\4'",
        ),
        (re.compile(r"\by ?a[- ]?t[- ]?il\b"), "y a-t-il"),
        (re.compile(r"^((?:combien|quel)\b.*?) il (reste|fait|y a)\b"), r"\1 \2-t-il"),
    ),
}
"""What people run together or leave the apostrophe out of."""
_JOINT = {
    code: re.compile(rf"(?:\s*,\s*(?:{joint}\s+)?|\s+{joint}\s+)(?:{articles})?", re.IGNORECASE)
    for code, joint, articles in (
        ("de", "und(?: dann| auch| noch)*", r"(?:die|das|den|einen?|ein) "),
        ("fr", "(?:et(?: puis| aussi)*|puis)", r"(?:du|des|de la|les?|la|une?) |de l'|l'"),
        ("es", "(?:y(?: también| luego)*|e)", r"(?:el|las?|los|una?s?|unos) "),
    )
}
"""What parts the items of a list, with the article of the next."""
_CLAUSE = re.compile(r"\s*[,.;!?]+\s*")
MOST_REMARKS = 3
_LONGEST = 6
_READING = threading.Lock()


class _Wording(NamedTuple):
    greeting: re.Pattern[str]
    facts: list[tuple[re.Pattern[str], str]]
    chat: re.Pattern[str]
    sentences: list[tuple[re.Pattern[str], str]]
    words: dict[str, str]
    dates: dict[str, str]
    moments: dict[str, str]
    lists: dict[str, str]


@functools.lru_cache(maxsize=256)
def heard_in(code: str, text: str) -> str | None:
    """Return an utterance in English; None if it is not read."""
    wording = _wording(code)
    said = _plain(code, text)
    if fact := _fact(said, text, wording, names_in(code)):
        return fact
    spelled = [said, _UMLAUTS.sub(lambda found: found[0][0], said)] if code == "de" else [said]
    for one in dict.fromkeys(spelled):
        greeting = wording.greeting.match(without_accents(one))
        for words in dict.fromkeys((one, one[greeting.end() :] if greeting else one)):
            found = _sentence(code, words, wording, text) or _word_by_word(words, wording.words)
            if found:
                return found
    return _remarks(code, text, wording)


def english_of(code: str, said: str) -> str | None:
    """Return words of a language, or of any other that is read, in English; None if they are not
    read."""
    found = (heard_in(one, said) for one in sorted(LANGUAGES, key=code.__ne__))
    return next((words for words in found if words), None)


def with_english_names(code: str, text: str) -> str:
    """Return an English text in which names of places, units and money are of another language."""
    names, words = names_in(code), _wording(code).words

    def english(found: re.Match[str]) -> str:
        name = key_of(found[0])
        return (
            names.english_lands.get(name)
            or names.english_cities.get(name)
            or _LANDS.get(name)
            or words.get(name)
            or found[0]
        )

    return _NAME.sub(english, text)


def _plain(code: str, text: str) -> str:
    text = _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), text.lower().replace("’", "'"))
    text = _DECIMAL.sub(r"\1.\2", text)
    for pattern, whole in _CONTRACTED.get(code, ()):
        text = pattern.sub(whole, text)
    return str(alpha2digit(" ".join(_SIGNS.sub(" ", text).split()), code))


def _sentence(code: str, said: str, wording: _Wording, typed: str) -> str | None:
    plain = without_accents(said)
    for pattern, english in wording.sentences:
        found = pattern.fullmatch(plain)
        if found is None:
            continue
        values = {
            name: _in_english(code, name, said[slice(*found.span(name))], wording, typed)
            for name, value in found.groupdict().items()
            if value is not None
        }
        known = {name: value for name, value in values.items() if value is not None}
        if len(known) == len(values):
            return english.format(**known)
    return None


def _remarks(code: str, text: str, wording: _Wording) -> str | None:
    """Return two or three remarks that follow each other in English: "thank you, goodbye"."""
    parts = [one for part in _CLAUSE.split(text) if (one := _plain(code, part))]
    if not 1 < len(parts) <= MOST_REMARKS:
        return None
    said = [_sentence(code, one, wording, text) for one in parts if one not in wording.words]
    fixed = {english for _, english in wording.sentences if "{" not in english}
    return ", ".join(one for one in said if one) if fixed.issuperset(said) else None


def _fact(said: str, typed: str, wording: _Wording, names: Names) -> str | None:
    """Return a question about the only place that words name, in any order of words.

    One word tells what is asked ("capital"); all that is neither this nor the name is chat.
    """
    plain = without_accents(said)
    told = [(asked, english) for asked, english in wording.facts if asked.search(plain)]
    if len(told) != 1:
        return None
    asked, english = told[0]
    rest = wording.chat.sub(" | ", asked.sub(" | ", plain))
    named = [" ".join(one.split()) for one in rest.split("|") if one.strip()]
    if len(named) != 1:
        return None
    place = _country(named[0], names) or _country(named[0].removesuffix("s"), names)
    if place is None and "{place}" in english:
        city = re.search(re.escape(named[0]), without_accents(typed.lower()))
        known = names.english_cities.get(key_of(named[0]))
        place = known or (named[0] if city and typed[city.start()].isupper() else None)
    return english.format(place=place, country=place) if place else None


def _in_english(code: str, kind: str, said: str, wording: _Wording, typed: str) -> str | None:
    names = names_in(code)
    said = said.strip()
    if kind == "country":
        return _country(said, names)
    if kind == "place":
        city = names.english_cities.get(key_of(said))
        return city or _country(said, names) or said
    if kind == "date":
        return _date(said, wording)
    if kind == "length":
        length = _word_by_word(said, wording.words)
        return length if length and _TIME_UNIT.search(length) else None
    if kind == "moment":
        return _word_by_word(said, wording.moments)
    if kind == "list":
        return wording.lists[without_accents(said)]
    if kind not in ("text", "items"):
        return said
    found = re.search(r"[\s,;]+".join(map(re.escape, said.split())), typed, re.IGNORECASE)
    kept = found[0] if found else said
    return _JOINT[code].sub(_joint, kept) if kind == "items" else kept


def _joint(found: re.Match[str]) -> str:
    return ", " if found[0].lstrip().startswith(",") else " and "


def _country(said: str, names: Names) -> str | None:
    bare = re.sub(
        r"^(?:l'|l(?=[aeiouéîh])|(?:der|die|das|den|dem|le|la|les|l|el|los|las) )", "", said
    )
    for name in map(key_of, (said, bare)):
        if name in names.english_lands:
            return names.english_lands[name]
        if name in _LANDS:
            return _LANDS[name]
        if name in names.lands:
            return name
    return None


def _date(said: str, wording: _Wording) -> str | None:
    if numeric := _NUMERIC_DATE.fullmatch(said):
        day, month, year = numeric.groups(default="")
        return f"{day} {_MONTHS[int(month) - 1]} {year}".rstrip()
    if key_of(said) in wording.dates:
        return wording.dates[key_of(said)]
    split = re.sub(r"(?<=\d)\.", "", said).split()
    if split[0] in ("en", "in", "im"):
        return None
    words = [wording.dates.get(key_of(word), word) for word in split]
    kept = [word for word in words if word not in ("de", "del", "der", "le", "el", "den", "dem")]
    return " ".join(kept) if any(re.search(r"\d|day", word) for word in kept) else None


def _word_by_word(said: str, words: dict[str, str]) -> str | None:
    tokens = _TOKEN.findall(said)
    english: list[str] = []
    at = known = 0
    while at < len(tokens):
        for size in range(min(_LONGEST, len(tokens) - at), 0, -1):
            phrase = without_accents(" ".join(tokens[at : at + size])).replace("ß", "ss")
            if phrase in words:
                english.append(words[phrase])
                known += 1
                break
        else:
            size = 1
            if re.search(r"[^\W\d_]", tokens[at]):
                return None
            english.append(tokens[at])
        at += size
    return " ".join(" ".join(english).split()) if known else None


def _wording(code: str) -> _Wording:
    # All agents hear the first utterance of a language at once: one thread compiles its patterns.
    with _READING:
        return _read_wording(code)


@functools.cache
def _read_wording(code: str) -> _Wording:
    given = _sections((_WORDING / f"{code}.txt").read_text(encoding="utf-8"))
    names = names_in(code)
    words: dict[str, str] = {}
    for english, forms in (*names.units.items(), *names.money.items()):
        for form in (*forms, *(f"{one}n" for one in forms if code == "de")):
            words.setdefault(_cut(form), english)
    words |= {_cut(phrase): english for phrase, english in given["words"].items()}
    dates = {
        name.lower(): english for english, name in (*names.months.items(), *names.days.items())
    }
    dates = {key_of(said): english for said, english in (dates | given["dates"]).items()}
    own = {_cut(phrase): english for phrase, english in given["moments"].items()}
    moments = {**words, **{_cut(one): english for one, english in dates.items()}, **own}
    lists = {without_accents(name): english for name, english in given["lists"].items()}
    kinds = {**_WORDS, "list": _either(lists)}
    units = [one for one, english in words.items() if _TIME_UNIT.fullmatch(english)]
    part = rf"(?:{_either([*own, *map(without_accents, dates), *units])}|\d[\d:.]*)"
    kinds["moment"] = rf"{part}(?: {part}){{0,9}}"
    sentences = [(_pattern(one, kinds), english) for one, english in given["sentences"].items()]
    greeting = re.compile(without_accents(rf"(?:(?:{'|'.join(given['greeting'])}) )+"))
    facts = [
        (_pattern(rf"(?<!\w)(?:{one})(?!\w)", kinds), asked)
        for one, asked in given["facts"].items()
    ]
    chat = "|".join((*given["chat"], *given["greeting"]))
    chat = rf"(?<![\w'])(?:(?:{without_accents(chat).replace('ß', 's')})(?: |$|(?<=')))+"
    return _Wording(greeting, facts, re.compile(chat), sentences, words, dates, moments, lists)


def _either(phrases: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


def _sections(text: str) -> dict[str, dict[str, str]]:
    """Return the lines `this => that` of a file by the `[section]` in which they stand."""
    sections: dict[str, dict[str, str]] = {}
    lines: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            foreign, _, english = line.partition(" =>")
            lines[foreign] = english.strip()
    return sections


def _cut(phrase: str) -> str:
    """Return a phrase as its tokens, which is how it is looked up."""
    tokens = _TOKEN.findall(phrase.lower().replace("’", "'"))
    return without_accents(" ".join(tokens)).replace("ß", "ss")


def _pattern(pattern: str, kinds: dict[str, str]) -> re.Pattern[str]:
    typed = without_accents(pattern).replace("ß", "(?:ß|ss)")
    return re.compile(_KIND.sub(lambda found: f"(?P<{found[1]}>{kinds[found[1]]})", typed))


def plain_words(code: str, text: str) -> str:
    """Return a text in lower case, without punctuation, its numbers in digits."""
    return _plain(code, text)


def words_in_english(code: str, said: str) -> str | None:
    """Return words in English, one by one; None if one of them is not known."""
    return _word_by_word(said, _wording(code).words)


def kept_words(code: str, said: str, typed: str) -> str:
    """Return words of a text as they were typed, with the joints of a list in English."""
    found = re.search(r"[\s,;]+".join(map(re.escape, said.split())), without_accents(typed.lower()))
    if found is None:
        typed_as = {without_accents(word.lower()): word for word in _TOKEN.findall(typed)}
        said = " ".join(typed_as.get(word, word) for word in said.split())
    return _JOINT[code].sub(_joint, typed[slice(*found.span())] if found else said)


def time_words(code: str) -> tuple[list[str], list[str]]:
    """Return the words for units of time, and the phrases for whole lengths of it."""
    times = {
        said: english
        for said, english in _wording(code).words.items()
        if _TIME_UNIT.search(english)
    }
    units = [said for said, english in times.items() if _TIME_UNIT.fullmatch(english)]
    return units, [said for said in times if said not in units]


def orders_of(code: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the patterns of the parts of orders, and the names of lists."""
    given = _sections((_WORDING / f"{code}.txt").read_text(encoding="utf-8"))
    return given["orders"], _wording(code).lists


_LANDS = {
    "usa": "united states",
    "états-unis": "united states",
    "eeuu": "united states",
    "vereinigten staaten": "united states",
    "england": "united kingdom",
    "großbritannien": "united kingdom",
    "grande-bretagne": "united kingdom",
    "angleterre": "united kingdom",
    "gran bretaña": "united kingdom",
    "inglaterra": "united kingdom",
    "holland": "netherlands",
    "holanda": "netherlands",
    "hollande": "netherlands",
    "tschechische republik": "czechia",
    "niederlanden": "netherlands",
}
_LANDS = {key_of(name): english for name, english in _LANDS.items()}
