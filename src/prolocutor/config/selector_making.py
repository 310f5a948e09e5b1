"""Selectors with their own key in a file: their catalog, and how they are made."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, Final, TypeGuard

import msgspec
from msgspec.structs import replace

from prolocutor.catalog import Catalog
from prolocutor.config.agent_cards import read_cards
from prolocutor.contracts.observer import Observer
from prolocutor.contracts.pairing import SelectorContext, SelectorOptions
from prolocutor.pipeline.prepared import StageDeadlines
from prolocutor.plan.pipeline import Pipeline, Stage, StageService

SELECTORS: Final = Catalog[type[SelectorOptions]](
    "selector", "prolocutor.selectors", needs=("build", "stage")
)

_STAGES: Final = (Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR)


class MadeSelectors(msgspec.Struct, frozen=True):
    """A pipeline with its selectors made, the observers that learn, and the models to retrain."""

    pipeline: Pipeline
    observers: list[Observer]
    models: list[Any]


def make_selectors(pipeline: Pipeline, folder: Path, limits: StageDeadlines) -> MadeSelectors:
    """Make the selectors of a pipeline; raise `ConfigError` for an invalid selector."""
    services = [one for stage in _STAGES for one in pipeline.services_at(stage)]
    wanted = [one.target for one in services if _is_pending(one.target)]
    selectors = MadeSelectors(pipeline, [], [])
    if not wanted:
        return selectors
    shared: dict[Hashable, Any] = {}

    def share(key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in shared:
            shared[key] = make()
        return shared[key]

    context = SelectorContext(
        name="",
        cards=read_cards(pipeline.services_at(Stage.SKILL), folder),
        folder=folder,
        skill_seconds=limits.stage_end(Stage.SKILL),
        others=wanted,
        share=share,
        observe=selectors.observers.append,
        offer=selectors.models.append,
    )

    def made_service(service: StageService) -> StageService:
        target = service.target
        if not _is_pending(target):
            return service
        return replace(service, target=target.build(replace(context, name=service.name)))

    return replace(selectors, pipeline=pipeline.change_services(made_service, *_STAGES))


def _is_pending(target: object) -> TypeGuard[SelectorOptions]:
    kind = getattr(type(target), "stage", None)
    return kind is not None and hasattr(target, "build")
