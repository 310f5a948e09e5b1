"""StopSignal: asks a turn to end before its services have answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

STOPPED: Final = "stopped"
"""By which way a stopped turn's reply came about, and the attribute that marks that reply."""

NOTHING_SAID: Final = "Stopped."
"""The reply of a turn that was stopped before words of it were shown."""


class StopSignal(msgspec.Struct, eq=False):
    """Set at most once, before the turn runs or while it does; the turn is then woken by `wake`."""

    is_set: bool = False
    wake: Callable[[], None] | None = None

    def set(self) -> None:
        """Ask the turn to end now."""
        self.is_set = True
        if self.wake is not None:
            self.wake()
