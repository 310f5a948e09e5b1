"""The figures of agents, from the records of turns, and their sums."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from operator import add, sub
from typing import Final

from prolocutor.contracts.observer import BOUNDS, FAILURES, ServiceRecord, TurnRecord
from prolocutor.contracts.turn_record_store import SPAN_SECONDS, AgentSpan, LatestFailure

FiguresKey = tuple[int, str]
"""The start of a span and the name of an agent."""

BUCKETS: Final = len(BOUNDS) + 1
_TIMED: Final = frozenset({"done", "late"})
"""The outcomes that count for durations; failing and abandoned agents end at once."""
_SKILLS: Final = "skills"
_COUNTS: Final = ("asked", "won", "declined", "failed", "seconds", "cost", "up", "down")


def new_span(at: int = 0, agent: str = "") -> AgentSpan:
    """Return empty figures of an agent."""
    return AgentSpan(at=at, agent=agent, buckets=[0] * BUCKETS)


def add_figures(
    figures: dict[FiguresKey, AgentSpan], record: TurnRecord, *, up: int = 0, down: int = 0
) -> None:
    """Add the figures of a turn's agents, and the thumbs of its reply."""
    at = int(record.started) // SPAN_SECONDS * SPAN_SECONDS
    won = winners(record)
    for service in record.services:
        if service.stage != _SKILLS or service.started is None:
            continue
        known = figures.get((at, service.name))
        if known is None:
            known = figures[at, service.name] = new_span(at, service.name)
        count_service(known, service, record)
        if service.name in won:
            known.won += 1
            known.up += up
            known.down += down


def winners(record: TurnRecord) -> set[str]:
    """Return the skills whose hypotheses, `<skill>.<position>`, were chosen."""
    return {one.rpartition(".")[0] for one in record.chosen} or {record.active_skill}


def count_service(span: AgentSpan, service_record: ServiceRecord, record: TurnRecord) -> None:
    """Add a service's figures in a turn, except the outcome of its hypotheses."""
    span.asked += 1
    span.cost += service_record.cost
    span.declined += service_record.stage == _SKILLS and service_record.declined
    if service_record.outcome in FAILURES:
        code = service_record.code or service_record.outcome
        span.failed += 1
        span.kinds[code] = span.kinds.get(code, 0) + 1
        span.latest[code] = LatestFailure(record.started, record.utt_id)
    if (
        service_record.started is not None
        and service_record.ended is not None
        and service_record.outcome in _TIMED
    ):
        seconds = service_record.ended - service_record.started
        span.seconds += seconds
        span.buckets[bisect_left(BOUNDS, seconds)] += 1


def add_span(total: AgentSpan, more: AgentSpan) -> None:
    """Add figures in place, in the order of time. A month of many agents has over 100,000."""
    total.asked += more.asked
    total.won += more.won
    total.declined += more.declined
    total.failed += more.failed
    total.seconds += more.seconds
    total.cost += more.cost
    total.up = max(0, total.up + more.up)  # a thumb that was turned takes one away
    total.down = max(0, total.down + more.down)
    if len(more.buckets) == BUCKETS:
        total.buckets[:] = map(add, total.buckets or [0] * BUCKETS, more.buckets)
    if more.kinds:
        for code, number in more.kinds.items():
            total.kinds[code] = total.kinds.get(code, 0) + number
        total.latest.update(more.latest)


def take_span(total: AgentSpan, less: AgentSpan) -> None:
    """Subtract figures, in place; none falls below 0."""
    for name in _COUNTS:
        setattr(total, name, max(0, getattr(total, name) - getattr(less, name)))
    if less.buckets:
        left = map(sub, total.buckets or [0] * BUCKETS, less.buckets)
        total.buckets = [max(0, number) for number in left]
    kinds = {code: number - less.kinds.get(code, 0) for code, number in total.kinds.items()}
    total.kinds = {code: number for code, number in kinds.items() if number > 0}
    gone = {one.utt_id for one in less.latest.values()}
    total.latest = {code: one for code, one in total.latest.items() if one.utt_id not in gone}


def subtract_spans(
    spans: Iterable[AgentSpan], recorded: Mapping[FiguresKey, AgentSpan]
) -> list[AgentSpan]:
    """Subtract the recorded spans, by time and agent."""
    left = []
    for one in sorted(spans, key=lambda span: (span.at, span.agent)):
        if (one.at, one.agent) in recorded:
            take_span(one, recorded[one.at, one.agent])
        if one.asked > 0:
            left.append(one)
    return left


def summed_up(
    spans: Iterable[AgentSpan], since: float, found: dict[str, AgentSpan] | None = None
) -> dict[str, AgentSpan]:
    """Return the sums of spans by agent; spans are the oldest first."""
    found = {} if found is None else found
    for span in spans:
        if span.agent not in found:
            found[span.agent] = new_span(int(since), span.agent)
        add_span(found[span.agent], span)
    return found
