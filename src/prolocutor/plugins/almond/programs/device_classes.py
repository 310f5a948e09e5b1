"""Device classes: the ThingTalk classes of the skills, and the skill behind each class."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from prolocutor.errors import ConfigError, ThingTalkError
from prolocutor.plan.pipeline import Skill
from prolocutor.plugins.almond.thingtalk.manifests import (
    OURS,
    Annotation,
    Class,
    Function,
    Manifests,
    Parameter,
)
from prolocutor.plugins.almond.thingtalk.parsing import parse_classes
from prolocutor.plugins.almond.thingtalk.types import NUMBER, STRING
from prolocutor.plugins.almond.thingtalk.values import ArrayValue, StringValue

log = logging.getLogger(__name__)

ASK: Final = "ask"
"""The query of every skill: its reply to an utterance."""

KIND: Final = "almond-device"
"""The kind of records (`contracts/store`) that hold users' devices."""


class DeviceClasses:
    """The classes implemented by the skills of an assistant.

    Of two skills with a class of the same name the first is used; with `alone` raise `ConfigError`.
    """

    def __init__(self, skills: Sequence[Skill], *, alone: bool = True) -> None:
        self._skills: dict[str, Skill] = {}
        classes: list[Class] = []
        for skill in skills:
            for each in skill_classes(skill):
                other = self._skills.setdefault(each.name, skill)
                if other is skill:
                    classes.append(each)
                    continue
                what = f"@{each.name} stands in the manifests of {other.name} and {skill.name}"
                if alone:
                    raise ConfigError(what, key=skill.name)
                log.warning("%s: the manifest of %s is ignored", what, skill.name)
        self.manifests = Manifests(classes)

    def find_skill(self, owner: Class) -> Skill:
        """Return the skill of a class."""
        return self._skills[owner.name]


def skill_classes(skill: Skill) -> list[Class]:
    """Return the classes of a skill: its manifest's, and its own with the query `ask`.

    The manifest is `card["manifest"]`: a file, or the source itself. Raise `ConfigError` if it
    cannot be read, `MissingExtra` without Lark.
    """
    classes = {each.name: each for each in _parse_manifest(skill)}
    name = OURS + skill.name
    own = classes.get(name, Class(name))
    if all(each.name != ASK for each in own.functions):
        own = replace(own, functions=(_ask(skill.name), *own.functions))
    return list((classes | {name: own}).values())


def read_manifest(source: str) -> str:
    """Return the source of a manifest; a text without a brace is the name of a file."""
    if "{" in source:
        return source
    try:
        return Path(source).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise ConfigError(f"the manifest {source!s:.200} cannot be read: {why}") from None


def _parse_manifest(skill: Skill) -> Iterable[Class]:
    source = skill.card_members.get("manifest")
    if source is None:
        return ()
    if not isinstance(source, str):
        raise ConfigError("a manifest is a file or its source", key=f"{skill.name}.card.manifest")
    try:
        return parse_classes(read_manifest(source))
    except ThingTalkError as error:
        raise ConfigError(str(error), key=f"{skill.name}.card.manifest") from None


def _ask(name: str) -> Function:
    annotation = Annotation("prompt", StringValue(f"What do you want to ask {name}?"), is_text=True)
    shown = Annotation("formatted", ArrayValue((StringValue("${response}"),)), is_text=True)
    canonical = Annotation("canonical", StringValue(f"ask {name}"), is_text=True)
    return Function(
        ASK,
        "query",
        (
            Parameter("utterance", STRING, "in req", annotations=(annotation,)),
            Parameter("response", STRING, "out"),
            Parameter("confidence", NUMBER, "out"),
        ),
        annotations=(shown, canonical),
    )
