"""Whom a command means: an assistant's file, a baseline by name, an agent by dotted name."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Protocol

from prolocutor.errors import BadInput
from prolocutor.evaluation.episodes import Episode
from prolocutor.evaluation.runner import Runner

BASELINES: Final = (
    "repeat_label",
    "repeat_query",
    "fixed_response",
    "random_candidate",
    "ir_baseline",
)
_AGENT: Final = "prolocutor.evaluation.agent_target:AgentTarget"
_ASSISTANT: Final = "prolocutor.evaluation.assistant_target:AssistantTarget"


class EvaluationTarget(Protocol):
    """Who is evaluated. `content`: a hash of what it is made of, where that is known."""

    name: str
    content: str | None

    def run(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Let the runner ask it everything."""


def find_target(words: str, settings: dict[str, Any], seed: int) -> EvaluationTarget:
    """Find whom the words mean; what only an assistant needs is loaded only for one."""
    path = Path(words)
    if words in BASELINES or (":" in words and not path.exists()):
        agent: EvaluationTarget = _load(_AGENT)(
            words, {"seed": seed, "datatype": "valid", **settings}
        )
        return agent
    if not path.exists():
        raise BadInput(
            f"{words}: this is neither an assistant's file, nor module:Class of an agent, nor one "
            f"of {', '.join(BASELINES)}"
        )
    assistant: EvaluationTarget = _load(_ASSISTANT)(path)
    return assistant


def gives_metrics(words: str) -> bool:
    """Return whether whom the words mean may report metrics of its own, as only agents can."""
    return words not in BASELINES and ":" in words and not Path(words).exists()


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
