"""Shares of turns without an answer or with a thumb down, by day, and models put live."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from prolocutor.clocks import DAY
from prolocutor.contracts.channel import Route
from prolocutor.contracts.store import Store
from prolocutor.contracts.turn_record_store import KeepsTurnRecords, TurnHour
from prolocutor.plugins.console.model_desk import ModelDesk, PutLive
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.operations import Operation, TypedRequest


class ShareParams(msgspec.Struct, frozen=True):
    """The parameters of a request for shares."""

    days: Annotated[int, Meta(ge=1, le=366, extra={"error": "days are 1 to 366"})] = 30


class DailyShares(msgspec.Struct, frozen=True, kw_only=True):
    """Columns by day (UTC, from `at` on): the number of turns, and shares of them.

    `none` had no answer, `down` a thumb down; null for a day without turns. `live` are the models
    that were put in use.
    """

    at: list[int]
    turns: list[int]
    none: list[float | None]
    down: list[float | None]
    live: list[PutLive]


class ShareEndpoints:
    """Shows how content people are, by day."""

    def __init__(
        self, store: Store, desk: ModelDesk, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._store, self._desk, self._clock = store, desk, clock
        shares = Operation(self.daily_shares)
        self.routes = [Route("GET", f"{BASE}/shares", shares, "operators")]

    async def daily_shares(self, request: TypedRequest[ShareParams, None]) -> DailyShares:
        """Return the shares of turns without an answer and with a thumb down, by day."""
        today = int(self._clock()) // DAY * DAY
        first = today - (request.params.days - 1) * DAY
        hours: Sequence[TurnHour] = []
        if isinstance(self._store, KeepsTurnRecords):
            hours = await self._store.turn_records.hours(first, today + DAY)
        days = {at: TurnHour(at=at) for at in range(first, today + DAY, DAY)}
        for hour in hours:
            if (one := days.get(hour.at // DAY * DAY)) is not None:
                one.turns += hour.turns
                one.none += hour.none
                one.down += hour.down
        return DailyShares(
            at=[*days],
            turns=[one.turns for one in days.values()],
            none=[one.none / one.turns if one.turns else None for one in days.values()],
            down=[one.down / one.turns if one.turns else None for one in days.values()],
            live=[one for one in await self._desk.history() if one.at >= first],
        )
