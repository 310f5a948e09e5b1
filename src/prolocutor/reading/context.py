"""What the reading of dates, times and numbers depends on: when, where, in which language."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import msgspec


class ReadingContext(msgspec.Struct, frozen=True, kw_only=True):
    """When and where a text was written.

    `now` is an aware time; `timezone` an IANA name, without which `now` counts as it stands.
    `region` is a country of two letters (ISO 3166) for phone numbers and the order of day and
    month, `language` an ISO 639 code for dates.
    """

    now: dt.datetime
    timezone: str | None = None
    region: str | None = None
    language: str | None = None

    def local_now(self) -> dt.datetime:
        """Return the time where the person is; an unknown time zone counts as none."""
        if self.timezone is None:
            return self.now
        try:
            return self.now.astimezone(ZoneInfo(self.timezone))
        except (KeyError, ValueError, OSError, OverflowError):
            return self.now
