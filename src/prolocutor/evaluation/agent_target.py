"""An agent that a command means, and its making."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from contextlib import closing
from typing import Any

from prolocutor.dotted_names import resolve
from prolocutor.errors import ConfigError
from prolocutor.evaluation.content_hash import content_of, module_file
from prolocutor.evaluation.episodes import Episode
from prolocutor.evaluation.evaluated_agent import EvaluatedAgent, ObserveActAgent
from prolocutor.evaluation.runner import Runner
from prolocutor.parlai.agents import AGENTS


class AgentTarget:
    """A baseline, or the agent of somebody's own."""

    def __init__(self, words: str, options: dict[str, Any]) -> None:
        self.name = words
        self.content: str | None = None
        self._options = options
        self._class: Any = AGENTS.get(words)
        if self._class is None:
            self._class = resolve(words)
            if file := module_file(words):
                self.content = content_of([file])

    def run(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Let the runner ask it everything."""
        with closing(EvaluatedAgent(self._make)) as subject:
            runner.run_agent(subject, episodes)

    def _make(self) -> ObserveActAgent:
        """Make one, with its options as the first argument if it takes any, as ParlAI does."""
        try:
            takes = bool(inspect.signature(self._class).parameters)
            agent = self._class(dict(self._options)) if takes else self._class()
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise ConfigError(f"the agent {self.name} cannot be made: {what}") from error
        for name in ("observe", "act"):
            if not callable(getattr(agent, name, None)):
                raise ConfigError(f"the agent {self.name} has no {name}()")
        found: ObserveActAgent = agent
        return found
