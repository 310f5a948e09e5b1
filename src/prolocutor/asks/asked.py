"""What an answer is read against, and what can come of it: a value, or a hint."""

from __future__ import annotations

import datetime as dt
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import msgspec

from prolocutor.dialog.rounds import OfferedChoice


class Contact(msgspec.Struct, frozen=True):
    """Somebody the person knows: the name, and a phone number (E.164) or an e-mail address."""

    name: str
    value: str


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of whoever answers, and when.

    `now` is an aware time; `timezone` an IANA name, without which `now` counts as it stands.
    `region` is a country of two letters (ISO 3166) for phone numbers and the order of day and
    month, `language` an ISO 639 code for dates. `here` is a location as an answer has it.
    """

    choices: list[OfferedChoice] = []
    timezone: str | None = None
    now: dt.datetime
    region: str | None = None
    language: str | None = None
    contacts: list[Contact] = []
    here: dict[str, Any] | None = None

    def local_now(self) -> dt.datetime:
        """Tell the time where the person is; an unknown time zone counts as none."""
        if self.timezone is None:
            return self.now
        try:
            return self.now.astimezone(ZoneInfo(self.timezone))
        except (KeyError, ValueError, OSError, OverflowError):
            return self.now


class Understood(msgspec.Struct, frozen=True):
    """The value of an answer, in the form that the waiting skill is given it."""

    value: Any


class NotUnderstood(msgspec.Struct, frozen=True):
    """The answer is none of the kind that was asked for; `hint` is a sentence to say."""

    hint: str


Outcome: TypeAlias = Understood | NotUnderstood
