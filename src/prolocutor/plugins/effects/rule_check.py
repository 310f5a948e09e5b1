"""Check what a file says of effects beyond its form: rules can be read, functions exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.errors import ConfigError
from prolocutor.functions import resolve
from prolocutor.plan.pipeline import Skill, Stage
from prolocutor.plugins.effects.fields import ApprovalRule


def check_effects(loaded: Survey, findings: Findings) -> Iterable[tuple[str, str]]:
    """Record rules that cannot be read and functions that do not exist.

    Return a warning for each skill that puts all that people say before them.
    """
    asks_always = []
    for skill in loaded.settings.pipeline.of(Stage.SKILL):
        if skill.acts:
            for key in ("rule", "reconcile", "preview"):
                try:
                    _check(skill, key)
                except ConfigError as error:
                    findings.add(loaded.find(f"skills.{skill.name}.{key}"), error.what)
        if skill.approve and not (skill.preview or skill.formatter):
            told = _NO_PREVIEW
            asks_always.append((f"skills.{skill.name}.approve", told))
    return asks_always


_NO_PREVIEW: Final = (
    "whatever a person says to it is put before them as something to approve; a preview can say, "
    "by null, that nothing would be done"
)


def _check(skill: Skill, key: str) -> None:
    given: Any = getattr(skill, key)
    if given is None:
        return
    if key == "rule":
        ApprovalRule(given)
    elif isinstance(given, str) and "//" not in given:
        resolve(given)
