"""Values which stores derive from the record of a turn: its flags, its packed form, its words."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec

from prolocutor.clocks import DAY
from prolocutor.contracts.observer import OwnFlag, ProfileChange, ServiceRecord, TurnRecord
from prolocutor.contracts.turn_record_store import (
    SUMMARY_CHARACTERS,
    TURN_FLAGS,
    ConversationHead,
    ConversationTurn,
    DialogSummary,
    KeptTurn,
    ListedTurn,
    TurnFlag,
    TurnHour,
    TurnPage,
    TurnPlace,
    TurnQuery,
)
from prolocutor.dialog import plain
from prolocutor.dialog.ids import DialogId, parse_time

DOWN: Final = 1
NONE: Final = 2
FAILED: Final = 4
SLOW: Final = 8
UP: Final = 16
"""A thumb up: no flag that is shown, but counted."""

COUNTS: Final = ("turns", "bad", "down", "none", "failed", "slow")
"""The counts of an hour, in the order of the columns."""

_BITS: Final[dict[OwnFlag, int]] = {"none": NONE, "failed": FAILED, "slow": SLOW}

FIGURES_KEPT: Final = 35.0 * DAY
"""Seconds for which figures by hour are kept at least: operators compare months."""

_PACKED_PLAIN: Final = 1000
"""Bytes up to which a record is not compressed: it would cost more than it saves."""
_MAX_RECORD_BYTES: Final = 200_000
"""Bytes of a record beyond which the changed values of profiles are left out."""
_ERROR_CHARACTERS: Final = 2000
"""Characters that are kept of an error's text."""

_SERVICE: Final = ("name", "stage", "outcome", "started", "ended", "calls", "error", "code", "cost",
                   "hypotheses", "sure")  # fmt: skip
_RECORD: Final = ("turn_id", "channel", "started", "seconds", "attempt", "active_skill",
                  "confidence", "by", "chosen", "asked", "services", "faults", "reasons",
                  "remarks", "cost", "traceparent", "scores", "version", "changes")  # fmt: skip
_SERVICES: Final = _RECORD.index("services")
_CHANGES: Final = _RECORD.index("changes")
_UNREADABLE: Final = (zlib.error, msgspec.MsgspecError, ValueError, TypeError, IndexError)

_of_service: Final = attrgetter(*_SERVICE)
_of_record: Final = attrgetter(*_RECORD)
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[Any]).decode

Columns = Iterable[Any]

_LOOKED_AT: Final = 400
"""Turns that are read at once where those with one failing service are looked for."""
_MOST_LOOKED_AT: Final = 4000
"""Turns that are looked at for one page."""


def flag_bits(record: TurnRecord, slow: float) -> tuple[int, int]:
    """Return the flags of a turn, as bits, and how many of its services failed."""
    return sum(_BITS[flag] for flag in record.flags(slow)), record.failures


def shown_flags(flags: int) -> list[TurnFlag]:
    """Return the names of flags."""
    return [name for place, name in enumerate(TURN_FLAGS) if flags & (1 << place)]


def rate_flags(flags: int, up: bool | None) -> int:
    """Return the flags after a rating: a thumb up or down, or another rating."""
    return flags & ~(UP | DOWN) | (0 if up is None else UP if up else DOWN)


def cut(text: str) -> str:
    """Return a text, shortened to `SUMMARY_CHARACTERS`."""
    return text if len(text) <= SUMMARY_CHARACTERS else f"{text[: SUMMARY_CHARACTERS - 1]}…"


def count_hour(hour: TurnHour, flags: int, number: int = 1) -> None:
    """Add a turn to its hour, or take it away again."""
    hour.turns += number
    for flag in shown_flags(flags):
        setattr(hour, flag, getattr(hour, flag) + number)
    if flags & (NONE | FAILED):
        hour.bad += number


