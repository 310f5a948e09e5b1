"""What agents say of themselves: the cards of skills that a file leaves to their connectors.

A connector that has `describe` (`DescribingConnector`) is asked before the assistant is built. What
the file says of a skill stands; the rest of its card is what the agent says.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from prolocutor.assistant.wiring import connect
from prolocutor.connectors.connector_catalog import options_of
from prolocutor.contracts.connector import DescribingConnector
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ConfigError, ServiceError, ServiceLate
from prolocutor.plan.pipeline import Pipeline, Skill, Stage

log = logging.getLogger(__name__)

SECONDS: Final = 5.0

Descriptions = Mapping[str, JsonObject | ServiceError | ConfigError]
"""What each skill's agent says, or why it says nothing, by the skill's name."""


def describing(pipeline: Pipeline) -> list[Skill]:
    """Return the skills whose connectors can ask their agents what they do."""
    return [skill for skill in pipeline.of(Stage.SKILL) if _can_describe(skill)]


async def descriptions(pipeline: Pipeline, seconds: float = SECONDS) -> Descriptions:
    """Ask all agents that can be asked what they do, `seconds` at most."""
    skills = describing(pipeline)
    found = await asyncio.gather(*(_description(skill, seconds) for skill in skills))
    return {skill.name: one for skill, one in zip(skills, found, strict=True)}


async def described(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline with the cards that its agents give.

    Raise `ConfigError` for an agent that cannot do what the file wants of it. One that cannot be
    reached now is logged and left as it is.
    """
    if not describing(pipeline):
        return pipeline
    found = await descriptions(pipeline)
    for name, one in found.items():
        if isinstance(one, ConfigError):
            raise ConfigError(one.what, key=f"skills.{name}.call")
        if isinstance(one, ServiceError):
            log.warning("%s cannot say what it does: %s", name, one)
    skills = [_with_card(skill, found.get(skill.name)) for skill in pipeline.of(Stage.SKILL)]
    return msgspec.structs.replace(pipeline, skills=skills)


def _with_card(skill: Skill, found: Any) -> Skill:
    if not isinstance(found, dict) or not found:
        return skill
    return msgspec.structs.replace(skill, card={**found, **skill.card_members})


def _can_describe(skill: Skill) -> bool:
    try:
        return bool(getattr(options_of(skill.call), "describes", False))
    except ConfigError:
        return False  # which is said where the connector is made


async def _description(skill: Skill, seconds: float) -> JsonObject | ServiceError | ConfigError:
    try:
        connector = connect(skill)
    except ConfigError as error:
        return error
    if not isinstance(connector, DescribingConnector):
        return {}
    try:
        async with asyncio.timeout(seconds):
            return await connector.describe()
    except TimeoutError:
        return ServiceLate(f"no answer within {seconds:g} s")
    except (ServiceError, ConfigError) as error:
        return error
    finally:
        await connector.aclose()
