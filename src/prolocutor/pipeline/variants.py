"""Variants: services that a plug-in leaves to one person, where some are tried out for a share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.contracts.observer import LoggedChoice
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline, TriedService


class TurnVariant(msgspec.Struct, frozen=True, eq=False):
    """The services that are left to one person in a turn.

    `instead` says for skills who is asked in whose place, None for those that are not asked;
    `skipped` are the services that are not asked. `choices` are what was drawn. `on_ask` is called
    with the turn and each service that is asked; it may add to what the turn does `afterwards`.
    """

    instead: Mapping[str, str | None] = {}
    skipped: frozenset[str] = frozenset()
    choices: Sequence[LoggedChoice] = ()
    on_ask: Callable[[Any, Any], None] | None = None

    def excluded(self, waiting: str | None, preferred: str | None) -> frozenset[str]:
        """Return the skills that are not to be asked; who is `preferred` goes on in any case."""
        return self.skipped - {preferred or ""} | ({waiting} if waiting is not None else set())


WHOLE: Final = TurnVariant()
"""What turns have where nothing is tried out."""


class Variants(Protocol):
    """Says for each person which services of one pipeline are asked."""

    def of(self, user: str) -> TurnVariant:
        """Return what is left to a person."""

    def join(self, assistant: Any) -> None:
        """Get to know the assistant, once it is made."""

    async def aclose(self) -> None:
        """Stop what goes on beside turns; the last turn is over, and the store is open."""


ROLLOUTS: Final = Catalog[Callable[[Pipeline, Any], Variants]]("rollout", "prolocutor.rollouts")
"""What tries services out, made of a pipeline and its `PreparedPipeline`."""


def variants_of(pipeline: Pipeline, prepared: Any) -> Variants | None:
    """Return what tries out the services of a pipeline that say so; None where none does."""
    for stage, service in pipeline.services():
        if isinstance(service, TriedService) and (service.canary or service.shadow):
            if names := ROLLOUTS.names():
                return ROLLOUTS.load(names[0])(pipeline, prepared)
            what = "nothing is installed that tries services out"
            raise ConfigError(what, key=f"{stage}.{service.name}")
    return None
