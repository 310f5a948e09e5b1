"""Ids and times are made here and nowhere else."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NewType

DialogId = NewType("DialogId", str)
UtteranceId = NewType("UtteranceId", str)
TurnId = NewType("TurnId", str)
UserId = NewType("UserId", str)

_last_tick = 0

_LAST_DIGITS: Final = [f"{n:02x}" for n in range(256)]

_IDS_PER_READ: Final = 8
"""The number of ids made of one piece of random digits: a turn needs seven."""

_AT_ONCE: Final = 32
"""Pieces that are made at once, because each request to the system costs time."""

_random: Final[list[str]] = []


def new_id() -> str:
    """Make a 32-digit hex id, greater than every id made before in this process.

    48 bits of milliseconds and 80 random bits, as in UUID version 7 (RFC 9562) without its
    fixed bits; a clock going backwards does not make ids go backwards.
    """
    (made,) = new_ids(1)
    return made


def timestamp() -> str:
    """Return the present time in UTC as `YYYY-MM-DD HH:MM:SS.ffffff`, the agent state's form."""
    return format_time(time.time())


def format_time(seconds: float) -> str:
    """Write seconds since the epoch in the agent state's form, in UTC."""
    whole = int(seconds // 1)
    microseconds = round((seconds - whole) * 1_000_000)
    if microseconds == 1_000_000:
        whole, microseconds = whole + 1, 0
    return f"{_to_the_second(whole)}.{microseconds:06d}"


@lru_cache(maxsize=8)
def _to_the_second(seconds: int) -> str:
    """Write whole seconds; all turns of a second share the text."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(" ")[:19]


def parse_time(text: str) -> float:
    """Read a time of the agent state (UTC unless it says otherwise) as seconds since the epoch."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def new_ids(number: int) -> list[str]:
    """Make several ids at once, in ascending order; cheaper than single calls."""
    global _last_tick
    tick = time.time_ns() // 1_000_000
    first = tick if tick > _last_tick else _last_tick + 1
    _last_tick = first + number - 1
    random = _random.pop() if _random and number <= _IDS_PER_READ else _random_digits(number)
    low = first & 255
    if low + number > 256:
        return [f"{first + n:012x}{random[20 * n : 20 * n + 20]}" for n in range(number)]
    front, starts = f"{first >> 8:010x}", range(0, 20 * number, 20)
    last = _LAST_DIGITS[low : low + number]
    return [front + digits + random[at : at + 20] for digits, at in zip(last, starts, strict=True)]


def _random_digits(number: int) -> str:
    """Return random halves for `number` ids, in order."""
    if number > _IDS_PER_READ:
        return os.urandom(10 * number).hex()
    digits, length = os.urandom(10 * _IDS_PER_READ * _AT_ONCE).hex(), 20 * _IDS_PER_READ
    first, *others = [digits[at : at + length] for at in range(0, len(digits), length)]
    _random.extend(others)
    return first


os.register_at_fork(
    after_in_child=_random.clear
)  # or both processes would continue with the same digits
