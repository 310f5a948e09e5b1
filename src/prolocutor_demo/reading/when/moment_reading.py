"""What has been read of a moment so far, and how a pattern takes its share of the text."""

import datetime as dt
import re
from collections.abc import Callable

PARTS = {"morning": 9, "afternoon": 15, "evening": 19, "night": 20}
BY = r"(?:\b(?:by|for|(?<!is )due|before|until|till|from|on)\s+)*"
PART = rf"(?:\s+(?:in the\s+|at\s+)?(?P<part>{'|'.join(PARTS)})\b)?"


class MomentReading:
    """What has been found so far: the day, the hour, and the text that is left."""

    def __init__(self, text: str, now: dt.datetime) -> None:
        self.rest = text
        self.now = now
        self.day: dt.date | None = None
        self.time: dt.time | None = None
        self.vague = False  # an hour without am or pm
        self.timed = False

    def take(self, pattern: re.Pattern[str], read: "MomentReader") -> bool:
        """Lets `read` take the first match; a taken match is cut out of the text."""
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
    """Lets "evening" in "friday evening" fill in or turn the hour."""
    part = found.groupdict().get("part")
    if part and reading.time is None:
        reading.time = dt.time(PARTS[part.lower()])
    elif part and part.lower() != "morning" and reading.time and 0 < reading.time.hour < 12:
        reading.time = reading.time.replace(hour=reading.time.hour + 12)


def pattern(text: str) -> re.Pattern[str]:
    """A pattern that does not care about upper and lower case."""
    return re.compile(text, re.IGNORECASE)


def combined(day: dt.date, time: dt.time, now: dt.datetime) -> dt.datetime:
    """A day and a clock time in the zone of `now`."""
    return dt.datetime.combine(day, time, tzinfo=now.tzinfo)
