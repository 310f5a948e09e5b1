"""Check what a file says of effects beyond its form: rules can be read, functions are there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.errors import ConfigError
from prolocutor.functions import resolve
from prolocutor.plan.pipeline import Skill, Stage
from prolocutor.plugins.effects.fields import ApprovalRule


def check_effects(loaded: Survey, findings: Findings) -> Iterable[tuple[str, str]]:
    """Record rules that are none, and functions that are not there."""
    for skill in loaded.settings.pipeline.of(Stage.SKILL):
        if skill.acts:
            for key in ("rule", "reconcile", "preview"):
                try:
                    _check(skill, key)
                except ConfigError as error:
                    findings.add(loaded.find(f"skills.{skill.name}.{key}"), error.what)
    return ()


def _check(skill: Skill, key: str) -> None:
    given: Any = getattr(skill, key)
    if given is None:
        return
    if key == "rule":
        ApprovalRule(given)
    elif isinstance(given, str) and "//" not in given:
        resolve(given)
