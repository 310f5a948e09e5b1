"""What is wrong with the routers and rankers that a file names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.errors import BadInput, ConfigError, NotFound
from prolocutor.names import did_you_mean
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.pairing.abstention import CLARIFY, FALLBACK, PERSON
from prolocutor.plugins.pairing.endpoints import connector_of
from prolocutor.plugins.pairing.method_catalog import method_of
from prolocutor.plugins.pairing.selector_settings import (
    RankerSettings,
    RouterSettings,
    SelectorSettings,
    check_loss,
    check_method,
)


def check_selectors(loaded: Survey, findings: Findings) -> Iterator[tuple[str, str]]:
    """Record routers and rankers that cannot be made; yield warnings, each with its key."""
    targets: list[tuple[str, Any]] = [
        (written.path, written.service.target) for written in loaded.services
    ]
    ranker = next((one for _, one in targets if isinstance(one, RankerSettings)), None)
    names = {skill.name for skill in loaded.settings.pipeline.of(Stage.SKILL)}
    for path, target in targets:
        if isinstance(target, SelectorSettings):
            _check_method(path, target, loaded, findings)
        if isinstance(target, RankerSettings):
            _check_rule(path, target, names, loaded, findings)
        if isinstance(target, RouterSettings):
            yield from _check_budget(path, target, ranker, loaded, findings)


def _check_method(path: str, target: SelectorSettings, loaded: Survey, findings: Findings) -> None:
    try:
        check_method(target)
        if target.connector is not None and target.endpoint is not None:
            asks = "chat" in method_of(target.method, target.role).needs
            verb = "complete" if asks else "embed"
            connector_of(target.connector, target.endpoint, name=target.role, verb=verb)
    except (ConfigError, BadInput, NotFound) as error:
        about = error.key if isinstance(error, ConfigError) else error.field
        hinted = isinstance(target, RouterSettings)
        known = {"hints": hinted, "encoder": target.encoder is not None}
        key = about if about is not None and known.get(about) else target.role
        what = error.what if isinstance(error, ConfigError) and error.file is None else str(error)
        findings.add(loaded.find(f"{path}.{key}"), what)


def _check_rule(
    path: str, target: RankerSettings, names: set[str], loaded: Survey, findings: Findings
) -> None:
    skill = target.rule.skill
    if skill is not None and skill not in names:
        hint = did_you_mean(skill, sorted({*names, FALLBACK, CLARIFY, PERSON}))
        findings.add(loaded.find(f"{path}.unsure.then"), f"no skill is called '{skill}'", hint)


def _check_budget(
    path: str,
    target: RouterSettings,
    ranker: RankerSettings | None,
    loaded: Survey,
    findings: Findings,
) -> Iterator[tuple[str, str]]:
    try:
        curve = check_loss(target, ranker)
    except (ConfigError, NotFound) as error:
        findings.add(loaded.find(f"{path}.budget"), str(error))
        return
    if curve is not None and curve.router != target.method:
        what = (
            f"the loss was measured while the router {curve.router} said whom to ask, and here"
            f" {target.method} does: train the ranker with --prior {target.method}"
        )
        yield f"{path}.budget", what
