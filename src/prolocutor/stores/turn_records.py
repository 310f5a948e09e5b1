"""What stores derive of the record of a turn: its flags, its packed form, its words."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, Final

import msgspec

from prolocutor.contracts.observer import OwnFlag, ProfileChange, ServiceRecord, TurnRecord
from prolocutor.contracts.store.turn_record_store import SHOWN, TURN_FLAGS, TurnFlag, TurnHour
from prolocutor.durations import DAY

DOWN: Final = 1
NONE: Final = 2
FAILED: Final = 4
SLOW: Final = 8
UP: Final = 16
"""A thumb up: no flag that is shown, but counted."""

COUNTS: Final = ("turns", "bad", "down", "none", "failed", "slow")
"""What is counted by hour, in the order of the columns."""

_BITS: Final[dict[OwnFlag, int]] = {"none": NONE, "failed": FAILED, "slow": SLOW}

FIGURES_KEPT: Final = 35.0 * DAY
"""Seconds for which figures by hour are kept at least: operators compare months."""

_PACKED_PLAIN: Final = 1000
"""Bytes up to which a record is not compressed: it would cost more than it saves."""
_MOST: Final = 200_000
"""Bytes of a record beyond which the changed values of profiles are left out."""
_ERROR: Final = 2000
"""Characters that are kept of an error's text."""


def flags_of(record: TurnRecord, slow: float) -> tuple[int, int]:
    """Return the flags of a turn, as bits, and how many of its services failed."""
    return sum(_BITS[flag] for flag in record.flags(slow)), record.failures


def shown_flags(flags: int) -> list[TurnFlag]:
    """Return the names of flags."""
    return [name for place, name in enumerate(TURN_FLAGS) if flags & (1 << place)]


def thumbed(flags: int, up: bool | None) -> int:
    """Return the flags after a rating: a thumb up or down, or another one."""
    return flags & ~(UP | DOWN) | (0 if up is None else UP if up else DOWN)


def cut(text: str) -> str:
    """Return what summaries show of a text."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def count_hour(hour: TurnHour, flags: int, number: int = 1) -> None:
    """Add a turn to its hour, or take it away again."""
    hour.turns += number
    for flag in shown_flags(flags):
        setattr(hour, flag, getattr(hour, flag) + number)
    if flags & (NONE | FAILED):
        hour.bad += number


def hours_without(hours: Iterable[TurnHour], recorded: Mapping[int, TurnHour]) -> list[TurnHour]:
    """Return what is left of hours, ascending, without the turns recorded."""
    left = []
    for hour in hours:
        less = recorded.get(hour.at, TurnHour(at=hour.at))
        counts = {name: max(0, getattr(hour, name) - getattr(less, name)) for name in COUNTS}
        if counts["turns"]:
            left.append(TurnHour(at=hour.at, **counts))
    return left


# The packed form: arrays in MessagePack, in the order of these fields; later ones come at the end.

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


def pack(record: TurnRecord) -> bytes:
    """Return a record without what the dialog has itself: texts, hypotheses and the user."""
    values = [*_of_record(record)]
    values[_SERVICES] = [_packed_service(one) for one in record.services]
    try:
        encoded = _encode(values)
    except OverflowError:  # a whole number of more than 64 bits
        encoded = b""
    if not 0 < len(encoded) <= _MOST:
        values[_CHANGES] = [
            ProfileChange(whose=one.whose, part=one.part, key=one.key) for one in record.changes
        ]
        encoded = _encode(values)
    return encoded if len(encoded) <= _PACKED_PLAIN else b"z" + zlib.compress(encoded, 1)


def _packed_service(one: ServiceRecord) -> tuple[Any, ...]:
    if one.error is not None and len(one.error) > _ERROR:
        one = msgspec.structs.replace(one, error=one.error[:_ERROR])
    return _of_service(one)


def unpack(packed: bytes | None, *, user: str, dialog_id: str, utt_id: str) -> TurnRecord | None:
    """Return a record, its texts and hypotheses empty; None if it cannot be read."""
    if not packed:
        return None
    try:
        values = _decode(zlib.decompress(packed[1:]) if packed[:1] == b"z" else packed)
        values[_SERVICES] = [dict(zip(_SERVICE, one, strict=False)) for one in values[_SERVICES]]
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


def search_words_of(text: str) -> list[str]:
    """Return all words of a text."""
    return "".join(letter if letter.isalnum() else " " for letter in text).split()