def subtract_hours(hours: Iterable[TurnHour], recorded: Mapping[int, TurnHour]) -> list[TurnHour]:
    """Return the hours with turns left after those `recorded` are subtracted."""
    left = []
    for hour in hours:
        less = recorded.get(hour.at, TurnHour(at=hour.at))
        counts = {name: max(0, getattr(hour, name) - getattr(less, name)) for name in COUNTS}
        if counts["turns"]:
            left.append(TurnHour(at=hour.at, **counts))
    return left


# The packed form: arrays in MessagePack, in the order of these fields; later ones come at the end.


def pack(record: TurnRecord) -> bytes:
    """Return a record without the parts in the dialog itself: texts, hypotheses and the user."""
    values = [*_of_record(record)]
    values[_SERVICES] = [_packed_service(service) for service in record.services]
    try:
        encoded = _encode(values)
    except OverflowError:  # a whole number of more than 64 bits
        encoded = b""
    if not 0 < len(encoded) <= _MAX_RECORD_BYTES:
        values[_CHANGES] = [
            ProfileChange(whose=change.whose, part=change.part, key=change.key)
            for change in record.changes
        ]
        encoded = _encode(values)
    return encoded if len(encoded) <= _PACKED_PLAIN else b"z" + zlib.compress(encoded, 1)


def _packed_service(record: ServiceRecord) -> tuple[Any, ...]:
    if record.error is not None and len(record.error) > _ERROR_CHARACTERS:
        record = msgspec.structs.replace(record, error=record.error[:_ERROR_CHARACTERS])
    return _of_service(record)


def unpack(packed: bytes | None, *, user: str, dialog_id: str, utt_id: str) -> TurnRecord | None:
    """Return a record, its texts and hypotheses empty; None if it cannot be read."""
    if not packed:
        return None
    try:
        values = _decode(zlib.decompress(packed[1:]) if packed[:1] == b"z" else packed)
        values[_SERVICES] = [
            dict(zip(_SERVICE, value, strict=False)) for value in values[_SERVICES]
        ]
        fields = {
            **dict(zip(_RECORD, values, strict=False)),
            "user": user,
            "dialog_id": dialog_id,
            "utt_id": utt_id,
            "text": "",
            "response": "",
            "hypotheses": [],
        }
        return msgspec.convert(fields, TurnRecord)
    except _UNREADABLE:
        return None


def search_words(text: str) -> list[str]:
    """Return the words of a search: runs of letters and digits, at most 20."""
    words: list[str] = []
    word = ""
    for letter in f"{text[:1000]} ":
        if letter.isalnum():
            word += letter
        elif word:
            words.append(word)
            word = ""
    return words[:20]


def split_search_words(text: str) -> list[str]:
    """Return all words of a text."""
    return "".join(letter if letter.isalnum() else " " for letter in text).split()


class SpokenMarks(msgspec.Struct, frozen=True):
    """The attributes of an utterance, for lists: the turn of this reply was `stopped`."""

    stopped: Any = False


class SpokenBody(msgspec.Struct, frozen=True):
    """The parts of an utterance's body for lists."""

    text: str = ""
    active_skill: str = ""
    attributes: SpokenMarks = SpokenMarks()


_NOTHING: Final = SpokenBody()
_bodies: Final = msgspec.json.Decoder(SpokenBody)


