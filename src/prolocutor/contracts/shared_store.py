"""A store of several processes, as an assistant, its doors and brokers know it.

Such a store has a method `share` (`assistant/sharing.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

DEFAULT_LEASE: Final = 3.0
"""Seconds after its last beat until a replica may be declared dead."""


def store_clock(store: object) -> Callable[[], float]:
    """Return the clock for times in a store, in seconds (UNIX).

    A store shared by replicas has its own clock; otherwise it is this machine's, which may be set.
    """
    clock: Callable[[], float] = getattr(store, "clock", time.time)
    return clock


class WakeUps(Protocol):
    """Hints to other replicas about news; they may be lost, late or repeated.

    Every reader also polls, so a lost hint costs only time.
    """

    def wake(self, user: str) -> None:
        """Send a hint of a person's new messages, or of their turn's end; return at once.

        Hints are gathered and sent outside of any transaction.
        """

    def on_wake(self, listener: Callable[[str], None]) -> None:
        """Call `listener(user)` in the event loop for each hint of another replica.

        The last listener counts. After a gap, such as a broken connection, it is called once with
        "": any person may have news.
        """


class BrokerWakeUps(WakeUps, Protocol):
    """Hints through a message broker, such as NATS, which may be away at any time."""

    async def open(self) -> None:
        """Connect in the background; return at once, even if the broker is away."""

    async def aclose(self) -> None:
        """Send the waiting hints and release the connection."""

    @property
    def is_connected(self) -> bool:
        """Whether hints can be sent now; otherwise the store's own way is used."""
