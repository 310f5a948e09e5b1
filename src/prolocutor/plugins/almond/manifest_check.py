"""Check the manifests that cards name: each can be read, and none contradicts another."""

from __future__ import annotations

from collections.abc import Iterable

from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.errors import ConfigError, MissingExtra
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.almond.programs.device_classes import DeviceClasses, classes_of


def check_manifests(loaded: Survey, findings: Findings) -> Iterable[tuple[str, str]]:
    """Record every manifest that is faulty; without Lark none is checked."""
    skills = [
        each
        for each in loaded.settings.pipeline.of(Stage.SKILL)
        if each.card_members.get("manifest")
    ]
    sound = []
    for skill in skills:
        try:
            classes_of(skill)
            sound.append(skill)
        except MissingExtra:
            return ()
        except ConfigError as error:
            findings.add(loaded.find(f"skills.{skill.name}.card.manifest"), error.what)
    try:
        DeviceClasses(sound)
    except ConfigError as error:
        findings.add(loaded.find(f"skills.{error.key}.card.manifest"), error.what)
    return ()
