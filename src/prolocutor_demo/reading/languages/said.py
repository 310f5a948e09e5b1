"""What is said: replies in English are found among the messages, and said by a catalogue."""

from __future__ import annotations

import functools
import gettext
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from babel.numbers import format_decimal, get_decimal_symbol, get_group_symbol

from prolocutor_demo.reading.languages.articles import with_article, with_of
from prolocutor_demo.reading.languages.messages import FEASTS, MESSAGES
from prolocutor_demo.reading.languages.names import LANGUAGES, Forms, bare_land, names_in
from prolocutor_demo.reading.money import currencies
from prolocutor_demo.reading.unit_table import UNITS

DOMAIN = "prolocutor_demo"
CATALOGUES = Path(__file__).parents[2] / "locale"

_N = r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
_DATE = r"(?:[A-Z][a-z]+day,? )?\d{1,2} [A-Z][a-z]+(?: \d{1,4})?"
_KINDS = {
    "n": _N,
    "year": r"\d{1,4}",
    "quantity": rf"{_N} [A-Za-z][A-Za-z ]*(?: {_N} [A-Za-z][A-Za-z ]*)*",
    "money": rf"{_N} [^\d=]+",
    "span": r"(?:(?:, | and | )?(?:[\d,]+|One) (?:day|week|month|year|hour|minute|second)s?)+",
    "date": _DATE,
    "month": r"[A-Z][a-z]+",
    "weekday": r"[A-Z][a-z]+day",
    "time": r"\d\d:\d\d(?::\d\d)?",
    "feast": "|".join(map(re.escape, FEASTS)),
    "timer": r"(?:[^:.,]{1,40} )?(?:[Tt]imer|[Aa]larm)",
    "timers": r"(?:(?:, | and )?[^:.,]{0,40}?(?:timer|alarm))+",
    "moment": rf"(?:today|tomorrow|yesterday|{_DATE}) at \d\d:\d\d(?:, then every [a-z]+)?",
    "list": r"[a-z-]{2,20}",
    "people": rf"about {_N}(?: million| billion)? people",
}
_PLACEHOLDER = re.compile(r"\{([a-z]+)(\d?)\}")
_WORDLESS = re.compile(r"[^A-Za-z]*(?:mod[^A-Za-z]*)?")
_SENTENCE_END = re.compile(r"(?<=[.?!])(?<!^\d\.) (?=[A-Z\d])")
_NUMBER = re.compile(rf"(?<![\w.,]){_N}(?![\w])")


class _Message(NamedTuple):
    msgid: str
    pattern: re.Pattern[str]
    kinds: tuple[tuple[str, str], ...]


def said_in(code: str, text: str) -> str | None:
    """Return a reply in another language; None if the catalogue has no words for it."""
    text = re.sub(r"(?<=\d) %", "%", text)
    if _WORDLESS.fullmatch(text):
        return _NUMBER.sub(lambda found: _number(code, found[0]) or found[0], text)
    return (
        _sentences_said_in(code, text) or _message_said_in(code, text) or _lines_said_in(code, text)
    )


def _message_said_in(code: str, text: str) -> str | None:
    for message in _messages():
        if found := message.pattern.fullmatch(text):
            filled = _filled(code, message, found)
            if filled is not None:
                return filled
    return None


def _lines_said_in(code: str, text: str) -> str | None:
    lines = text.split("\n")
    said = [said_in(code, line) for line in lines if len(lines) > 1]
    known = [one for one in said if one is not None]
    return "\n".join(known) if known and len(known) == len(said) else None


def _sentences_said_in(code: str, text: str) -> str | None:
    """Return sentences in another language, one or two for each message; None if one has no words.

    "You are welcome. Goodbye! Come back." is two messages, neither of which is "You are {text}."
    """
    parts, said = _SENTENCE_END.split(text), list[str]()
    alone = len(parts) < 2
    while parts and not alone:
        one = said_in(code, parts[0])
        taken = 1 if one is not None else 2
        one = one or (_message_said_in(code, " ".join(parts[:2])) if said or parts[2:] else None)
        if one is None:
            return None
        said.append(one)
        parts = parts[taken:]
    return " ".join(said) or None


