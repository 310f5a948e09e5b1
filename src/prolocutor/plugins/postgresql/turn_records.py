"""Records of turns in the PostgreSQL store."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import inf
from time import monotonic
from typing import Any, Final

import msgspec

from prolocutor.contracts.observer import BOUNDS, FAILURES, TurnRecord
from prolocutor.contracts.turn_record_store import (
    SPAN_SECONDS,
    AgentSpan,
    ConversationCounts,
    ConversationHead,
    ConversationPage,
    ConversationQuery,
    ConversationTurn,
    DialogPlace,
    DialogSummary,
    KeptTurn,
    LatestFailure,
    TurnHour,
    TurnPage,
    TurnPlace,
    TurnQuery,
)
from prolocutor.plugins.postgresql.database_line import Row
from prolocutor.plugins.postgresql.lanes import JobLane
from prolocutor.plugins.postgresql.membership import Membership
from prolocutor.plugins.postgresql.searches import (
    SharedConversationSearch,
    SharedFoundPlace,
)
from prolocutor.plugins.postgresql.statements import (
    SQL,
    shown_columns,
    shown_text,
    stored_text,
)
from prolocutor.stores.agent_figures import FiguresKey, add_span, new_span
from prolocutor.stores.statements import make_struct
from prolocutor.stores.turn_records import (
    FIGURES_KEPT,
    LatestTurns,
    SummaryRow,
    flag_bits,
    kept_turn,
    make_head,
    pack,
    page_of_turns,
    split_search_words,
)

STATEMENT_TIMEOUT: Final = 30.0
"""Seconds for a statement about records of turns."""

MAX_TRIMMED: Final = 500
"""Records that one statement deletes at most."""
AGENTS_TRIMMED: Final = 2000
"""Rows of what agents did that one statement deletes at most."""
TRIM_AGAIN: Final = 30.0
"""Seconds between two looks at what is too old, where the last one found nothing."""
INDEXED_CHARACTERS: Final = 4000
"""Characters of a turn whose words can be searched."""
_LAST_NUMBER: Final = 2**31 - 1
_FOR_EVER: Final = 1e15
"""Seconds: longer than any period."""

AgentRow = tuple[str, str, str, str | None, bool, bool, float | None, int | None, float]
"""An agent's figures of one turn, in the order of the arrays of `keep_turns`."""


