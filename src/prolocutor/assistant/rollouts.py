"""Rollouts: what judges the services that an assistant tries out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from prolocutor.catalog import Catalog
from prolocutor.contracts.rollout import RolloutJudge

log = logging.getLogger(__name__)

ROLLOUTS: Final = Catalog[Callable[[Any], RolloutJudge]]("judge of rollouts", "prolocutor.rollouts")
"""What judges rollouts, made of an assistant."""


def judge_of(assistant: Any) -> RolloutJudge | None:
    """Return what judges the trials of an assistant; None where it tries nothing out."""
    if not assistant.engine.prepared.trials:
        return None
    if not (names := ROLLOUTS.names()):
        log.warning("services are tried out, and nothing is installed that stops them on harm")
        return None
    judge = ROLLOUTS.load(names[0])(assistant)
    assistant.observers.add(judge)
    assistant.engine.shadows.told = judge.shadow_answered
    assistant.life.after_turns.append(judge.aclose)
    return judge
