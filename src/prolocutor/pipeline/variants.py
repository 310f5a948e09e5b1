"""Variants: the services of each person, while a plug-in tries some out on a share of persons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.contracts.observer import LoggedChoice
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline, TriedService


class TurnVariant(msgspec.Struct, frozen=True, eq=False):
    """The choice of services for a person in a turn.

    - `instead` maps skills to the skills asked in their place, None: the skill is not asked.
    - `skipped` are the services not to ask.
    - `choices` are the random choices.
    - `on_ask` is called with the turn and each asked service; it may append to `afterwards` of the
      turn.
    """

    instead: Mapping[str, str | None] = {}
    skipped: frozenset[str] = frozenset()
    choices: Sequence[LoggedChoice] = ()
    on_ask: Callable[[Any, Any], None] | None = None

    def excluded_skills(self, waiting: str | None, preferred: str | None) -> frozenset[str]:
        """Return the skills not to ask: `waiting`, and `skipped` without `preferred`."""
        return self.skipped - {preferred or ""} | ({waiting} if waiting is not None else set())


WHOLE: Final = TurnVariant()
"""The variant of turns in which no service is tried out."""


class Variants(Protocol):
    """Chooses the services of a pipeline for each person."""

    def choose_variant(self, user: str) -> TurnVariant:
        """Return the choice of services for a person."""

    def join(self, assistant: Any) -> None:
        """Take the assistant, once it is made."""

    async def aclose(self) -> None:
        """Stop the work beside turns; the last turn is over, and the store is open."""


ROLLOUTS: Final = Catalog[Callable[[Pipeline, Any], Variants]]("rollout", "prolocutor.rollouts")
"""Rollouts, which try services out, made of a pipeline and its `PreparedPipeline`."""


def load_variants(pipeline: Pipeline, prepared: Any) -> Variants | None:
    """Return the variants of a pipeline; None if no service has a canary or a shadow.

    Raise `ConfigError` if no plug-in can try services out.
    """
    for stage, service in pipeline.services():
        if isinstance(service, TriedService) and (service.canary or service.shadow):
            if names := ROLLOUTS.names():
                return ROLLOUTS.load(names[0])(pipeline, prepared)
            what = "no installed plug-in tries services out"
            raise ConfigError(what, key=f"{stage}.{service.name}")
    return None
