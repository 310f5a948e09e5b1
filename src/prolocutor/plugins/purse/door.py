"""The door of the purse: operators see the spending by agent, person and day."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.contracts.channel import Channel, Route
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.dialog.ids import format_time
from prolocutor.plugins.purse.call_purse import WARNING_SHARE, CallPurse
from prolocutor.web.door_context import DoorContext
from prolocutor.web.operations import Operation, TypedRequest

PATH: Final = "/api/console/spending"
DAY: Final = 86_400.0

Grouping = Literal["agent", "person", "day"]


class SpendingQuery(msgspec.Struct, frozen=True):
    """The number of `days`, today included, and the grouping of the sums (`by`)."""

    days: Annotated[int, Meta(ge=1, le=3660)] = 30
    by: Grouping = "agent"


class SpentLine(msgspec.Struct, frozen=True):
    """The cost and the number of calls of an agent, person or day."""

    name: str
    amount: float
    calls: int


class LimitLine(msgspec.Struct, frozen=True):
    """The used part of a limit of today or of this month; `warns` from 80 %."""

    kind: str
    name: str
    period: str
    spent: float
    limit: float
    warns: bool


class Spending(msgspec.Struct, frozen=True):
    """The spending, the most first (days in their order), and the limits that are used most."""

    items: list[SpentLine]
    total: float
    currency: str
    limits: list[LimitLine]


class SpendingDoor(msgspec.Struct, frozen=True, kw_only=True):
    """The costs of calls, for operators, at `/api/console/spending`."""

    is_usual: ClassVar[bool] = True
    operators_data: ClassVar[str] = PATH

    def build(self, context: DoorContext) -> Channel:
        """Return the door."""
        return SpendingChannel(context)


class SpendingChannel:
    """The spending of an assistant; without a purse it is nothing."""

    name: Final = "spending"
    prefix: Final = "spending:"

    def __init__(self, context: DoorContext) -> None:
        self._purse: CallPurse | None = getattr(context.assistant, "purse", None)
        self.routes = [
            Route("GET", PATH, Operation(self.list_spending), "operators"),
            Route("GET", f"{PATH}.csv", self.table, "operators"),
        ]

    async def list_spending(self, request: TypedRequest[SpendingQuery, None]) -> Spending:
        """List the spending by agent, person or day."""
        if self._purse is None:
            return Spending([], 0.0, "", [])
        query = request.params
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
        for row in await self._rows(query.days):
            name = {"agent": row.name, "person": row.user, "day": row.period}[query.by]
            sums[name][0] += row.amount
            sums[name][1] += row.number
        items = [SpentLine(name, amount, int(calls)) for name, (amount, calls) in sums.items()]
        items.sort(key=(lambda one: one.name) if query.by == "day" else (lambda one: -one.amount))
        total = sum(item.amount for item in items)
        limits = await self._limits(self._purse)
        return Spending(items, total, self._purse.settings.currency, limits)

    async def table(self, request: HttpRequest) -> HttpResponse:
        """Return all rows as CSV: day, agent, person, amount, calls."""
        days = request.query("days") or "30"
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(["day", "agent", "person", "amount", "calls"])
        number = int(days) if days.isdecimal() else 30
        for row in await self._rows(min(3660, max(1, number))):
            cells = [_cell(value) for value in (row.period, row.name, row.user)]
            writer.writerow([*cells, f"{row.amount:.6f}", row.number])
        return HttpResponse(
            text.getvalue().encode(),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": "attachment; filename=spending.csv"},
        )

    async def _rows(self, days: int) -> list[Any]:
        if self._purse is None:
            return []
        now = self._purse.clock()
        first, last = (format_time(at)[:10] for at in (now - (days - 1) * DAY, now))
        return await self._purse.store.amounts("spent", first, last)

    async def _limits(self, purse: CallPurse) -> list[LimitLine]:
        """Return the limits of today that are used most."""
        today = format_time(purse.clock())[:10]
        settings = purse.settings
        found: list[LimitLine] = []
        for kind, period, limit in (
            ("total", today, settings.total_day),
            ("agent", today, settings.agent_day),
            ("person", today, settings.person_day),
            ("person", today[:7], settings.person_month),
        ):
            for amount in await purse.store.amounts(kind, period, period) if limit else ():
                warns = amount.amount >= WARNING_SHARE * (limit or 0.0)
                name = amount.name or amount.user
                found.append(LimitLine(kind, name, period, amount.amount, limit or 0.0, warns))
        found.sort(key=lambda one: -one.spent / one.limit)
        return found[:50]


def _cell(text: str) -> str:
    """Return a text that spreadsheets do not take for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" and text else text
