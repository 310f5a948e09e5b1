"""Check the manifests named by cards: each is readable, and they do not contradict each other."""

from __future__ import annotations

from collections.abc import Iterable

from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.errors import ConfigError, MissingExtra
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.almond.programs.device_classes import DeviceClasses, skill_classes


def check_manifests(loaded: Survey, findings: Findings) -> Iterable[tuple[str, str]]:
    """Record every faulty manifest; without Lark nothing is checked."""
    skills = [
        each
        for each in loaded.settings.pipeline.services_at(Stage.SKILL)
        if each.card_members.get("manifest")
    ]
    sound = []
    for skill in skills:
        try:
            skill_classes(skill)
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
