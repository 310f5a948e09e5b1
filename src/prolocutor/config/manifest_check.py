"""The manifests that cards name: can they be read, and do they go together?"""

from __future__ import annotations

from prolocutor.almond.programs.device_classes import DeviceClasses, classes_of
from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.errors import ConfigError, MissingExtra
from prolocutor.pipeline.plan import Stage


def check_manifests(loaded: Survey, findings: Findings) -> None:
    """Record every manifest that cannot be taken; without Lark none is looked at."""
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
            return
        except ConfigError as error:
            findings.add(loaded.find(f"skills.{skill.name}.card.manifest"), error.what)
    try:
        DeviceClasses(sound)
    except ConfigError as error:
        findings.add(loaded.find(f"skills.{error.key}.card.manifest"), error.what)
