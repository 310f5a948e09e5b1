"""SessionDays: an index from days to the persons whose sessions end on that day."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec

from prolocutor.clocks import DAY
from prolocutor.contracts.store import RecordStore

LOOKED_BACK: Final = 60
"""Days whose sessions are deleted at a start; a server that was off for longer leaves the older."""


class _Ending(msgspec.Struct):
    """The part of a session that the index reads."""

    expires: float


class SessionDays:
    """The persons with sessions of a `kind`, by the last day of these sessions.

    The index finds ended sessions of persons who do not return; other ended sessions are deleted
    when they are read.
    """

    def __init__(
        self, records: RecordStore, kind: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._records = records
        self._kind = kind
        self._clock = clock

    async def note(self, person: str, expires: float) -> None:
        """Record the day on which a session of a person ends."""
        await self._records.put_record("", self._list(int(expires // DAY)), person, b"{}")

    async def sweep(self) -> int:
        """Delete the sessions that ended before today; return their number."""
        now, swept = self._clock(), 0
        today = int(now // DAY)
        for day in range(today - LOOKED_BACK, today):
            for person in await self._records.records("", self._list(day)):
                swept += await self._sweep(person, now)
                await self._records.delete_record("", self._list(day), person)
        return swept

    async def _sweep(self, person: str, now: float) -> int:
        ended = [
            id_
            for id_, body in (await self._records.records(person, self._kind)).items()
            if msgspec.json.decode(body, type=_Ending).expires <= now
        ]
        for id_ in ended:
            await self._records.delete_record(person, self._kind, id_)
        return len(ended)

    def _list(self, day: int) -> str:
        return f"{self._kind}s-ending-{day}"
