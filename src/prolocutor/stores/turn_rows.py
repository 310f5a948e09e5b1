"""From rows of utterances, beside what is kept of their turns, to the turns of a dialog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.store.turn_record_store import ConversationTurn
from prolocutor.dialog import plain
from prolocutor.dialog.ids import parse_time
from prolocutor.stores.turn_records import shown_flags, unpack


class SpokenBody(msgspec.Struct, frozen=True):
    """What lists show of the body of an utterance."""

    text: str = ""
    active_skill: str = ""


_NOTHING: Final = SpokenBody()
_bodies: Final = msgspec.json.Decoder(SpokenBody)


class TurnRow(msgspec.Struct, frozen=True):
    """One utterance; from `at` on what is kept of the turn that ended with it, else None."""

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


def spoken_body(body: bytes | None) -> SpokenBody:
    """Read the body of an utterance; one that cannot be read says nothing."""
    if body is None:
        return _NOTHING
    try:
        return _bodies.decode(body)
    except msgspec.DecodeError:
        return _NOTHING


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
