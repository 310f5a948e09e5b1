"""The critical path of a turn: the chain of services for which the turn waited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.contracts.observer import ServiceRecord, TurnRecord
from prolocutor.plan.graph import Graph, PlanNode
from prolocutor.plan.pipeline import Stage

SlotKey = tuple[str, str]
"""Stage and name of a service."""

_AFTER_SKILLS: Final = frozenset(
    {
        Stage.CANDIDATE_ANNOTATOR.value,
        Stage.RESPONSE_SELECTOR.value,
        Stage.LAST_CHANCE.value,
        Stage.POSTPROCESSOR.value,
        Stage.RESPONSE_ANNOTATOR.value,
    }
)


def critical_path(record: TurnRecord, plan: Graph) -> list[ServiceRecord]:
    """Return the chain of services that determined the duration of a turn, in order of time.

    It is followed backwards from the service that ended last. Each service waited for the one of
    its predecessors in the plan that settled last. A skill of a later wave waited for the skills of
    earlier waves. A service that is no longer in the plan waited for the last service that ended
    before it. A skipped service took no time; its predecessors stand in for it.
    """
    ran = [one for one in record.services if one.started is not None and one.ended is not None]
    before = {(node.stage.value, node.name): node.before for node in plan.every()}
    by_key = {(one.stage, one.name): one for one in record.services}
    path: list[ServiceRecord] = []
    at = max(ran, key=_end_time, default=None)
    while at is not None:
        path.append(at)
        at = _last_awaited(at, ran, by_key, before)
    return path[::-1]


def mark_critical(
    services: Sequence[ServiceRecord], path: list[ServiceRecord]
) -> list[ServiceRecord]:
    """Return the services, each marked if it is on the path."""
    on_path = {(one.stage, one.name) for one in path}
    return [
        msgspec.structs.replace(one, critical=(one.stage, one.name) in on_path) for one in services
    ]


def _last_awaited(
    at: ServiceRecord,
    ran: Sequence[ServiceRecord],
    by_key: dict[SlotKey, ServiceRecord],
    before: dict[SlotKey, list[PlanNode]],
) -> ServiceRecord | None:
    """Return the service for which `at` waited last, None if `at` started with the turn."""
    started = at.started
    assert started is not None
    nodes = before.get((at.stage, at.name))
    if nodes is None:
        awaited = [one for one in ran if one is not at]
    else:
        awaited = [one for node in nodes for one in _that_ran(node, by_key, set())]
        if at.stage == Stage.SKILL.value or at.stage in _AFTER_SKILLS:
            # A later wave is chosen by what the skills before answered, and what follows the
            # skills waits for each that was asked, whatever its own `after` says.
            awaited += [one for one in ran if one.stage == Stage.SKILL.value and one is not at]
    settled = [one for one in awaited if _end_time(one) <= started and _begun(one) < started]
    return max(settled, key=_end_time, default=None)


def _that_ran(
    node: PlanNode, by_key: dict[SlotKey, ServiceRecord], seen: set[PlanNode]
) -> list[ServiceRecord]:
    """Return a service that ran; in place of a skipped service the services before it that ran."""
    if node in seen:
        return []
    seen.add(node)
    one = by_key.get((node.stage.value, node.name))
    if one is not None and one.started is not None and one.ended is not None:
        return [one]
    return [found for other in node.before for found in _that_ran(other, by_key, seen)]


def _begun(one: ServiceRecord) -> float:
    return -1.0 if one.started is None else one.started


def _end_time(one: ServiceRecord) -> float:
    return -1.0 if one.ended is None else one.ended