def in_words_of(code: str, text: str) -> str:
    """Return an English text of an agent in a language; unchanged without a translation."""
    return (said_in(code, text) or text) if text and code in LANGUAGES else text


def message_in(code: str, msgid: str) -> str:
    """Return a message without placeholders in a language; as it is if there is no translation."""
    return catalogue(code).gettext(msgid)


@functools.cache
def catalogue(code: str) -> gettext.NullTranslations:
    """Return the compiled catalogue of a language; raise OSError if there is none."""
    return gettext.translation(DOMAIN, CATALOGUES, [code])


def _filled(code: str, message: _Message, found: re.Match[str]) -> str | None:
    translated = catalogue(code).gettext(message.msgid)
    values: dict[str, str] = {}
    for name, kind in message.kinds:
        value = _SAID[kind](code, found[name])
        if value is None:
            return None
        values[name] = value
        if kind == "country":
            values[f"of_{name}"] = with_of(code, value)
            values[name] = with_article(code, value)
    text = translated.format(**values)
    return text[:1].upper() + text[1:]


@functools.cache
def _messages() -> list[_Message]:
    return [_message(msgid) for msgid in MESSAGES]


def _message(msgid: str) -> _Message:
    pattern, kinds, at = "", [], 0
    for found in _PLACEHOLDER.finditer(msgid):
        kind, name = found[1], found[1] + found[2]
        kinds.append((name, kind))
        pattern += re.escape(msgid[at : found.start()]) + f"(?P<{name}>{_KINDS.get(kind, '.+?')})"
        at = found.end()
    return _Message(msgid, re.compile(pattern + re.escape(msgid[at:])), tuple(kinds))


def _number(code: str, said: str) -> str | None:
    group, decimal = get_group_symbol(code), get_decimal_symbol(code)
    if code == "es":
        group = "."
    return said.replace(",", "\0").replace(".", decimal).replace("\0", group)


def _counted(code: str, forms: Forms, number: str) -> str:
    one = number == "1" or (code == "fr" and re.fullmatch(r"-?[01](?:\.\d+)?", number) is not None)
    return f"{_number(code, number)} {forms.one if one else forms.many}"


def _quantity(code: str, said: str) -> str | None:
    parts = []
    for number, name in re.findall(rf"({_N}) ([A-Za-z][A-Za-z ]*)", said):
        forms = _units_by_name(code).get(name.strip())
        if forms is None:
            return None
        parts.append(_counted(code, forms, number))
    return " ".join(parts)


@functools.cache
def _units_by_name(code: str) -> dict[str, Forms]:
    own = names_in(code).units
    return {
        name: own[unit.one]
        for unit in UNITS.values()
        if unit.one in own
        for name in (unit.one, unit.many)
    }


def _money(code: str, said: str) -> str | None:
    number, _, name = said.partition(" ")
    forms = _money_by_name(code).get(name.strip().lower())
    return None if forms is None else _counted(code, forms, number)


@functools.cache
def _money_by_name(code: str) -> dict[str, Forms]:
    own = names_in(code).money
    return {
        name.lower(): own[one.one.lower()]
        for one in currencies().values()
        for name in (one.one, one.many)
    }


def _currency(code: str, said: str) -> str | None:
    forms = _money_by_name(code).get(said.lower())
    return None if forms is None else forms.one


def _span(code: str, said: str) -> str | None:
    parts = re.findall(r"([\d,]+|One) (day|week|month|year|hour|minute|second)s?", said)
    units = _units_by_name(code)
    texts = [_counted(code, units[unit], "1" if n == "One" else n) for n, unit in parts]
    return _joined(code, texts)


def _date(code: str, said: str) -> str | None:
    weekday, _, rest = re.sub(r"(?<=day) (?=\d)", ", ", said).rpartition(", ")
    day, month, *year = rest.split()
    names = names_in(code)
    if month.lower() not in names.months:
        return None
    dated = _DATES[code].format(day=day, month=names.months[month.lower()])
    dated += f"{_BEFORE_YEAR[code]}{year[0]}" if year else ""
    if not weekday:
        return dated
    return f"{names.days[weekday.lower()]}{_AFTER_WEEKDAY[code]}{dated}"


def _feast(code: str, said: str) -> str | None:
    return message_in(code, said) if said in FEASTS else None


