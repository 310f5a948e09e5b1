"""StopSignal: asks a turn to end before its services have answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

STOPPED: Final = "stopped"
"""By which way a stopped turn's reply came about, and the attribute that marks that reply."""

NOTHING_SAID: Final = "Stopped."
"""The reply of a turn that was stopped before words of it were shown."""


class StopSignal:
    """Set at most once, before the turn runs or while it does; the turn is then woken."""

    __slots__ = ("_wake", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._wake: Callable[[], None] | None = None

    def set(self) -> None:
        """Ask the turn to end now."""
        self.is_set = True
        if self._wake is not None:
            self._wake()

    def watch(self, wake: Callable[[], None] | None) -> None:
        """Call `wake` when it is set; None: nobody is to be woken any more."""
        self._wake = wake
