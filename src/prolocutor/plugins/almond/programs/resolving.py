"""Resolving values: as JSON, for a person at a moment."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from prolocutor.dialog.schedules import find_zone
from prolocutor.plugins.almond.programs.failures import ProgramFailure
from prolocutor.plugins.almond.programs.program_user import ProgramUser
from prolocutor.plugins.almond.thingtalk.json_values import plain
from prolocutor.plugins.almond.thingtalk.values import (
    ArrayValue,
    ContextRef,
    DateEdge,
    DateValue,
    EventValue,
    NamedLocation,
    NamedTime,
    Now,
    ObjectValue,
    RelativeLocation,
    UndefinedValue,
    Value,
    Variable,
    WeekDay,
)
from prolocutor.reading import dates

Fields = Mapping[str, Any]
"""Outputs of earlier calls of a chain by name."""

EVENT: Final = "$event"
"""The name of the field with the last result as one text."""


class ValueResolver:
    """Resolves values to JSON (`thingtalk/json_values.py`) for a person at a moment.

    `now` is the moment in the person's time zone. Beside constants: now and the edges of days are
    ISO moments in UTC, missing parts of a date are today's, a named place is `{"latitude": null,
    "longitude": null, "display"}`.
    """

    def __init__(self, person: ProgramUser, *, app: str = "") -> None:
        self._person = person
        self._app = app
        self.now = person.now

    def value(self, value: Value, fields: Fields) -> Any:
        """Return a value, None for a missing field; raise `ProgramFailure` for an unknown value."""
        match value:
            case Variable(name):
                return find_field(fields, name)
            case EventValue(name):
                return self._event(name, fields)
            case ArrayValue(items):
                return [self.value(item, fields) for item in items]
            case ObjectValue(inner):
                return {name: self.value(one, fields) for name, one in inner}
            case Now():
                return _utc(self.now)
            case DateValue():
                return self._date(value)
            case WeekDay():
                return self._week_day(value)
            case DateEdge():
                return _utc(self._edge(value))
            case NamedLocation(name):
                return {"latitude": None, "longitude": None, "display": name}
            case RelativeLocation() | NamedTime() | ContextRef():
                known = personal_value(value, self._person)
                if known is None:
                    raise ProgramFailure("", f"{value.name} is not known")
                return known
            case UndefinedValue():
                raise ProgramFailure("", "a value is missing")
        return plain(value)

    @property
    def zone(self) -> dt.tzinfo | None:
        """The person's time zone, None for the server's time zone."""
        name = self._person.timezone
        return find_zone(name) if name else None

    def moment(self, text: Any) -> dt.datetime | None:
        """Read an ISO date or moment; without an offset it is in the person's time zone."""
        return dates.read_moment(text, self.now.tzinfo)

    def _event(self, name: str | None, fields: Fields) -> Any:
        if name == "program_id":
            return self._app
        if name == "source":
            return self._person.user
        return fields.get(EVENT if name is None else f"{EVENT}.{name}", "")

    def _date(self, date: DateValue) -> str:
        """Complete a date: parts missing before a given part are today's, later parts the first."""
        today = self.now
        given = (date.year, date.month, date.day)
        last = max((index for index, part in enumerate(given) if part is not None), default=2)
        today_parts = (today.year, today.month, today.day)
        year, month, day = (
            part if part is not None else (today_parts[index] if index < last else 1)
            for index, part in enumerate(given)
        )
        try:
            whole = dt.date(year, month, day)
        except ValueError:
            raise ProgramFailure("", f"{year}-{month}-{day} is not a date") from None
        return str(plain(DateValue(whole.year, whole.month, whole.day, date.time)))

    def _week_day(self, value: WeekDay) -> str:
        ahead = (dates.WEEK_DAYS.index(value.name) - self.now.weekday()) % 7
        day = self.now.date() + dt.timedelta(days=ahead)
        return str(plain(DateValue(day.year, day.month, day.day, value.time)))

    def _edge(self, value: DateEdge) -> dt.datetime:
        return dates.span_edge(value.edge, value.unit, self.now)


def personal_value(value: RelativeLocation | NamedTime | ContextRef, person: ProgramUser) -> Any:
    """Return a personal value from the person's attributes; None if it is missing.

    `$location.current_location` is the attribute `location`, other places are in `locations`
    (`{"home": {latitude, longitude, display}}`), times in `times` (`{"morning": "08:00"}`), values
    of `$context` in `context`.
    """
    attributes = person.attributes
    if isinstance(value, RelativeLocation):
        if value.name == "current_location":
            return _typed_value(attributes.get("location"), dict)
        return _typed_value(_inner(attributes, "locations", value.name), dict)
    if isinstance(value, NamedTime):
        return _clock(_inner(attributes, "times", value.name))
    return _inner(attributes, "context", value.name)


def find_field(fields: Fields, name: str) -> Any:
    """Return a field, or an inner field (`a.b`); None if it is missing."""
    if name in fields:
        return fields[name]
    inner: Any = fields
    for part in name.split("."):
        inner = inner.get(part) if isinstance(inner, Mapping) else None
    return inner


def _utc(moment: dt.datetime) -> str:
    text = moment.astimezone(dt.UTC).isoformat(timespec="seconds")
    return text.replace("+00:00", "Z")


def _inner(attributes: dict[str, Any], key: str, name: str) -> Any:
    given = attributes.get(key)
    return given.get(name) if isinstance(given, dict) else None


def _clock(text: Any) -> str | None:
    try:
        return dt.time.fromisoformat(text).isoformat("seconds")
    except (TypeError, ValueError):
        return None


def _typed_value(value: Any, kind: type) -> Any:
    return value if isinstance(value, kind) else None
