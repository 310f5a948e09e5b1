"""The trials of a pipeline: services that are tried out beside others, and their persons."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

import msgspec

from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.errors import ConfigError
from prolocutor.names import suggest
from prolocutor.plan.pipeline import Pipeline, Shadow, Stage, TriedService

TRIED: Final = (Stage.SKILL, Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR)
"""The stages at which a service may be tried out."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A service that is tried out: as a canary in the place of `instead_of`, or as a shadow.

    `share` is the share of people for whom it is asked and shown: 0 for a mere shadow.
    """

    stage: Stage
    name: str
    instead_of: str | None = None
    share: float = 0.0
    shadow: Shadow | None = None

    def draws(self, user: str) -> bool:
        """Return whether a person is among those who get the new service.

        The result depends on the names alone, so it is the same after a restart and at every
        replica; a person in a share is also in every larger share.
        """
        key = "\0".join((self.name, self.instead_of or "", user))
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "little") < self.share * 2.0**64


def find_trials(pipeline: Pipeline) -> list[Trial]:
    """Return the trials of a pipeline; raise `ConfigError` for an impossible trial."""
    found: dict[tuple[Stage, str], Trial] = {}
    for stage in TRIED:
        for service in pipeline.services_at(stage):
            assert isinstance(service, TriedService)
            canary, path = service.canary, f"{stage}.{service.name}"
            if canary is not None:
                at, name = _place(pipeline, stage, service.name, canary.agent, path)
                if (at, name) in found and found[at, name].instead_of is not None:
                    raise ConfigError(f"{name} has two canaries", key=f"{path}.canary")
                _check_other(pipeline, at, name, canary.instead_of, path)
                known = found.get((at, name), Trial(stage=at, name=name))
                found[at, name] = msgspec.structs.replace(
                    known, instead_of=canary.instead_of, share=canary.share
                )
            if service.shadow is not None:
                _check_acts(service, path)
                known = found.get((stage, service.name), Trial(stage=stage, name=service.name))
                found[stage, service.name] = msgspec.structs.replace(known, shadow=service.shadow)
    _check_pairs([*found.values()])
    return [*found.values()]


def _place(pipeline: Pipeline, stage: Stage, name: str, agent: str, path: str) -> tuple[Stage, str]:
    """Return the stage and name of a canary's new service."""
    if not agent or agent == name:
        return stage, name
    skills = [service.name for service in pipeline.services_at(Stage.SKILL)]
    if agent not in skills:
        what = f"no skill is called {agent!r}; {suggest(agent, skills)}"
        raise ConfigError(what, key=f"{path}.canary.agent")
    return Stage.SKILL, agent


def _check_other(pipeline: Pipeline, stage: Stage, name: str, other: str, path: str) -> None:
    others = [service.name for service in pipeline.services_at(stage) if service.name != name]
    if other not in others:
        what = f"{stage} has no other service {other!r}"
        hint = f"; {suggest(other, others)}" if others else ""
        raise ConfigError(what + hint, key=f"{path}.canary.instead_of")


def _check_acts(service: TriedService, path: str) -> None:
    """Refuse a shadow that acts in the world: it would act without a person's wish."""
    if getattr(service, "acts", False) or not service.rerun or "manifest" in service.card_members:
        why = "its card has a manifest of actions" if service.rerun else "rerun: false"
        what = f"{service.name} acts ({why}), and a shadow is asked without anybody's wish"
        raise ConfigError(f"{what}: try it out as a canary", key=f"{path}.shadow")


def _check_pairs(trials: list[Trial]) -> None:
    """Refuse two canaries of a service, and canaries of canaries: they could not be compared."""
    new = {(trial.stage, trial.name) for trial in trials}
    seen = set()
    for trial in trials:
        if trial.instead_of is None:
            continue
        place, path = (
            (trial.stage, trial.instead_of),
            f"{trial.stage}.{trial.name}.canary.instead_of",
        )
        if place in seen:
            raise ConfigError(f"{trial.instead_of} has another canary already", key=path)
        if place in new:
            raise ConfigError(f"{trial.instead_of} is tried out itself", key=path)
        seen.add(place)


def check_trials(loaded: Survey, findings: Findings) -> Iterable[tuple[str, str]]:
    """Record impossible trials."""
    try:
        find_trials(loaded.settings.pipeline)
    except ConfigError as error:
        findings.add(loaded.find(error.key or ""), error.what)
    return ()
