"""TurnRecordReader: operators' reads of turn records; called in a thread of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.contracts.turn_record_store import (
    AgentSpan,
    ConversationCounts,
    ConversationHead,
    ConversationPage,
    ConversationQuery,
    ConversationTurn,
    DialogPlace,
    DialogSummary,
    KeptTurn,
    TurnHour,
    TurnPage,
    TurnPlace,
    TurnQuery,
)
from prolocutor.stores.sqlite.queries import SQL
from prolocutor.stores.sqlite.reader import SqliteReader
from prolocutor.stores.sqlite.searches import ConversationSearch, FoundPlace
from prolocutor.stores.sqlite.turn_record_writer import read_totals
from prolocutor.stores.statements import make_struct
from prolocutor.stores.turn_records import (
    LatestTurns,
    SummaryRow,
    kept_turn,
    make_head,
    page_of_turns,
)

PAGE_HITS: Final = 400
"""Turns with the words looked for that are read at once."""
MOST_HITS: Final = 4000
"""The largest number of matching turns examined for one page."""
_LAST: Final = 2**62
"""More than the number of any utterance."""


_figures: Final = msgspec.json.Decoder(AgentSpan)


class TurnRecordReader(SqliteReader):
    """Reads the rows of `TurnRecordWriter`, on a connection of its own."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)

    def found_conversations(
        self, query: ConversationQuery, after: DialogPlace | None, limit: int
    ) -> ConversationPage:
        """Return the matching dialogs."""
        search = ConversationSearch(self.connection, query)
        if query.words is not None:
            return self._hits(search, after, limit)
        found = search.page(after, limit + 1)
        shown = found[:limit]
        next_ = DialogPlace(shown[-1].at, shown[-1].dialog) if len(found) > limit else None
        return ConversationPage(self._summaries(shown), next_)

    def counts(self, query: ConversationQuery) -> ConversationCounts:
        """Count the matching dialogs."""
        return make_struct(
            ConversationCounts, ConversationSearch(self.connection, query, counts=True).counts()
        )

    def hours(self, since: float, until: float) -> list[TurnHour]:
        """Return the hours with turns."""
        return [
            make_struct(TurnHour, row)
            for row in self.connection.execute(SQL["hours_between"], (since, until)).fetchall()
        ]

    def figures(self, since: float, until: float, agent: str | None = None) -> list[AgentSpan]:
        """Return the figures of agents."""
        execute = self.connection.execute
        if agent is None:
            rows = execute(SQL["figures_between"], (since, until)).fetchall()
        else:
            rows = execute(SQL["figures_of_agent"], (since, until, agent)).fetchall()
        return [_figures.decode(figures) for (figures,) in rows]

    def totals(self, since: float, until: float, step: int | None = None) -> list[AgentSpan]:
        """Return the total figures of agents, by name."""
        if step is None:
            return read_totals(self.connection, since, until)
        steps = range(int(since), math.ceil(until), step)
        ends = [(at, min(at + step, until)) for at in steps]
        return [total for at, end in ends for total in read_totals(self.connection, at, end)]

    def conversation_head(self, dialog_id: str) -> ConversationHead | None:
        """Return a dialog by its id."""
        row = self.connection.execute(SQL["conversation_head"], (dialog_id,)).fetchone()
        return None if row is None else make_head(row)

    def turns(
        self, dialog_id: str, after: int | None, limit: int, *, newest: bool = False
    ) -> list[ConversationTurn]:
        """Return turns of a dialog."""
        number = self.find(dialog_id)
        if number is None:
            return []
        end = _LAST if newest else -1
        values = (number, end if after is None else after, 2 * limit + 1)
        rows = self.connection.execute(
            SQL["turns_before"] if newest else SQL["turns_after"], values
        ).fetchall()
        ratings = dict(self.connection.execute(SQL["values_of_ratings"], (number,)).fetchall())
        return page_of_turns(rows, ratings, limit, newest=newest)

    def latest_turns(self, query: TurnQuery, after: TurnPlace | None, limit: int) -> TurnPage:
        """Return the matching turns, the latest reply first."""
        turns = LatestTurns(query, after, limit)
        complete = False
        while not complete:
            values = (self._number_of(turns.next), turns.bits, turns.wanted)
            complete = turns.take(self.connection.execute(SQL["latest_turns"], values).fetchall())
        return turns.page()

    def _number_of(self, place: TurnPlace | None) -> int:
        """Return the number of a turn in a list; if deleted, of the turn before it."""
        if place is None:
            return _LAST
        row = self.connection.execute(SQL["place_of_turn"], (place.utt_id, place.at)).fetchone()
        number: int = row[0]
        return number

    def kept_turn(self, utt_id: str) -> KeptTurn | None:
        """Return the turn with the reply of this id."""
        row = self.connection.execute(SQL["kept_turn"], (utt_id,)).fetchone()
        if row is None:
            return None
        turn, number, *columns = row
        ratings = dict(self.connection.execute(SQL["values_of_ratings"], (number,)).fetchall())
        return kept_turn(utt_id, columns, ratings.get(turn))

    def _hits(
        self, search: ConversationSearch, after: DialogPlace | None, limit: int
    ) -> ConversationPage:
        """Return the dialogs with the words, each at its latest hit."""
        found: dict[int, FoundPlace] = {}
        before: int | None = _LAST if after is None else after.number
        looked = 0
        while before is not None and looked < MOST_HITS:
            some, before = search.hits(before, PAGE_HITS)
            looked += PAGE_HITS
            for one in some:
                assert one.hit is not None
                if one.dialog in found:
                    continue
                if after is not None and search.has_later_hit(one.dialog, after.number):
                    continue
                found[one.dialog] = one
                if len(found) == limit:
                    return ConversationPage(
                        self._summaries(list(found.values())), DialogPlace(one.at, one.hit)
                    )
        next_ = None if before is None else DialogPlace(0.0, before)
        return ConversationPage(self._summaries(list(found.values())), next_)

    def _summaries(self, places: Sequence[FoundPlace]) -> list[DialogSummary]:
        if not places:
            return []
        hits = {place.dialog: place.hit for place in places}
        wanted = ", ".join(str(number) for number in hits)
        shown = " ".join(
            f"WHEN {place.dialog} THEN {place.hit}" for place in places if place.hit is not None
        )
        last = f"CASE f.dialog {shown} ELSE f.last END" if shown else "f.last"
        rows = self.connection.execute(
            "SELECT f.dialog, f.at, f.turns, f.slowest, f.cost, f.failed, f.flags, d.dialog_id,"
            " d.active, f.channel, p.user, h.body, b.body, b.utt_id"
            " FROM facts AS f CROSS JOIN dialogs AS d ON d.dialog = f.dialog"
            " CROSS JOIN people AS p ON p.person = d.person"
            f" LEFT JOIN utterances AS b ON b.utterance = {last}"
            " LEFT JOIN utterances AS h ON h.dialog = f.dialog AND h.position = b.position - 1"
            f" AND NOT h.by_bot WHERE f.dialog IN ({wanted})"
        ).fetchall()
        spoke: dict[int, list[str]] = {}
        statement = f"SELECT dialog, skill FROM spoke WHERE dialog IN ({wanted}) ORDER BY skill"
        for dialog, skill in self.connection.execute(statement).fetchall():
            spoke.setdefault(dialog, []).append(skill)
        known = {row.dialog: row for row in (SummaryRow(*columns) for columns in rows)}
        return [
            known[place.dialog].summary(spoke.get(place.dialog, []), is_hit=place.hit is not None)
            for place in places
            if place.dialog in known
        ]