class TurnRow(msgspec.Struct, frozen=True):
    """A stored utterance, with the record of its turn.

    The fields from `at` on are the record's, and None where there is no record.
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
    """A dialog, its last turn or the turn with the words, and the counts of its turns."""

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
        """Return the summary of the dialog for lists; `spoke`: its speaking skills."""
        said, reply = spoken_body(self.said), spoken_body(self.reply)
        return DialogSummary(
            dialog_id=DialogId(self.dialog_id),
            user=self.user,
            channel=self.channel,
            active=bool(self.active),
            at=self.at,
            said=cut(said.text),
            reply=cut(reply.text),
            spoke=[*spoke],
            turns=self.turns,
            slowest=self.slowest,
            cost=self.cost,
            failed=self.failed,
            flags=shown_flags(self.flags),
            hit=self.utt_id if is_hit else None,
            stopped=reply.attributes.stopped is True,
        )


def make_head(columns: Columns) -> ConversationHead:
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


class LatestTurns:
    """A page of the latest turns while it is collected from rows of a store.

    `next` is the place of the last row looked at, None before the first row and after the last.
    `wanted` is the number of rows to take at once, `bits` the flags of which a row has at least 1;
    0 for any.
    """

    def __init__(self, query: TurnQuery, after: TurnPlace | None, limit: int) -> None:
        self._query = query
        self._limit = limit
        self._looked_at = 0
        self._items: list[ListedTurn] = []
        self.next = after
        self.wanted = limit + 1 if query.failed is None else _LOOKED_AT
        flags = query.flags or (() if query.failed is None else ("failed",))
        self.bits = sum(1 << TURN_FLAGS.index(flag) for flag in set(flags))

    def take(self, rows: Sequence[Columns]) -> bool:
        """Take rows in their order; return whether the page is complete.

        A row is (at, utt_id, dialog_id, user, body of the input, of the reply, flags, record).
        """
        for at, utt_id, dialog_id, user, said, reply, flags, packed in rows:
            if len(self._items) == self._limit:
                return True
            self.next = TurnPlace(at, utt_id)
            record = unpack(packed, user=user, dialog_id=dialog_id, utt_id=utt_id)
            if record is not None and self._matches(record):
                texts = {
                    "text": cut(spoken_body(said).text),
                    "response": cut(spoken_body(reply).text),
                }
                shown = msgspec.structs.replace(record, **texts)
                self._items.append(ListedTurn(shown, shown_flags(flags)))
        if len(rows) < self.wanted:
            self.next = None
            return True
        self._looked_at += len(rows)
        return self._looked_at >= _MOST_LOOKED_AT

    def page(self) -> TurnPage:
        """Return the page."""
        return TurnPage(self._items, self.next)

    def _matches(self, record: TurnRecord) -> bool:
        name, code = self._query.failed, self._query.code
        return name is None or any(
            service.name == name
            and service.failed
            and code in (None, service.code or service.outcome)
            for service in record.services
        )


def spoken_body(body: bytes | None) -> SpokenBody:
    """Read the body of an utterance; an unreadable body has no text."""
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

    A turn has at most two utterances; the extra row tells whether the outermost turn is whole. With
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
            turns.append(_unanswered_turn(before))
        before = row
    if before is not None:
        turns.append(_unanswered_turn(before))
    return turns


def _turn(row: TurnRow | None, replied: TurnRow, rating: Any) -> ConversationTurn:
    reply = spoken_body(replied.body)
    record = unpack(replied.record, user="", dialog_id="", utt_id=replied.utt_id)
    return ConversationTurn(
        position=replied.position,
        at=turn_time((row or replied).date_time) if replied.at is None else replied.at,
        said=None if row is None else spoken_body(row.body).text,
        utt_id=replied.utt_id,
        reply=reply.text,
        spoke=[one for one in (reply.active_skill,) if one] if record is None else record.speakers,
        turn_id=None if record is None else record.turn_id,
        by=None if record is None else record.by,
        seconds=replied.seconds,
        cost=replied.cost,
        flags=None if replied.flags is None else shown_flags(replied.flags),
        rating=None if rating is None else plain.decode(rating),
        stopped=reply.attributes.stopped is True,
    )


def _unanswered_turn(said: TurnRow) -> ConversationTurn:
    text = spoken_body(said.body).text
    return ConversationTurn(position=said.position, at=turn_time(said.date_time), said=text)


def turn_time(text: str) -> float:
    """Return a time of the agent state in seconds (UNIX), 0 if it is not a time."""
    try:
        return parse_time(text)
    except ValueError:
        return 0.0
