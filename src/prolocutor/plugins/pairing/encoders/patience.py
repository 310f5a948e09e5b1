"""Patience: how long a turn waits for a model, and how long one that was silent is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from time import monotonic
from typing import Final, TypeVar

from prolocutor.errors import ServiceLate

T = TypeVar("T")

_PAUSE: Final = 10.0
"""Seconds for which a model that was too slow is not asked again."""

_NOTICED: Final = 0.2
"""Seconds after which a call that is cancelled counts as one that was too slow."""


class Patience:
    """Waits for a model for `seconds` at most (None: as long as it takes).

    A model that took longer, or for which its caller had no more time, is left alone for a while,
    so that one that hangs does not delay every turn.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._rests_until = 0.0

    async def of(self, call: Awaitable[T]) -> T:
        """Return what a call gives; `ServiceLate` says how long the model was silent."""
        begun = monotonic()
        try:
            async with asyncio.timeout(self._seconds):
                return await call
        except TimeoutError:
            self._rests_until = monotonic() + _PAUSE
            raise ServiceLate(f"is silent for {self._seconds:g} s") from None
        except asyncio.CancelledError:
            if monotonic() - begun >= _NOTICED:
                self._rests_until = monotonic() + _PAUSE
            raise

    def check(self) -> None:
        """Raise `ServiceLate` while the model is left alone."""
        if monotonic() < self._rests_until:
            what = "" if self._seconds is None else f" for {self._seconds:g} s"
            raise ServiceLate(f"was silent{what} a moment ago")
