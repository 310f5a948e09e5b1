"""The context of a text: when, where and in which language it was written."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import msgspec


class ReadingContext(msgspec.Struct, frozen=True, kw_only=True):
    """When and where a text was written.

    `now` is an aware time; `timezone` an IANA name, without which `now` is used as it is.
    `region` is a country of two letters (ISO 3166) for phone numbers and the order of day and
    month, `language` an ISO 639 code for dates.
    """

    now: dt.datetime
    timezone: str | None = None
    region: str | None = None
    language: str | None = None

    def local_now(self) -> dt.datetime:
        """Return the time in the person's time zone; an unknown one is ignored."""
        if self.timezone is None:
            return self.now
        try:
            return self.now.astimezone(ZoneInfo(self.timezone))
        except (KeyError, ValueError, OSError, OverflowError):
            return self.now
