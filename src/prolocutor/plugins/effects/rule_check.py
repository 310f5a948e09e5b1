"""Check the settings of effects in a file beyond their form: rules are valid, functions exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.errors import ConfigError
from prolocutor.functions import resolve
from prolocutor.plan.pipeline import Skill, Stage
from prolocutor.plugins.effects.fields import ApprovalRule

_CHOOSE: Final = "a skill_selector asks it only where it is meant, a preview says null where not"
_PUT_TO_PERSONS: Final = (
    "nothing says when a person wants it: all that they say, but courtesy and questions, is put"
    f" before them to approve unless another skill is surer; {_CHOOSE}"
)
_ASKED_ALWAYS: Final = f"it is sent all that people say, also to other skills; {_CHOOSE}"


def check_effects(loaded: Survey, findings: Findings) -> Iterable[tuple[str, str]]:
    """Record unreadable rules and missing functions.

    Return a warning for each skill without any setting that tells when a person wants it.
    """
    pipeline = loaded.settings.pipeline
    skills, warnings = pipeline.services_at(Stage.SKILL), []
    selected = bool(pipeline.services_at(Stage.SKILL_SELECTOR))
    for skill in skills:
        if not skill.acts:
            continue
        for key in ("rule", "reconcile", "preview"):
            try:
                _check(skill, key)
            except ConfigError as error:
                findings.add(loaded.find(f"skills.{skill.name}.{key}"), error.what)
        if skill.preview or selected:
            continue
        if skill.approve:
            warnings.append((f"skills.{skill.name}.approve", _PUT_TO_PERSONS))
        elif len(skills) > 1:
            warnings.append((f"skills.{skill.name}.acts", _ASKED_ALWAYS))
    return warnings


def _check(skill: Skill, key: str) -> None:
    given: Any = getattr(skill, key)
    if given is None:
        return
    if key == "rule":
        ApprovalRule(given)
    elif isinstance(given, str) and "//" not in given:
        resolve(given)
