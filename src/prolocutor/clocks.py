"""Seconds: of a minute to a year, and the time of day where it must not jump."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

log = logging.getLogger(__name__)


MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY
YEAR: Final = 365 * DAY


MAX_CLOCK_STEP: Final = 3600.0
"""Seconds by which the wall clock may be set and be believed."""

_KIND: Final[int | None] = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


def elapsed() -> float:
    """Return the seconds since some moment, those of sleep included; nobody can set them."""
    return time.monotonic() if _KIND is None else time.clock_gettime(_KIND)


class SteadyClock:
    """The wall clock for as long as it is not set by more than an hour; then the time it had.

    What is deleted after a while is deleted by it: a jump by days would delete all at once.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        passed: Callable[[], float] = elapsed,
    ) -> None:
        self._wall = wall
        self._passed = passed
        self._start = wall() - passed()
        self._said = False

    def __call__(self) -> float:
        """Return the time in seconds (UNIX)."""
        passed, wall = self._passed(), self._wall()
        steady = self._start + passed
        if abs(wall - steady) <= MAX_CLOCK_STEP:
            self._start = wall - passed
            return wall
        if not self._said:
            self._said = True
            log.warning(
                "the wall clock was set by %.1f hours; turns go on by the time before until the"
                " next start",
                (wall - steady) / 3600,
            )
        return steady