class PostgresqlTurnRecords:
    """Implements `TurnRecordStore`, on the lines of other changes and of reads."""

    def __init__(self, changes: JobLane, reading: JobLane, membership: Membership) -> None:
        self._changes = changes
        self._reading = reading
        self._membership = membership
        self._trim_at = 0.0

    async def add(self, records: Sequence[TurnRecord], *, slow: float) -> None:
        """Store records."""
        if not records:
            return
        flags = [flag_bits(record, slow) for record in records]
        agents = [row for record in records for row in agent_rows(record)]
        columns = [list(column) for column in zip(*agents, strict=True)] or [[] for _ in range(9)]
        await self._write(
            "keep_turns",
            self._membership.number or 0,
            [record.utt_id for record in records],
            [record.dialog_id for record in records],
            [record.started for record in records],
            [record.seconds for record in records],
            [record.cost for record in records],
            [bits for bits, _ in flags],
            [failed for _, failed in flags],
            [pack(record) for record in records],
            [stored_text(record.channel) for record in records],
            [_words(record) for record in records],
            *columns,
        )

    async def note_thumb(self, utt_id: str, up: bool | None) -> None:
        """Store the thumb of a reply, None for another rating."""
        await self._write("note_thumb", utt_id, 0 if up is None else 16 if up else 1)

    async def tend(self, *, now: float, keep: float, most: int) -> bool:
        """Delete some old records; return whether more are left."""
        if monotonic() < self._trim_at:
            return False
        rows = await self._write("trim_turns", now - keep, most, MAX_TRIMMED)
        floor = now - max(keep, FIGURES_KEPT)
        await self._write("trim_hours", int(floor))
        agents = await self._write("trim_agent_turns", floor, AGENTS_TRIMMED)
        await self._write("trim_agent_sums", int(floor))
        more = bool(rows[0][0]) or agents[0][0] == AGENTS_TRIMMED
        self._trim_at = 0.0 if more else monotonic() + TRIM_AGAIN
        return more

    async def conversations(
        self, query: ConversationQuery, after: DialogPlace | None, limit: int
    ) -> ConversationPage:
        """Return the matching dialogs, from the place `after` on."""
        search = SharedConversationSearch(query)
        if search.finds_nothing:
            return ConversationPage([], None)
        rows = await self._fetch(*search.page(after, limit + 1))
        places = [SharedFoundPlace(row[0], row[1], row[2]) for row in rows]
        shown = places[:limit]
        next_ = DialogPlace(shown[-1].at, shown[-1].dialog) if len(places) > limit else None
        return ConversationPage(await self._summaries(shown), next_)

    async def counts(self, query: ConversationQuery) -> ConversationCounts:
        """Count the matching dialogs by flag, ignoring the query's own flag."""
        search = SharedConversationSearch(query)
        if search.finds_nothing:
            return ConversationCounts()
        (row,) = await self._fetch(*search.counts())
        return make_struct(ConversationCounts, row)

    async def hours(self, since: float, until: float) -> list[TurnHour]:
        """Return the hours with turns, ascending."""
        rows = await self._rows("hours_between", int(since), int(until))
        return [make_struct(TurnHour, row) for row in rows]

    async def figures(
        self, since: float, until: float, agent: str | None = None
    ) -> list[AgentSpan]:
        """Return the figures of all agents or of the named agent, by time, then by name."""
        name = None if agent is None else stored_text(agent)
        return await self._spans(since, until, name, SPAN_SECONDS)

    async def totals(self, since: float, until: float, step: int | None = None) -> list[AgentSpan]:
        """Return the total figures of agents by name, or those of each step."""
        if step is not None:
            return await self._spans(since, until, None, step)
        found = await self._spans(since, until, None, _FOR_EVER)
        for one in found:
            one.at = int(since)
        return sorted(found, key=lambda one: one.agent)

    async def _spans(
        self, since: float, until: float, name: str | None, step: float
    ) -> list[AgentSpan]:
        rows = await self._rows("agent_figures", since, until, name, float(step), True)
        sums = await self._rows("agent_sums", int(since), int(until), name, float(step))
        return read_spans(rows, sums)

    async def head(self, dialog_id: str) -> ConversationHead | None:
        """Return a dialog by its id."""
        rows = await self._rows("conversation_head", stored_text(dialog_id))
        return make_head(shown_columns(rows[0])[2:]) if rows else None

    async def turns(
        self, dialog_id: str, after: int | None, limit: int, *, newest: bool = False
    ) -> list[ConversationTurn]:
        """Return turns of a dialog."""
        heads = await self._rows("conversation_head", stored_text(dialog_id))
        if not heads:
            return []
        person, dialog = heads[0]["person"], heads[0]["dialog"]
        end = _LAST_NUMBER if newest else -1
        which = "turns_before" if newest else "turns_after"
        place = end if after is None else after
        rows = await self._rows(which, person, dialog, place, 2 * limit + 1)
        ratings = await self._ratings(person, dialog)
        return page_of_turns(rows, ratings, limit, newest=newest)

    async def latest_turns(self, query: TurnQuery, after: TurnPlace | None, limit: int) -> TurnPage:
        """Return the matching turns, the latest first."""
        turns = LatestTurns(query, after, limit)
        complete = False
        while not complete:
            place = turns.next or TurnPlace(inf, "")
            values = place.at, place.utt_id, turns.bits, turns.wanted
            complete = turns.take(
                [shown_columns(row) for row in await self._rows("latest_turns", *values)]
            )
        return turns.page()

    async def turn(self, utt_id: str) -> KeptTurn | None:
        """Return the turn of a reply's id."""
        rows = await self._rows("kept_turn", stored_text(utt_id))
        if not rows:
            return None
        row = rows[0]
        ratings = await self._ratings(row["person"], row["dialog"])
        return kept_turn(utt_id, shown_columns(row)[2:], ratings.get(row["position"]))

    async def _ratings(self, person: int, dialog: int) -> dict[int, bytes]:
        rows = await self._rows("values_of_ratings", person, dialog)
        return {row[0]: row[1].encode() for row in rows}

    async def _summaries(self, places: Sequence[SharedFoundPlace]) -> list[DialogSummary]:
        if not places:
            return []
        dialogs, hits = [place.dialog for place in places], [place.hit for place in places]
        known = {
            row["dialog"]: shown_columns(row)
            for row in await self._rows("summaries", dialogs, hits)
        }
        return [
            SummaryRow(*columns).summary(spoke or (), is_hit=place.hit is not None)
            for place in places
            if place.dialog in known
            for *columns, spoke in (known[place.dialog],)
        ]

    async def _write(self, name: str, *values: Any) -> list[Row]:
        return await self._changes.fetch(
            SQL[name], *values, within=STATEMENT_TIMEOUT, repeatable=False
        )

    async def _rows(self, name: str, *values: Any) -> list[Row]:
        return await self._fetch(SQL[name], *values)

    async def _fetch(self, statement: str, *values: Any) -> list[Row]:
        return await self._reading.fetch(statement, *values, within=STATEMENT_TIMEOUT)


