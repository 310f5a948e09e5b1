"""The learning curve: how right routers are by the number of questions that they learned from."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import msgspec

from prolocutor.plugins.pairing.measuring.fitting import NO_MODELS, PairingModels
from prolocutor.plugins.pairing.measuring.measurement import MeasurementPlan, measure
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData

_SHARES: Final = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)


class LearningPoint(msgspec.Struct, frozen=True):
    """The precision@1 of a router that learned from `learned` questions, with its interval."""

    learned: int
    precision_at_1: float
    low: float
    high: float


async def curve_of(
    data: PairingData,
    plan: MeasurementPlan,
    *,
    models: PairingModels = NO_MODELS,
    on_step: Callable[[str], None] = lambda _: None,
) -> dict[str, list[LearningPoint]]:
    """Measure each router on growing parts of what is to be learned from; {} if there is none."""
    order = list(range(len(data.learn)))
    random.Random(plan.seed).shuffle(order)
    curves: dict[str, list[LearningPoint]] = {}
    for share in _SHARES if order else ():
        part = [data.learn[position] for position in order[: max(2, round(share * len(order)))]]
        on_step(f"learning curve, {len(part):,} questions")
        bare: dict[str, Any] = {"rankers": [], "budgets": []}
        found = await measure(
            msgspec.structs.replace(data, learn=part),
            msgspec.structs.replace(plan, **bare),
            models=models,
        )
        for row in found.rows:
            if row.method in plan.routers:
                point = LearningPoint(len(part), row.precision_at_1, row.low, row.high)
                curves.setdefault(row.method, []).append(point)
    return curves
