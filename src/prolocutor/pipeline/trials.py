"""The trials of a pipeline in its turns: who is asked in whose place, and who is asked unseen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import msgspec

from prolocutor.contracts.observer import LoggedChoice
from prolocutor.plan.pipeline import Pipeline, Stage
from prolocutor.plan.trials import Trial, trials_of


class TriedStep(Protocol):
    """A service in its place, as far as trials look at it."""

    name: str
    stage: Stage
    index: int
    off: str | None


class TurnVariant(msgspec.Struct, frozen=True, eq=False):
    """The services that the trials leave to one person.

    `instead` says for skills who is asked in whose place, None for those that are not asked;
    `skipped` are the services that are not asked. `choices` are what was drawn; `shadows` are the
    trials of which the new service is asked after the reply, with its index.
    """

    instead: Mapping[str, str | None] = {}
    skipped: frozenset[str] = frozenset()
    choices: Sequence[LoggedChoice] = ()
    shadows: Sequence[tuple[Trial, int]] = ()

    def excluded(self, waiting: str | None, preferred: str | None) -> frozenset[str]:
        """Return the skills that are not to be asked; who is `preferred` goes on in any case."""
        if not self.skipped and waiting is None:
            return self.skipped
        return self.skipped - {preferred or ""} | ({waiting} if waiting is not None else set())

    def shadows_of(self, step: TriedStep) -> list[int]:
        """Return the indices of the shadows that are asked where `step` is."""
        return [
            index
            for trial, index in self.shadows
            if trial.stage is step.stage and trial.instead_of in (None, step.name)
        ]


NOT_TRIED: Final = TurnVariant()
"""What turns have where nothing is tried out."""


class TurnTrials:
    """Says for each person which services are asked.

    A new service that is switched off is not tried any more, and one whose predecessor is switched
    off has taken its place: so stopping and promoting a trial are switches, stored and shared as
    all are.
    """

    def __init__(self, pipeline: Pipeline, steps: Sequence[TriedStep]) -> None:
        self.trials = trials_of(pipeline)
        self._steps = {(one.stage, one.name): one for one in steps}

    def __bool__(self) -> bool:
        return bool(self.trials)

    def probability(self, trial: Trial) -> float:
        """Return the probability that a person gets the new service now."""
        if self._steps[trial.stage, trial.name].off is not None or trial.instead_of is None:
            return 0.0
        return 1.0 if self._steps[trial.stage, trial.instead_of].off is not None else trial.share

    def of(self, user: str) -> TurnVariant:
        """Return what the trials leave to a person."""
        instead: dict[str, str | None] = {}
        skipped: set[str] = set()
        choices: list[LoggedChoice] = []
        shadows: list[tuple[Trial, int]] = []
        for trial in self.trials:
            new, old, share = trial.name, trial.instead_of, self.probability(trial)
            step = self._steps[trial.stage, new]
            is_new = share >= 1.0 or (share > 0.0 and trial.draws(user))
            asked, left = (new, old) if is_new else (old, new)
            if left is not None:
                skipped.add(left)
                instead[left] = asked
            if asked is not None and left is not None:
                probability = share if is_new else 1.0 - share
                choices.append(
                    LoggedChoice(service=new, chosen=asked, probability=probability, other=left)
                )
            if trial.shadow is not None and not is_new and step.off is None:
                shadows.append((trial, step.index))
        return TurnVariant(instead, frozenset(skipped), choices, shadows)
