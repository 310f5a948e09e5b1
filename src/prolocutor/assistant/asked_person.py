"""What is known of a person who answers, and what their client tells of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from prolocutor.asks.asked import Asked, Contact
from prolocutor.contracts.store import Begun
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import Input
from prolocutor.dialog.rounds import Waiting


def asked_of(begun: Begun, input: Input, waiting: Waiting) -> Asked:
    """Give what an answer to this ask is read against.

    Of the person's attributes `timezone`, `region`, `language`, `location` and `contacts` (a list
    of `{name, value}`) count; a client may send contacts along (`platformData`, as Almond's do).
    The time is when the person spoke, in the server's time zone where theirs is not known.
    """
    attributes = {**_attributes(begun), **told_by_client(begun, input)}
    sent = _platform_data(input).get("contacts")
    here = attributes.get("location")
    return Asked(
        choices=waiting.choices,
        timezone=_text(attributes, "timezone"),
        now=datetime.fromtimestamp(begun.beginning.started, UTC).astimezone(),
        region=_text(attributes, "region"),
        language=_text(attributes, "language"),
        contacts=[*_contacts(attributes.get("contacts")), *_contacts(sent)],
        here=here if isinstance(here, dict) else None,
    )


def told_by_client(begun: Begun, input: Input) -> dict[str, Any]:
    """Give what a client tells of its person and was not known: the time zone."""
    zone = _text(_platform_data(input), "timezone")
    if zone is None or zone == _attributes(begun).get("timezone"):
        return {}
    try:
        ZoneInfo(zone)
    except (ValueError, OSError):
        return {}
    return {"timezone": zone}


def _platform_data(input: Input) -> dict[str, Any]:
    came = input.attributes.get("platformData")
    return came if isinstance(came, dict) else {}


def _attributes(begun: Begun) -> dict[str, Any]:
    return plain.decode(begun.human.state).get("attributes") or {}


def _contacts(given: Any) -> Iterator[Contact]:
    for one in given if isinstance(given, list) else ():
        if not isinstance(one, dict):
            continue
        name = _text(one, "name") or _text(one, "display")
        value = _text(one, "value")
        if name and value:
            yield Contact(name, value.removeprefix("phone:").removeprefix("email:"))


def _text(given: dict[str, Any], key: str) -> str | None:
    value = given.get(key)
    return value if isinstance(value, str) else None