def _country(code: str, said: str) -> str | None:
    return names_in(code).lands.get(bare_land(said))


def _countries(code: str, said: str) -> str | None:
    return _list(code, said, lambda name: names_in(code).lands.get(bare_land(name)))


def _languages(code: str, said: str) -> str | None:
    return _list(code, said, lambda name: names_in(code).tongues.get(name.lower()))


def _list(code: str, said: str, name_of: Callable[[str], str | None]) -> str | None:
    names: list[str | None] = []
    for part in said.split(", "):
        whole = name_of(part)
        names += [whole] if whole else [name_of(one) for one in part.split(" and ")]
    known = [name for name in names if name]
    if len(known) < len(names):
        return None
    return _joined(code, known)


def _place(code: str, said: str) -> str:
    names = names_in(code)
    if within := re.fullmatch(r"(.+) \((.+)\)", said):
        if within[2][0].islower():  # a remark in English, not where the place is
            return _place(code, within[1])
        return f"{_place(code, within[1])} ({_place(code, within[2])})"
    return names.cities.get(said.lower()) or names.lands.get(bare_land(said)) or said


def _people(code: str, said: str) -> str | None:
    found = re.fullmatch(rf"about ({_N})(?: (million|billion))? people", said)
    if found is None:
        return None
    number = float(found[1].replace(",", ""))
    if found[2] == "billion" and code != "de":
        number, scale = number * 1000, "million"
    else:
        scale = found[2] or ""
    shown = format_decimal(number, "#,##0.##", locale=code)
    return str(_PEOPLE[code][scale].format(shown))


def _timer(code: str, said: str) -> str:
    """Return the title of a timer: "tea timer", "10 minute timer", "alarm"."""
    name, _, noun = said.strip().rpartition(" ")
    named = _TIMERS[code][noun.lower()]
    if length := re.fullmatch(r"[\d ]+ [a-z]+(?: \d+ [a-z]+)*", name):
        return f"{named} ({_span(code, length[0])})"
    return f"{named} ({name.lower()})" if name else named


def _timers(code: str, said: str) -> str:
    each = re.split(r", | and ", said)
    return _joined(code, [_timer(code, one) for one in each])


def _moment(code: str, said: str) -> str | None:
    text = said_in(code, said)
    is_noun = code == "de" and said[0].isupper()
    return text if text is None or is_noun else text[:1].lower() + text[1:]


def _joined(code: str, texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {_AND[code]} {texts[-1]}"


def _as_it_is(code: str, said: str) -> str:
    return said


_AND = {"de": "und", "fr": "et", "es": "y"}
_DATES = {"de": "{day}. {month}", "fr": "{day} {month}", "es": "{day} de {month}"}
_BEFORE_YEAR = {"de": " ", "fr": " ", "es": " de "}
_AFTER_WEEKDAY = {"de": ", ", "fr": " ", "es": ", "}
_TIMERS = {
    "de": {"timer": "Timer", "alarm": "Wecker"},
    "fr": {"timer": "minuteur", "alarm": "alarme"},
    "es": {"timer": "temporizador", "alarm": "alarma"},
}
_PEOPLE = {
    "de": {
        "": "etwa {} Einwohner",
        "million": "etwa {} Millionen Einwohner",
        "billion": "etwa {} Milliarden Einwohner",
    },
    "fr": {"": "environ {} habitants", "million": "environ {} millions d'habitants"},
    "es": {"": "unos {} habitantes", "million": "unos {} millones de habitantes"},
}
_SAID: dict[str, Callable[[str, str], str | None]] = {
    "n": _number,
    "year": _as_it_is,
    "quantity": _quantity,
    "money": _money,
    "currency": _currency,
    "span": _span,
    "date": _date,
    "month": lambda code, said: names_in(code).months.get(said.lower()),
    "weekday": lambda code, said: names_in(code).days.get(said.lower()),
    "time": _as_it_is,
    "people": _people,
    "feast": _feast,
    "country": _country,
    "countries": _countries,
    "languages": _languages,
    "place": _place,
    "city": _place,
    "text": _as_it_is,
    "timer": _timer,
    "timers": _timers,
    "moment": _moment,
    "list": message_in,
}

for _code in LANGUAGES:
    said_in(_code, "You are welcome.")