def read_spans(rows: Sequence[Row], sums: Sequence[Row]) -> list[AgentSpan]:
    """Return the figures of agents by time and name, from `agent_figures` and `agent_sums`."""
    spans: dict[FiguresKey, AgentSpan] = {}
    for row in [*rows, *sums]:
        key = row["span"], shown_text(row["agent"])
        if key not in spans:
            spans[key] = new_span(*key)
    for row in rows:
        _add_row(spans[row["span"], shown_text(row["agent"])], row)
    for row in sums:
        key = row["span"], shown_text(row["agent"])
        add_span(spans[key], msgspec.json.decode(row["figures"], type=AgentSpan))
    return [spans[key] for key in sorted(spans)]


def agent_rows(record: TurnRecord) -> list[AgentRow]:
    """Return the figures of each agent in a turn."""
    won = {one.rpartition(".")[0] for one in record.chosen} or {record.active_skill}
    rows: list[AgentRow] = []
    for service in record.services:
        if service.stage != "skills" or service.started is None:
            continue
        seconds = None if service.ended is None else service.ended - service.started
        failed = service.outcome in FAILURES
        rows.append(
            (
                record.utt_id,
                stored_text(service.name),
                service.outcome,
                (service.code or service.outcome) if failed else None,
                service.name in won,
                service.declined,
                seconds,
                None if seconds is None else bisect_left(BOUNDS, seconds),
                service.cost,
            )
        )
    return rows


def _words(record: TurnRecord) -> str:
    return " ".join(split_search_words(f"{record.text} {record.response}"[:INDEXED_CHARACTERS]))


def _add_row(span: AgentSpan, row: Row) -> None:
    """Add a row of `agent_figures`: turns of the same outcome, code and bucket of duration."""
    number: int = row["asked"]
    span.asked += number
    span.won += row["won"]
    span.declined += row["declined"]
    span.seconds += row["seconds"]
    span.cost += row["cost"]
    span.up += row["up"]
    span.down += row["down"]
    if row["bucket"] >= 0:
        span.buckets[row["bucket"]] += number
    if row["outcome"] in FAILURES:
        code: str = row["code"]
        span.failed += number
        span.kinds[code] = span.kinds.get(code, 0) + number
        if code not in span.latest or span.latest[code].at < row["latest"]:
            span.latest[code] = LatestFailure(row["latest"], row["utt_id"])
