"""Agent days: figures of agents, added up by the day, so that long periods are read quickly."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from prolocutor.contracts.store.turn_record_store import AgentSpan
from prolocutor.durations import DAY, HOUR
from prolocutor.stores.agent_figures import (
    FiguresKey,
    add_span,
    new_span,
    summed_up,
    take_span,
)
from prolocutor.stores.sqlite.queries import named

_SUMMED: Final = named("figures_summed")
_SET_SUMMED: Final = named("set_figures_summed")
_NEXT: Final = named("next_figures")
_OF_ALL: Final = named("figures_between")
_DAY: Final = named("day_of_agent")
_PUT_DAY: Final = named("put_day")
_DELETE_DAYS: Final = named("delete_days")
_DAYS: Final = named("days_between")

_figures: Final = msgspec.json.Decoder(AgentSpan)


class AgentDays:
    """Writes the table `agent_days`; called in the writer's thread, within its transactions.

    An hour is added to its day when it is long over. What changes in it later is added at once.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        (self._summed,) = connection.execute(_SUMMED).fetchone()

    def sum_up(self, now: float) -> bool:
        """Add the next hour that is over to its day; return whether there may be more."""
        execute = self._connection.execute
        (summed,) = execute(_SUMMED).fetchone()  # an earlier transaction may have been undone
        self._summed = summed
        (at,) = execute(_NEXT, (summed,)).fetchone()
        if at is None or at // HOUR * HOUR + 2 * HOUR > now:
            return False
        hour = at // HOUR * HOUR
        spans = map(_decoded, execute(_OF_ALL, (hour, hour + HOUR)))
        for name, total in summed_up(spans, hour).items():
            self._add(hour // DAY, name, total, 1)
        self._summed = hour + HOUR
        execute(_SET_SUMMED, (self._summed,))
        return True

    def change(self, figures: dict[FiguresKey, AgentSpan], sign: int) -> None:
        """Add figures to days, or take them away, where their hour stands there already."""
        for (at, name), more in figures.items():
            if at < self._summed:
                self._add(at // DAY, name, more, sign)

    def delete(self, before: float) -> None:
        """Delete the days that were over before a time."""
        self._connection.execute(_DELETE_DAYS, (int(before) // DAY,))

    def _add(self, day: int, name: str, more: AgentSpan, sign: int) -> None:
        row = self._connection.execute(_DAY, (day, name)).fetchone()
        if row is None and sign < 0:
            return
        known = new_span(day * DAY, name) if row is None else _decoded(row)
        (add_span if sign > 0 else take_span)(known, more)
        self._connection.execute(_PUT_DAY, (day, name, msgspec.json.encode(known)))


def read_totals(connection: sqlite3.Connection, since: float, until: float) -> list[AgentSpan]:
    """Return what agents did in all, by name: by whole days where they stand, else by spans."""
    execute = connection.execute
    (summed,) = execute(_SUMMED).fetchone()
    first, last = -int(-since // DAY), int(min(until, summed) // DAY)
    found: dict[str, AgentSpan] = {}
    if first >= last:
        summed_up(map(_decoded, execute(_OF_ALL, (since, until))), since, found)
    else:
        summed_up(map(_decoded, execute(_OF_ALL, (since, first * DAY))), since, found)
        summed_up(map(_decoded, execute(_DAYS, (first, last))), since, found)
        summed_up(map(_decoded, execute(_OF_ALL, (last * DAY, until))), since, found)
    return [found[name] for name in sorted(found)]


def _decoded(row: tuple[bytes, ...]) -> AgentSpan:
    return _figures.decode(row[0])
