"""TurnRecordWriter: keeps records of turns; called in the writer's thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from prolocutor.clocks import DAY, HOUR
from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store_options import StoredTurn, UnrecordedTurns
from prolocutor.contracts.turn_record_store import AgentSpan, TurnHour
from prolocutor.dialog.dialog import thumb
from prolocutor.stores.agent_figures import (
    FiguresKey,
    add_figures,
    add_span,
    new_span,
    subtract_spans,
    summed_up,
    take_span,
)
from prolocutor.stores.sqlite.queries import SQL, PendingRows, split_rows
from prolocutor.stores.turn_records import (
    COUNTS,
    DOWN,
    FIGURES_KEPT,
    UP,
    count_hour,
    flag_bits,
    pack,
    rate_flags,
    subtract_hours,
    unpack,
)

_figures: Final = msgspec.json.Decoder(AgentSpan)

MAX_TRIMMED: Final = 200
"""The largest number of records deleted by one job."""
MAX_INDEXED: Final = 250
"""The largest number of utterances that one job adds to the index of words."""
MAX_MERGED_PAGES: Final = 100
"""The largest number of index pages merged by one job."""
LOOKED_AT: Final = 1000
"""The latest dialogs that are looked at once after a start: a killed process may have lost the
records of their first turns."""
_SETTLED_ROWS: Final = 2
"""Changed rows up to which a merge has done nothing (SQLite's documentation of `merge`)."""

_EVER: Final = (0, 2**62)


class AgentDays:
    """Writes the table `agent_days`; called in the writer's thread, within its transactions.

    An hour is added to its day when it is long over; later changes of it are added at once.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        (self._summed,) = connection.execute(SQL["figures_summed"]).fetchone()

    def sum_up(self, now: float) -> bool:
        """Add the next ended hour to its day; return whether there may be more."""
        execute = self._connection.execute
        (summed,) = execute(
            SQL["figures_summed"]
        ).fetchone()  # an earlier transaction may have been undone
        self._summed = summed
        (at,) = execute(SQL["next_figures"], (summed,)).fetchone()
        if at is None or at // HOUR * HOUR + 2 * HOUR > now:
            return False
        hour = at // HOUR * HOUR
        spans = map(_decode_span, execute(SQL["figures_between"], (hour, hour + HOUR)))
        for name, total in summed_up(spans, hour).items():
            self._add(hour // DAY, name, total, 1)
        self._summed = hour + HOUR
        execute(SQL["set_figures_summed"], (self._summed,))
        return True

    def change(self, figures: dict[FiguresKey, AgentSpan], sign: int) -> None:
        """Add figures to days, or take them away, where their hour stands there already."""
        for (at, name), more in figures.items():
            if at < self._summed:
                self._add(at // DAY, name, more, sign)

    def delete(self, before: float) -> None:
        """Delete the days before a time."""
        self._connection.execute(SQL["delete_days"], (int(before) // DAY,))

    def _add(self, day: int, name: str, more: AgentSpan, sign: int) -> None:
        row = self._connection.execute(SQL["day_of_agent"], (day, name)).fetchone()
        if row is None and sign < 0:
            return
        known = new_span(day * DAY, name) if row is None else _decode_span(row)
        (add_span if sign > 0 else take_span)(known, more)
        self._connection.execute(SQL["put_day"], (day, name, msgspec.json.encode(known)))


def read_totals(connection: sqlite3.Connection, since: float, until: float) -> list[AgentSpan]:
    """Return the total figures of agents, by name: by whole days where available, else by spans."""
    execute = connection.execute
    (summed,) = execute(SQL["figures_summed"]).fetchone()
    first, last = -int(-since // DAY), int(min(until, summed) // DAY)
    found: dict[str, AgentSpan] = {}
    if first >= last:
        summed_up(map(_decode_span, execute(SQL["figures_between"], (since, until))), since, found)
    else:
        summed_up(
            map(_decode_span, execute(SQL["figures_between"], (since, first * DAY))), since, found
        )
        summed_up(map(_decode_span, execute(SQL["days_between"], (first, last))), since, found)
        summed_up(
            map(_decode_span, execute(SQL["figures_between"], (last * DAY, until))), since, found
        )
    return [found[name] for name in sorted(found)]


def _decode_span(row: tuple[bytes, ...]) -> AgentSpan:
    return _figures.decode(row[0])


class TurnRecordWriter:
    """Writes the tables `turns`, `facts`, `hours`, `agent_figures`, `agent_days` and `words`.

    `replies` are the numbers of the latest replies and of their dialogs, by `utt_id`.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        rows: PendingRows,
        replies: dict[str, tuple[int, int]],
    ) -> None:
        self._connection = connection
        # Where the last utterances were deleted, their numbers are given again from now on.
        connection.execute(SQL["index_no_further"])
        self._replies = replies
        self._rows = rows
        self._days = AgentDays(connection)
        self._merge_begins = True
        self._looks_for_lost = True

    def add(self, records: Sequence[TurnRecord], *, slow: float) -> None:
        """Keep records; records of missing dialogs are left out."""
        self._rows.write(self._connection)
        execute = self._connection.execute
        turns: list[Any] = []
        facts: dict[int, list[Any]] = {}
        hours: dict[int, TurnHour] = {}
        figures: dict[FiguresKey, AgentSpan] = {}
        for record in records:
            place = self._replies.pop(record.utt_id, None)
            if place is None:
                place = execute(SQL["turn_place"], (record.utt_id,)).fetchone()
            if place is None:
                self._touch(record)
                continue
            turn, dialog = place
            flags, failed = flag_bits(record, slow)
            at = record.started
            turns += (turn, at, record.seconds, record.cost, flags, pack(record))
            _add_fact(facts, record, turn, dialog, flags, failed)
            hour = int(at) // HOUR * HOUR
            if hour not in hours:
                hours[hour] = TurnHour(at=hour)
            count_hour(hours[hour], flags)
            add_figures(figures, record)
        if not turns:
            return
        for many, part in split_rows(SQL["add_turns"], turns):
            execute(many, part)
        for many, part in split_rows(SQL["add_facts"], list(chain.from_iterable(facts.values()))):
            execute(many, part)
        execute(SQL["count_records"], (len(turns) // 6,))
        self._count(hours, figures)

    def note_rating(self, turn: int, dialog: int, rating: object) -> None:
        """Note the rating of a reply, by the number of its utterance."""
        row = self._connection.execute(SQL["turn_to_rate"], (turn,)).fetchone()
        if row is None:
            return
        at, before, packed = row
        after = rate_flags(before, thumb(rating))
        if after == before:
            return
        self._connection.execute(SQL["set_flags"], (after, turn))
        self._connection.execute(SQL["set_down"], (dialog,))
        down = (after & DOWN) - (before & DOWN)
        hour = int(at) // HOUR * HOUR
        figures: dict[FiguresKey, AgentSpan] = {}
        record = unpack(packed, user="", dialog_id="", utt_id="")
        if record is not None:
            up = (after & UP) // UP - (before & UP) // UP
            add_figures(figures, record, up=up, down=down)
        thumbs = {
            key: AgentSpan(at=figure.at, agent=figure.agent, up=figure.up, down=figure.down)
            for key, figure in figures.items()
            if figure.won
        }
        self._count({hour: TurnHour(at=hour, down=down)}, thumbs)

    def put_back(self, turns: Sequence[tuple[int, str, StoredTurn]]) -> None:
        """Keep records of another store, each with the number and the id of its reply."""
        rows: list[Any] = []
        hours: dict[int, TurnHour] = {}
        figures: dict[FiguresKey, AgentSpan] = {}
        for place, utt_id, turn in turns:
            rows += (place, turn.at, turn.seconds, turn.cost, turn.flags, turn.record)
            _tally(hours, figures, turn.at, turn.flags, turn.record, utt_id)
        for many, part in split_rows(SQL["add_turns"], rows):
            self._connection.execute(many, part)
        self._connection.execute(SQL["count_records"], (len(turns),))
        self._count(hours, figures)

    def unrecorded_turns(self) -> UnrecordedTurns:
        """Return the counts of turns without records."""
        recorded_hours, recorded = self._tally_turns()
        execute = self._connection.execute
        hours = [
            TurnHour(at=at, **dict(zip(COUNTS, counts, strict=True)))
            for at, *counts in execute(SQL["hours_between"], _EVER)
        ]
        agents = subtract_spans(map(_decode_span, execute(SQL["figures_between"], _EVER)), recorded)
        return UnrecordedTurns(subtract_hours(hours, recorded_hours), agents)

    def put_unrecorded(self, counted: UnrecordedTurns) -> None:
        """Count the turns with records, and these counts beside them; sum up the days again."""
        hours, figures = self._tally_turns()
        for table in ("hours", "agent_figures", "agent_days"):
            self._connection.execute(f"DELETE FROM {table}")
        self._connection.execute(SQL["set_figures_summed"], (0,))
        self._days = AgentDays(self._connection)
        self._count(hours, figures)
        self._count(
            {hour.at: hour for hour in counted.hours},
            {(agent.at, agent.agent): agent for agent in counted.agents},
        )

    def _tally_turns(self) -> tuple[dict[int, TurnHour], dict[FiguresKey, AgentSpan]]:
        hours: dict[int, TurnHour] = {}
        figures: dict[FiguresKey, AgentSpan] = {}
        for at, flags, packed, utt_id in self._connection.execute(SQL["all_turns"]):
            _tally(hours, figures, at, flags, packed, utt_id)
        return hours, figures

    def dialogs_deleted(self) -> None:
        """Have records on their way look whether their dialog is there."""
        self._replies.clear()

    def forget(self, dialog: int, position: int) -> None:
        """Delete the records of a dialog's turns after a position, before the turns go."""
        execute = self._connection.execute
        kept = execute(SQL["turns_to_forget"], (dialog, position)).fetchall()
        hours: dict[int, TurnHour] = {}
        figures: dict[FiguresKey, AgentSpan] = {}
        for at, flags, packed, utt_id in kept:
            _tally(hours, figures, at, flags, packed, utt_id)
        self._count(hours, figures, -1)
        execute(SQL["forget_turns"], (dialog, position))
        execute(SQL["count_records"], (-len(kept),))
        execute(SQL["forget_words"], (dialog, position))
        self._merge_begins = True

    def erase_words(self) -> bool:
        """Rewrite some pages of the index, without deleted words; return whether there is more.

        The index notes deletions beside the words: deleted words go when all parts are merged.
        """
        changed = self._connection.total_changes
        self._connection.execute(
            SQL["merge_words"], (-MAX_MERGED_PAGES if self._merge_begins else MAX_MERGED_PAGES,)
        )
        self._merge_begins = self._connection.total_changes - changed < _SETTLED_ROWS
        return not self._merge_begins

    def tend(self, *, now: float, keep: float, most: int) -> bool:
        """Index the words of some turns, delete some old records; return whether there is more."""
        self._rows.write(self._connection)
        if self._looks_for_lost:
            self._connection.execute(SQL["add_lost_facts"], (LOOKED_AT,))
            self._looks_for_lost = False
        more = self._index()
        more = self._trim(now - keep, most) or more
        floor = int(now - max(keep, FIGURES_KEPT))
        self._connection.execute(SQL["delete_hours"], (floor,))
        self._connection.execute(SQL["delete_figures"], (floor,))
        self._days.delete(floor)
        return self._days.sum_up(now) or more

    def _touch(self, record: TurnRecord) -> None:
        """Note a dialog's turn without a reply."""
        found = self._connection.execute(SQL["dialog_number"], (record.dialog_id,)).fetchone()
        if found is not None:
            self._connection.execute(SQL["touch_facts"], (record.started, *found))

    def _count(
        self,
        hours: dict[int, TurnHour],
        figures: dict[FiguresKey, AgentSpan],
        sign: int = 1,
    ) -> None:
        execute = self._connection.execute
        for hour in hours.values():
            counts = [sign * getattr(hour, name) for name in COUNTS]
            execute(SQL["add_hour"], (hour.at, *counts))
        for key, more in figures.items():
            row = execute(SQL["figures_of"], key).fetchone()
            if row is None and sign < 0:
                continue
            known = new_span(*key) if row is None else _figures.decode(row[0])
            (add_span if sign > 0 else take_span)(known, more)
            execute(SQL["put_figures"], (*key, msgspec.json.encode(known)))
        self._days.change(figures, sign)

    def _index(self) -> bool:
        execute = self._connection.execute
        (last,) = execute(SQL["last_indexed"]).fetchone()
        (end,) = execute(SQL["next_indexed"], (last, MAX_INDEXED)).fetchone()
        if end is None:
            return False
        try:
            execute(SQL["index_words"], (last, end))
        except sqlite3.OperationalError:  # a body is damaged: look at each of them first
            execute(SQL["index_words_checked"], (last, end))
        execute(SQL["set_indexed"], (end,))
        return bool(end - last >= MAX_INDEXED)

    def _trim(self, before: float, most: int) -> bool:
        execute = self._connection.execute
        (count,) = execute(SQL["record_count"]).fetchone()
        doomed = 0
        oldest = execute(SQL["oldest_turns"], (MAX_TRIMMED,)).fetchall()
        while doomed < len(oldest) and (oldest[doomed][1] < before or count - doomed > most):
            doomed += 1
        if not doomed:
            return False
        execute(SQL["delete_turns_up_to"], (oldest[doomed - 1][0],))
        execute(SQL["count_records"], (-doomed,))
        return doomed == MAX_TRIMMED


def _tally(
    hours: dict[int, TurnHour],
    figures: dict[FiguresKey, AgentSpan],
    at: float,
    flags: int,
    packed: bytes,
    utt_id: str,
) -> None:
    """Count a turn with a record in its hour, with its agents' figures."""
    hour = int(at) // HOUR * HOUR
    count_hour(hours.setdefault(hour, TurnHour(at=hour)), flags)
    record = unpack(packed, user="", dialog_id="", utt_id=utt_id)
    if record is not None:
        add_figures(figures, record, up=(flags & UP) // UP, down=flags & DOWN)


def _add_fact(
    facts: dict[int, list[Any]],
    record: TurnRecord,
    turn: int,
    dialog: int,
    flags: int,
    failed: int,
) -> None:
    """Add a turn to the listed facts of its dialog, in the order of the columns."""
    at, seconds, shown = record.started, record.seconds, flags & 15
    row = facts.get(dialog)
    if row is None:
        facts[dialog] = [
            dialog, at, at, 1, seconds, record.cost, failed, shown, turn, record.channel
        ]  # fmt: skip
        return
    row[1] = max(row[1], at)
    row[3] += 1
    row[4] = max(row[4], seconds)
    row[5] += record.cost
    row[6] += failed
    row[7] |= shown
    row[8] = max(row[8], turn)
