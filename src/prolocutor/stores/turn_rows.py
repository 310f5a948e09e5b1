"""What operators are shown, out of rows of queries: columns are in the order of the fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.store.turn_record_store import (
    ConversationHead,
    ConversationTurn,
    DialogSummary,
    KeptTurn,
)
from prolocutor.dialog import plain
from prolocutor.dialog.ids import DialogId, parse_time
from prolocutor.stores.turn_records import cut, shown_flags, unpack

Columns = Iterable[Any]


class SpokenBody(msgspec.Struct, frozen=True):
    """What lists show of the body of an utterance."""

    text: str = ""
    active_skill: str = ""


_NOTHING: Final = SpokenBody()
_bodies: Final = msgspec.json.Decoder(SpokenBody)


class TurnRow(msgspec.Struct, frozen=True):
    """A stored utterance, with the record of the turn that it ended.

    The fields from `at` on are of that record, and None where there is no record.
    """

    utterance: int
    position: int
    utt_id: str
    by_bot: int
    date_time: str
    body: bytes
    at: float | None = None
    seconds: float | None = None
    cost: float | None = None
    flags: int | None = None
    record: bytes | None = None


class SummaryRow(msgspec.Struct, frozen=True):
    """A dialog, the last turn of it or the one with the words, and what is counted of its turns."""

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

    def summary(self, spoke: Sequence[str], *, is_hit: bool) -> DialogSummary:
        """Return what lists show of the dialog, in which these skills spoke."""
        return DialogSummary(
            dialog_id=DialogId(self.dialog_id),
            user=self.user,
            channel=self.channel,
            active=bool(self.active),
            at=self.at,
            said=cut(spoken_body(self.said).text),
            reply=cut(spoken_body(self.reply).text),
            spoke=[*spoke],
            turns=self.turns,
            slowest=self.slowest,
            cost=self.cost,
            failed=self.failed,
            flags=shown_flags(self.flags),
            hit=self.utt_id if is_hit else None,
        )


def head_of(columns: Columns) -> ConversationHead:
    """Return a dialog without its turns."""
    id_, user, name, channel, started, active = columns
    return ConversationHead(
        dialog_id=DialogId(id_),
        user=user,
        name=name,
        channel=channel,
        started=parse_time(started),
        active=bool(active),
    )


def kept_turn(utt_id: str, columns: Columns, rating: Any) -> KeptTurn:
    """Return a turn; `rating` is JSON, or None."""
    position, dialog_id, user, flags, packed = columns
    return KeptTurn(
        utt_id=utt_id,
        dialog_id=DialogId(dialog_id),
        position=position,
        flags=None if flags is None else shown_flags(flags),
        rating=None if rating is None else plain.decode(rating),
        record=unpack(packed, user=user, dialog_id=dialog_id, utt_id=utt_id),
    )


def spoken_body(body: bytes | None) -> SpokenBody:
    """Read the body of an utterance; one that cannot be read says nothing."""
    if body is None:
        return _NOTHING
    try:
        return _bodies.decode(body)
    except msgspec.DecodeError:
        return _NOTHING


def page_of_turns(
    rows: Sequence[Columns], ratings: Mapping[int, Any], limit: int, *, newest: bool
) -> list[ConversationTurn]:
    """Return so many turns out of the rows of twice as many utterances and one more.

    A turn has at most two utterances; one more tells whether the outermost one is whole. With
    `newest` the rows are the last ones, the latest first.
    """
    found = [TurnRow(*columns) for columns in (reversed(rows) if newest else rows)]
    turns = joined_turns(found, ratings)
    if newest:
        whole = turns[1:] if len(turns) > limit else turns
        return whole[-limit:]
    return turns[:limit]


def joined_turns(rows: Sequence[TurnRow], ratings: Mapping[int, Any]) -> list[ConversationTurn]:
    """Return the turns of utterances in their order; `ratings` (JSON) are by their number."""
    turns: list[ConversationTurn] = []
    before: TurnRow | None = None
    for row in rows:
        if row.by_bot:
            turns.append(_turn(before, row, ratings.get(row.utterance)))
            before = None
            continue
        if before is not None:
            turns.append(_unanswered(before))
        before = row
    if before is not None:
        turns.append(_unanswered(before))
    return turns


def _turn(asked: TurnRow | None, replied: TurnRow, rating: Any) -> ConversationTurn:
    reply = spoken_body(replied.body)
    record = unpack(replied.record, user="", dialog_id="", utt_id=replied.utt_id)
    return ConversationTurn(
        position=replied.position,
        at=turn_time((asked or replied).date_time) if replied.at is None else replied.at,
        said=None if asked is None else spoken_body(asked.body).text,
        utt_id=replied.utt_id,
        reply=reply.text,
        spoke=reply.active_skill,
        turn_id=None if record is None else record.turn_id,
        by=None if record is None else record.by,
        seconds=replied.seconds,
        cost=replied.cost,
        flags=None if replied.flags is None else shown_flags(replied.flags),
        rating=None if rating is None else plain.decode(rating),
    )


def _unanswered(said: TurnRow) -> ConversationTurn:
    text = spoken_body(said.body).text
    return ConversationTurn(position=said.position, at=turn_time(said.date_time), said=text)


def turn_time(text: str) -> float:
    """Return a time of the agent state in seconds (UNIX), 0 for what is none."""
    try:
        return parse_time(text)
    except ValueError:
        return 0.0
