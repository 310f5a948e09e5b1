"""Weekdays and near days of German, French and Spanish, in English: "el próximo lunes"."""

from __future__ import annotations

import re
from typing import Final

_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_NAMES: Final = {
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag".split(),
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche".split(),
    "es": "lunes martes miércoles jueves viernes sábado domingo".split(),
}
_NEAR: Final = {
    "heute": "today",
    "morgen": "tomorrow",
    "übermorgen": "day after tomorrow",
    "aujourd'hui": "today",
    "demain": "tomorrow",
    "après-demain": "day after tomorrow",
    "hoy": "today",
    "mañana": "tomorrow",
    "pasado mañana": "day after tomorrow",
}
_ENGLISH: Final = {
    name: day for names in _NAMES.values() for name, day in zip(names, _DAYS, strict=True)
}
_WEEKDAY: Final = re.compile(
    r"(?:am |le |el |este |ce |diesen |kommenden |am kommenden )?"
    r"(?P<next>nächsten |am nächsten |el próximo |próximo )?"
    rf"(?P<day>{'|'.join(_ENGLISH)})(?P<after> prochain| próximo| que viene)?"
)


def in_english(said: str, language: str | None) -> str:
    """Return a plain text that is a near day or a weekday in English; else as it is.

    >>> in_english("nächsten montag", "de"), in_english("el lunes", "es")
    ('next monday', 'monday')
    """
    if (language or "")[:2] not in _NAMES:
        return said
    if said in _NEAR:
        return _NEAR[said]
    found = _WEEKDAY.fullmatch(said)
    if found is None:
        return said
    return f"{'next ' if found['next'] or found['after'] else ''}{_ENGLISH[found['day']]}"
