"""TurnRecordReader: what operators read of records of turns; called in a thread of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.contracts.store.turn_record_store import (
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
)
from prolocutor.dialog import plain
from prolocutor.dialog.ids import DialogId, parse_time
from prolocutor.stores.sqlite.agent_days import read_totals
from prolocutor.stores.sqlite.conversation_search import ConversationSearch, FoundPlace
from prolocutor.stores.sqlite.queries import named
from prolocutor.stores.sqlite.reader import SqliteReader
from prolocutor.stores.turn_records import cut, shown_flags, unpack
from prolocutor.stores.turn_rows import TurnRow, joined_turns, spoken_body

HITS: Final = 400
"""Turns with the words looked for that are read at once."""
MOST_HITS: Final = 4000
"""Turns with the words looked for that one page looks at."""
_LAST: Final = 2**62
"""More than the number of any utterance."""

_HOURS: Final = named("hours_between")
_FIGURES: Final = named("figures_between")
_AGENT: Final = named("figures_of_agent")
_HEAD: Final = named("conversation_head")
_DIALOG: Final = named("find_dialog")
_AFTER: Final = named("turns_after")
_BEFORE: Final = named("turns_before")
_KEPT: Final = named("kept_turn")
_RATINGS: Final = named("values_of_ratings")

_figures: Final = msgspec.json.Decoder(AgentSpan)


class SummaryRow(msgspec.Struct, frozen=True):
    """A row of the statement of `summaries`."""

    dialog: int
    at: float
    turns: int
    slowest: float
    cost: float
    failed: int
    flags: int
    dialog_id: str
    active: int
    channel: str
    user: str
    said: bytes | None
    reply: bytes | None
    utt_id: str | None


class TurnRecordReader(SqliteReader):
    """Reads what `TurnRecordWriter` writes, on a connection of its own."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)

    def found_conversations(
        self, query: ConversationQuery, after: DialogPlace | None, limit: int
    ) -> ConversationPage:
        """Return the dialogs that match."""
        search = ConversationSearch(self.connection, query)
        if query.words is not None:
            return self._hits(search, after, limit)
        found = search.page(after, limit + 1)
        shown = found[:limit]
        next_ = DialogPlace(shown[-1].at, shown[-1].dialog) if len(found) > limit else None
        return ConversationPage(self._summaries(shown), next_)

    def counts(self, query: ConversationQuery) -> ConversationCounts:
        """Count the dialogs that match."""
        every, down, none, failed, slow = ConversationSearch(self.connection, query).counts()
        return ConversationCounts(all=every, down=down, none=none, failed=failed, slow=slow)

    def hours(self, since: float, until: float) -> list[TurnHour]:
        """Return the hours that have turns."""
        rows = self.connection.execute(_HOURS, (since, until)).fetchall()
        return [
            TurnHour(at=at, turns=turns, bad=bad, down=down, none=none, failed=failed, slow=slow)
            for at, turns, bad, down, none, failed, slow in rows
        ]

    def figures(self, since: float, until: float, agent: str | None) -> list[AgentSpan]:
        """Return what agents did."""
        execute = self.connection.execute
        if agent is None:
            rows = execute(_FIGURES, (since, until)).fetchall()
        else:
            rows = execute(_AGENT, (since, until, agent)).fetchall()
        return [_figures.decode(figures) for (figures,) in rows]

    def totals(self, since: float, until: float) -> list[AgentSpan]:
        """Return what agents did in all, by name."""
        return read_totals(self.connection, since, until)

    def conversation_head(self, dialog_id: str) -> ConversationHead | None:
        """Return a dialog by its id."""
        row = self.connection.execute(_HEAD, (dialog_id,)).fetchone()
        if row is None:
            return None
        id_, user, name, channel, started, active = row
        return ConversationHead(
            dialog_id=DialogId(id_),
            user=user,
            name=name,
            channel=channel,
            started=parse_time(started),
            active=bool(active),
        )

    def turns(
        self, dialog_id: str, after: int | None, limit: int, newest: bool
    ) -> list[ConversationTurn]:
        """Return turns of a dialog."""
        number = self.find(dialog_id)
        if number is None:
            return []
        # A turn has at most two utterances; one more tells whether the outermost one is whole.
        if newest:
            values = (number, _LAST if after is None else after, 2 * limit + 1)
            rows = self.connection.execute(_BEFORE, values).fetchall()[::-1]
        else:
            values = (number, -1 if after is None else after, 2 * limit + 1)
            rows = self.connection.execute(_AFTER, values).fetchall()
        ratings = dict(self.connection.execute(_RATINGS, (number,)).fetchall())
        turns = joined_turns([TurnRow(*row) for row in rows], ratings)
        if newest:
            whole = turns[1:] if len(turns) > limit else turns
            return whole[-limit:]
        return turns[:limit]

    def kept_turn(self, utt_id: str) -> KeptTurn | None:
        """Return the turn whose reply has this id."""
        row = self.connection.execute(_KEPT, (utt_id,)).fetchone()
        if row is None:
            return None
        turn, number, position, dialog_id, user, flags, packed = row
        ratings = dict(self.connection.execute(_RATINGS, (number,)).fetchall())
        rating = ratings.get(turn)
        return KeptTurn(
            utt_id=utt_id,
            dialog_id=DialogId(dialog_id),
            position=position,
            flags=None if flags is None else shown_flags(flags),
            rating=None if rating is None else plain.decode(rating.encode()),
            record=unpack(packed, user=user, dialog_id=dialog_id, utt_id=utt_id),
        )

    def _hits(
        self, search: ConversationSearch, after: DialogPlace | None, limit: int
    ) -> ConversationPage:
        """Return the dialogs with the words, each at its latest hit."""
        found: dict[int, FoundPlace] = {}
        before: int | None = _LAST if after is None else after.number
        looked = 0
        while before is not None and looked < MOST_HITS:
            some, before = search.hits(before, HITS)
            looked += HITS
            for one in some:
                assert one.hit is not None
                if one.dialog in found:
                    continue
                if after is not None and search.has_hit_from(one.dialog, after.number):
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
        hits = {one.dialog: one.hit for one in places}
        wanted = ", ".join(str(number) for number in hits)
        shown = " ".join(
            f"WHEN {one.dialog} THEN {one.hit}" for one in places if one.hit is not None
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
            _summary(known[one.dialog], spoke.get(one.dialog, []), one.hit is not None)
            for one in places
            if one.dialog in known
        ]


def _summary(row: SummaryRow, spoke: list[str], is_hit: bool) -> DialogSummary:
    said, reply = spoken_body(row.said), spoken_body(row.reply)
    return DialogSummary(
        dialog_id=DialogId(row.dialog_id),
        user=row.user,
        channel=row.channel,
        active=bool(row.active),
        at=row.at,
        said=cut(said.text),
        reply=cut(reply.text),
        spoke=spoke,
        turns=row.turns,
        slowest=row.slowest,
        cost=row.cost,
        failed=row.failed,
        flags=shown_flags(row.flags),
        hit=row.utt_id if is_hit else None,
    )
