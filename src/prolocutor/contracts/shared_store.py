"""What an assistant, its doors and brokers know of a store that several processes share.

A store that can be shared has a method `share` (`assistant/sharing.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

DEFAULT_LEASE: Final = 3.0
"""Seconds after its last beat until a replica may be declared dead."""


def clock_of(store: object) -> Callable[[], float]:
    """Return the clock by which what is in a store begins and ends, in seconds (UNIX).

    It is that of the store where replicas share it, else this machine's, which may be set.
    """
    clock: Callable[[], float] = getattr(store, "clock", time.time)
    return clock


class WakeUps(Protocol):
    """Hints to other replicas that there is news; they may be lost, late or repeated.

    Every reader also polls, so that a lost hint costs time and nothing else.
    """

    def wake(self, user: str) -> None:
        """Send a hint that this person has something new, or is free; return at once.

        Hints are gathered and sent outside of any transaction.
        """

    def on_wake(self, listener: Callable[[str], None]) -> None:
        """Call `listener(user)` in the event loop for each hint of another replica.

        The last listener given counts. Where hints may have been missed (the connection broke), it
        is called with "" once: anyone may have something new.
        """


class BrokerWakeUps(WakeUps, Protocol):
    """Hints through a message broker, such as NATS, which may be away at any time."""

    async def open(self) -> None:
        """Connect in the background; return at once, also where the broker is away."""

    async def aclose(self) -> None:
        """Send what waits and let go of the connection."""

    @property
    def is_connected(self) -> bool:
        """Whether hints can be sent now; where not, the store's own way is used."""
