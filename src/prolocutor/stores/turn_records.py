"""What stores derive of the record of a turn: its flags, its packed form, the figures of agents."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from operator import add
from typing import Any, Final

import msgspec

from prolocutor.contracts.observer import (
    BOUNDS,
    FAILURES,
    Outcome,
    OwnFlag,
    ProfileChange,
    Reason,
    ServiceRecord,
    TurnRecord,
)
from prolocutor.contracts.store.turn_record_store import (
    SHOWN,
    SPAN,
    TURN_FLAGS,
    AgentSpan,
    LatestFailure,
    TurnFlag,
    TurnHour,
)
from prolocutor.durations import DAY

DOWN: Final = 1
NONE: Final = 2
FAILED: Final = 4
SLOW: Final = 8
UP: Final = 16
"""A thumb up: no flag that is shown, but counted."""

_BITS: Final[dict[OwnFlag, int]] = {"none": NONE, "failed": FAILED, "slow": SLOW}

FIGURES_KEPT: Final = 35.0 * DAY
"""Seconds for which figures by hour are kept at least: operators compare months."""

_TIMED: Final = frozenset({"done", "late"})
"""What counts for durations: an agent that fails or is left alone does so at once."""
_SKILLS: Final = "skills"
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


# -- the packed form --------------------------------------------------------------------------


class _PackedService(msgspec.Struct, array_like=True, gc=False):
    name: str
    stage: str
    outcome: Outcome
    started: float | None
    ended: float | None
    calls: int
    error: str | None = None
    code: str | None = None
    cost: float = 0.0
    hypotheses: int = 0
    sure: float | None = None


class _PackedRecord(msgspec.Struct, array_like=True, gc=False):
    """Fields may be added at the end."""

    turn_id: str
    channel: str
    started: float
    seconds: float
    attempt: int
    active_skill: str
    confidence: float
    by: str
    chosen: list[str]
    asked: list[str]
    services: list[_PackedService]
    faults: list[dict[str, str]] = []
    reasons: list[Reason] = []
    remarks: list[dict[str, str]] = []
    cost: float = 0.0
    traceparent: str | None = None
    scores: dict[str, float] = {}
    version: dict[str, str] = {}
    changes: list[ProfileChange] = []


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_PackedRecord).decode


def pack(record: TurnRecord) -> bytes:
    """Return a record without what the dialog has itself: texts, hypotheses and the user."""
    packed = _PackedRecord(
        record.turn_id, record.channel, record.started, record.seconds, record.attempt,
        record.active_skill, record.confidence, record.by, record.chosen, record.asked,
        [_packed_service(one) for one in record.services],
        record.faults, record.reasons, record.remarks, record.cost, record.traceparent,
        record.scores, record.version, record.changes,
    )  # fmt: skip
    encoded = _encode(packed)
    if len(encoded) > _MOST:
        packed.changes = [
            ProfileChange(whose=one.whose, part=one.part, key=one.key) for one in record.changes
        ]
        encoded = _encode(packed)
    return encoded if len(encoded) <= _PACKED_PLAIN else b"z" + zlib.compress(encoded, 1)


def _packed_service(one: ServiceRecord) -> _PackedService:
    error = one.error if one.error is None else one.error[:_ERROR]
    return _PackedService(
        one.name, one.stage, one.outcome, one.started, one.ended, one.calls, error, one.code,
        one.cost, one.hypotheses, one.sure,
    )  # fmt: skip


def unpack(packed: bytes | None, *, user: str, dialog_id: str, utt_id: str) -> TurnRecord | None:
    """Return a record, its texts and hypotheses empty; None if it cannot be read."""
    if not packed:
        return None
    try:
        plain = zlib.decompress(packed[1:]) if packed[:1] == b"z" else packed
        one = _decode(plain)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    fields: dict[str, Any] = {name: getattr(one, name) for name in _SAME}
    return TurnRecord(
        **fields,
        dialog_id=dialog_id,
        user=user,
        utt_id=utt_id,
        text="",
        response="",
        hypotheses=[],
        services=[ServiceRecord(**msgspec.structs.asdict(each)) for each in one.services],
    )


_SAME: Final = tuple(name for name in _PackedRecord.__struct_fields__ if name != "services")


# -- the figures of agents --------------------------------------------------------------------

FiguresKey = tuple[int, str]
"""The start of a span and the name of an agent."""


def add_figures(
    figures: dict[FiguresKey, AgentSpan], record: TurnRecord, *, up: int = 0, down: int = 0
) -> None:
    """Add what the agents of one turn did, and the thumbs of its reply."""
    at = int(record.started) // SPAN * SPAN
    won = {one.rpartition(".")[0] for one in record.chosen} or {record.active_skill}
    for one in record.services:
        if one.stage != _SKILLS or one.started is None:
            continue
        known = figures.get((at, one.name))
        if known is None:
            known = figures[at, one.name] = AgentSpan(
                at=at, agent=one.name, kinds={}, latest={}, buckets=[0] * (len(BOUNDS) + 1)
            )
        known.asked += 1
        known.cost += one.cost
        if one.name in won:
            known.won += 1
            known.up += up
            known.down += down
        known.declined += one.declined
        if one.outcome in FAILURES:
            code = one.code or one.outcome
            known.failed += 1
            known.kinds[code] = known.kinds.get(code, 0) + 1
            known.latest[code] = LatestFailure(record.started, record.utt_id)
        if one.ended is not None and one.outcome in _TIMED:
            seconds = one.ended - one.started
            known.seconds += seconds
            known.buckets[bisect_left(BOUNDS, seconds)] += 1


def merged(known: AgentSpan | None, more: AgentSpan, sign: int = 1) -> AgentSpan:
    """Return the sum of two figures of one span and agent, or with -1 their difference."""
    if known is None:
        known = AgentSpan(at=more.at, agent=more.agent)
    buckets = known.buckets or [0] * (len(BOUNDS) + 1)
    latest = known.latest
    if sign > 0:
        latest = {**latest, **more.latest}
    else:
        gone = {one.utt_id for one in more.latest.values()}
        latest = {code: one for code, one in latest.items() if one.utt_id not in gone}
    return AgentSpan(
        at=known.at,
        agent=known.agent,
        asked=max(0, known.asked + sign * more.asked),
        won=max(0, known.won + sign * more.won),
        declined=max(0, known.declined + sign * more.declined),
        failed=max(0, known.failed + sign * more.failed),
        kinds=_summed(known.kinds, more.kinds, sign),
        latest=latest,
        buckets=[max(0, a + sign * b) for a, b in zip(buckets, more.buckets, strict=True)]
        if more.buckets
        else buckets,
        seconds=max(0.0, known.seconds + sign * more.seconds),
        cost=max(0.0, known.cost + sign * more.cost),
        up=max(0, known.up + sign * more.up),
        down=max(0, known.down + sign * more.down),
    )


def summed_up(
    spans: Iterable[AgentSpan], since: float, found: dict[str, AgentSpan] | None = None
) -> dict[str, AgentSpan]:
    """Add spans, the oldest first, up by agent."""
    found = {} if found is None else found
    for one in spans:
        if one.agent not in found:
            found[one.agent] = AgentSpan(
                at=int(since), agent=one.agent, buckets=[0] * (len(BOUNDS) + 1)
            )
        _add_span(found[one.agent], one)
    return found


def _add_span(total: AgentSpan, more: AgentSpan) -> None:
    """Add a span in place: a month of many agents has more than 100,000."""
    total.asked += more.asked
    total.won += more.won
    total.declined += more.declined
    total.failed += more.failed
    total.seconds += more.seconds
    total.cost += more.cost
    total.up += more.up
    total.down += more.down
    if more.buckets:
        total.buckets[:] = map(add, total.buckets, more.buckets)
    if more.kinds:
        total.kinds = _summed(total.kinds, more.kinds, 1)
        total.latest.update(more.latest)


def _summed(known: Mapping[str, int], more: Mapping[str, int], sign: int) -> dict[str, int]:
    summed = {code: known.get(code, 0) + sign * more.get(code, 0) for code in {**known, **more}}
    return {code: number for code, number in summed.items() if number > 0}


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


def all_of(texts: Iterable[str], words: Iterable[str]) -> bool:
    """Return whether each of the words begins a word of the texts."""
    said = {one.casefold() for text in texts for one in search_words_of(text)}
    return all(any(one.startswith(word.casefold()) for one in said) for word in words)


def search_words_of(text: str) -> list[str]:
    """Return all words of a text."""
    return "".join(letter if letter.isalnum() else " " for letter in text).split()
