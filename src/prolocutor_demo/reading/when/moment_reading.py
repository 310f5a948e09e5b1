"""The state of reading a moment: what is found so far, and the text that remains."""

import datetime as dt
import re
from collections.abc import Callable

PARTS = {"morning": 9, "afternoon": 15, "evening": 19, "night": 20}
BY = r"(?:\b(?:by|for|(?<!is )due|before|until|till|from|on)\s+)*"
PART = rf"(?:\s+(?:in the\s+|at\s+)?(?P<part>{'|'.join(PARTS)})\b)?"


class MomentReading:
    """The day and hour found so far, and the text that remains."""

    def __init__(self, text: str, now: dt.datetime) -> None:
        self.rest = text
        self.now = now
        self.day: dt.date | None = None
        self.time: dt.time | None = None
        self.vague = False  # an hour without am or pm
        self.timed = False

    def take(self, pattern: re.Pattern[str], read: "MomentReader") -> bool:
        """Pass the first match to `read` and cut it out of the text; return whether it was read."""
        found = pattern.search(self.rest)
        if found is None:
            return False
        try:
            read(self, found)
        except (ValueError, OverflowError):
            return False
        self.rest = f"{self.rest[: found.start()]} {self.rest[found.end() :]}"
        return True


MomentReader = Callable[[MomentReading, re.Match[str]], None]
MomentReaders = tuple[tuple[re.Pattern[str], MomentReader], ...]


def note_part(reading: MomentReading, found: re.Match[str]) -> None:
    """Apply "evening" in "friday evening": set a missing hour, or make it p.m."""
    part = found.groupdict().get("part")
    if part and reading.time is None:
        reading.time = dt.time(PARTS[part.lower()])
    elif part and part.lower() != "morning" and reading.time and 0 < reading.time.hour < 12:
        reading.time = reading.time.replace(hour=reading.time.hour + 12)


def pattern(text: str) -> re.Pattern[str]:
    """Return a pattern that ignores case."""
    return re.compile(text, re.IGNORECASE)


def combined(day: dt.date, time: dt.time, now: dt.datetime) -> dt.datetime:
    """Return a day and a clock time in the zone of `now`."""
    return dt.datetime.combine(day, time, tzinfo=now.tzinfo)
