"""Reads clock times: "at 9", "5:30 pm", "half past six", "at noon", "in the evening"."""

import datetime as dt
import re

from prolocutor_demo.reading.when.lengths import number_of
from prolocutor_demo.reading.when.moment_reading import (
    BY,
    PARTS,
    MomentReaders,
    MomentReading,
    pattern,
)

NOON = 12


def _read_clock(reading: MomentReading, found: re.Match[str]) -> None:
    groups = found.groupdict()
    hour = int(number_of(groups["hour"]))
    minute = int(number_of(groups["minute"])) if groups.get("minute") else 0
    half = (groups.get("half") or groups.get("part") or "").lower()
    evening = half[:1] == "p" or half in {"afternoon", "evening", "night"}
    if evening and hour < 12:
        hour += 12
    if half[:1] == "a" and half != "afternoon" and hour == 12:
        hour = 0
    reading.vague = not half and 0 < hour <= 12 and not groups["hour"].startswith("0")
    reading.time, reading.timed = dt.time(hour % 24 if hour == 24 else hour, minute), True


def _read_past(reading: MomentReading, found: re.Match[str]) -> None:
    minutes = {"half": 30, "quarter": 15}.get(found["minutes"].lower())
    minutes = int(number_of(found["minutes"])) if minutes is None else minutes
    hour = int(number_of(found["hour"]))
    to = (found["way"] or "").lower() == "to"
    total = hour * 60 + (-minutes if to else minutes)
    if (found["part"] or "").lower() in {"afternoon", "evening", "night"} and hour < 12:
        total += 720
    reading.time = dt.time(total // 60 % 24, total % 60)
    reading.vague, reading.timed = not found["part"], True


def _read_noon(reading: MomentReading, found: re.Match[str]) -> None:
    reading.time, reading.timed = dt.time(0 if "night" in found[0].lower() else NOON), True
    if reading.time.hour == 0:
        reading.vague = False


def read_part(reading: MomentReading, found: re.Match[str]) -> None:
    """Set the hour by "in the evening" without a clock time."""
    reading.time = dt.time(PARTS[found["part"].lower()])


_AT = r"(?:\b(?:at|by|before|until|till|til|around|for|due|from)\s+)*"
_HALF = r"(?P<half>[ap]\.?m\b\.?)"
_IN_THE = r"(?:\s+(?:in the|at|this)\s+(?P<part>morning|afternoon|evening|night)\b)?"
_HOUR_WORDS = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
PART_ALONE = pattern(rf"{BY}\b(?:in the|this|at|every|each)\s+(?P<part>{'|'.join(PARTS)})\b")
HOUR_READERS: MomentReaders = (
    (
        pattern(rf"{_AT}\b(?P<hour>\d{{1,2}}):(?P<minute>[0-5]\d)(?![.:]?\d)\s*{_HALF}?{_IN_THE}"),
        _read_clock,
    ),
    (pattern(rf"\b(?:at|by)\s+(?P<hour>\d{{1,2}})\.(?P<minute>[0-5]\d)\b{_IN_THE}"), _read_clock),
    (pattern(rf"{_AT}\b(?P<hour>\d{{1,2}}|{_HOUR_WORDS})\s*{_HALF}"), _read_clock),
    (pattern(rf"{_AT}\b(?P<hour>\d{{1,2}}|{_HOUR_WORDS})\s*o'?\s?clock{_IN_THE}"), _read_clock),
    (
        pattern(
            rf"{_AT}\b(?:a )?(?P<minutes>half|quarter|ten|five|twenty)"
            rf"(?:\s+(?P<way>past|after|to)|(?<=half))\s+"
            rf"(?P<hour>\d{{1,2}}|{_HOUR_WORDS})\b{_IN_THE}"
        ),
        _read_past,
    ),
    (pattern(rf"{_AT}\b(?:mid-?night|mid-?day|noon|lunchtime)\b"), _read_noon),
    (
        pattern(
            rf"\b(?:at|by|before|until|till|til|around)\s+(?P<hour>\d{{1,2}}|{_HOUR_WORDS})"
            rf"(?:\s+(?P<minute>fifteen|thirty|forty[- ]five))?\b(?![-\d.,]*[\d%€$£])"
            rf"(?!\s+(?:percent|euros?|dollars?|people|[a-z]+ \d{{4}})\b){_IN_THE}"
        ),
        _read_clock,
    ),
)
