"""Agent cards: descriptions of a file's skills, inline or in files of their own.

A card may be a file (YAML or JSON) beside the assistant's, with the same keys, or an A2A agent card
(`description`, `skills` with descriptions and examples).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from prolocutor.assistant.wiring import connect
from prolocutor.connectors.connector_catalog import make_options
from prolocutor.contracts.connector import DescribingConnector
from prolocutor.contracts.pairing import Card
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ConfigError, ServiceError, ServiceLate
from prolocutor.plan.pipeline import Pipeline, Skill, Stage, StageService

log = logging.getLogger(__name__)


KEYS: Final = tuple(key for key in Card.__struct_fields__ if key != "name")
MAX_BYTES: Final = 1_000_000

READ_TIMEOUT: Final = 5.0

Descriptions = Mapping[str, JsonObject | ServiceError | ConfigError]
"""The description by each skill's agent, or the error in its place, by the skill's name."""


def read_cards(skills: Sequence[Skill], folder: Path) -> list[Card]:
    """Return the card of every skill; raise `ConfigError` for an unreadable card."""
    return [read_card(skill.name, skill.card_members, folder) for skill in skills]


def read_card(name: str, written: Mapping[str, Any], folder: Path) -> Card:
    """Read one card; keys unknown to pairing are left out."""
    values = dict(written)
    if file := values.pop("file", None):
        values = {**_read(name, file, folder), **values}
    fields = {key: value for key, value in values.items() if key in KEYS and value is not None}
    try:
        return msgspec.convert({**fields, "name": name}, Card)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the card of {name!r}: {error}", key=f"skills.{name}.card") from None


def add_prices(pipeline: Pipeline, folder: Path) -> Pipeline:
    """Return the pipeline with the prices in the files of cards."""
    return pipeline.change_services(lambda skill: _add_price(skill, folder), Stage.SKILL)


def _add_price(skill: StageService, folder: Path) -> StageService:
    written = skill.card_members
    price = read_card(skill.name, written, folder).price if "file" in written else None
    if price is None:
        return skill
    return msgspec.structs.replace(skill, card={**written, "price": price})


def _read(name: str, file: object, folder: Path) -> dict[str, Any]:
    key = f"skills.{name}.card.file"
    if not isinstance(file, str):
        raise ConfigError("expected the name of a file", key=key)
    path = folder / file
    try:
        data = path.read_bytes()[: MAX_BYTES + 1]
        values = yaml.safe_load(data) if len(data) <= MAX_BYTES else None
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"the card {path.name} cannot be read: {what}", key=key) from None
    if not isinstance(values, dict):
        raise ConfigError(f"the card {path.name} is not a map of at most 1 MB", key=key)
    return _describe_a2a_skills(values) if isinstance(values.get("skills"), list) else values


def _describe_a2a_skills(values: dict[str, Any]) -> dict[str, Any]:
    """Return the descriptions of skills in an A2A agent card."""
    skills = [one for one in values["skills"] if isinstance(one, dict)]
    texts = [values.get("description"), *(one.get("description") for one in skills)]
    return {
        "description": "\n".join(text for text in texts if isinstance(text, str)),
        "examples": [text for one in skills for text in one.get("examples") or ()],
    }


def describing(pipeline: Pipeline) -> list[Skill]:
    """Return the skills whose connectors can fetch descriptions from their agents."""
    return [skill for skill in pipeline.services_at(Stage.SKILL) if _can_describe(skill)]


async def descriptions(pipeline: Pipeline, seconds: float = READ_TIMEOUT) -> Descriptions:
    """Fetch descriptions from all agents that offer them, within `seconds` altogether."""
    skills = describing(pipeline)
    cards = await asyncio.gather(*(_description(skill, seconds) for skill in skills))
    return {skill.name: one for skill, one in zip(skills, cards, strict=True)}


async def add_agent_cards(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline with its agents' cards.

    Raise `ConfigError` for an agent that lacks a feature needed by the file. An unreachable agent
    is logged and left unchanged.
    """
    if not describing(pipeline):
        return pipeline
    cards = await descriptions(pipeline)
    for name, one in cards.items():
        if isinstance(one, ConfigError):
            raise ConfigError(one.what, key=f"skills.{name}.call")
        if isinstance(one, ServiceError):
            log.warning("the agent %s has no readable card: %s", name, one)
    return pipeline.change_services(
        lambda skill: _add_card(skill, cards.get(skill.name)), Stage.SKILL
    )


def _add_card(skill: StageService, found: Any) -> StageService:
    if not isinstance(found, dict) or not found:
        return skill
    return msgspec.structs.replace(skill, card={**found, **skill.card_members})


def _can_describe(skill: Skill) -> bool:
    try:
        return bool(getattr(make_options(skill.call), "describes", False))
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
