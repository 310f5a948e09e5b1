"""Keepers: the wrappers around the calls of an assistant's services."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prolocutor.assistant.assistant_settings import AssistantSettings, PurseSettings
from prolocutor.catalog import Catalog
from prolocutor.contracts.keepers import CallKeeper
from prolocutor.contracts.store import Store
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline, Stage

EFFECTS: Final = Catalog[Callable[[Store, Pipeline], CallKeeper]](
    "ledger of effects", "prolocutor.effects"
)
"""What keeps the effects of skills that act, made of a store and the pipeline."""

PURSES: Final = Catalog[Callable[[Store, PurseSettings, Pipeline], CallKeeper]](
    "purse", "prolocutor.purses"
)
"""What keeps within what calls may cost, made of a store, the limits and the pipeline."""


def keepers_of(pipeline: Pipeline, settings: AssistantSettings, store: Store) -> list[CallKeeper]:
    """Return the keepers of an assistant's calls, the innermost first."""
    made: list[CallKeeper] = []
    if settings.purse is not None:
        if not (names := PURSES.names()):
            raise ConfigError("nothing is installed that keeps a purse", key="purse")
        made.append(PURSES.load(names[0])(store, settings.purse, pipeline))
    acting = [one.name for one in pipeline.of(Stage.SKILL) if one.acts]
    if acting:
        if not (names := EFFECTS.names()):
            what = "nothing is installed that keeps a ledger of effects"
            raise ConfigError(what, key=f"skills.{acting[0]}.acts")
        made.append(EFFECTS.load(names[0])(store, pipeline))
    return made
