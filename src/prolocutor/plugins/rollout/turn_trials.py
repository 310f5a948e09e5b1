"""The trials of a pipeline in its turns: services that replace others, and unseen shadows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.observer import LoggedChoice
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep
from prolocutor.pipeline.turn import Turn
from prolocutor.pipeline.variants import TurnVariant
from prolocutor.plan.pipeline import Pipeline
from prolocutor.plugins.rollout.rollout_watch import RolloutWatch
from prolocutor.plugins.rollout.shadows import ShadowCall, Shadows
from prolocutor.plugins.rollout.trials import Trial, find_trials


class TurnTrials:
    """Chooses each person's services, and asks shadows; a `Variants`.

    A new service that is switched off is no longer tried, and a new service whose predecessor is
    switched off has replaced it: so stopping and promoting a trial are switches, stored and shared
    like all switches.
    """

    def __init__(self, pipeline: Pipeline, prepared: PreparedPipeline) -> None:
        self.trials = find_trials(pipeline)
        self.shadows = Shadows(prepared.strays)
        self.watch: RolloutWatch | None = None
        """The watch that logs the choices and stops harmful services."""
        self._steps = {(step.stage, step.name): step for step in prepared.steps}

    def join(self, assistant: Assistant) -> None:
        """Watch the outcomes of the trials from now on."""
        self.watch = RolloutWatch(assistant, self.trials)
        self.shadows.told = self.watch.shadow_answered
        assistant.observers.add(self.watch)

    async def aclose(self) -> None:
        """Stop asking shadows, and stop watching."""
        await self.shadows.aclose()
        if self.watch is not None:
            await self.watch.aclose()

    def probability(self, trial: Trial) -> float:
        """Return the probability that a person gets the new service now."""
        if self._steps[trial.stage, trial.name].off is not None or trial.instead_of is None:
            return 0.0
        return 1.0 if self._steps[trial.stage, trial.instead_of].off is not None else trial.share

    def choose_variant(self, user: str) -> TurnVariant:
        """Return the variant of the pipeline for a person."""
        instead: dict[str, str | None] = {}
        skipped: set[str] = set()
        choices: list[LoggedChoice] = []
        shadows: list[tuple[Trial, ServiceStep]] = []
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
                shadows.append((trial, step))
        on_ask = partial(self._note_shadows, shadows, set()) if shadows else None
        return TurnVariant(instead, frozenset(skipped), choices, on_ask)

    def _note_shadows(
        self,
        shadows: Sequence[tuple[Trial, ServiceStep]],
        noted: set[int],
        turn: Turn,
        asked: ServiceStep,
    ) -> None:
        """Keep the present request of a service for its shadows."""
        for trial, step in shadows:
            is_of_it = trial.stage is asked.stage and trial.instead_of in (None, asked.name)
            if is_of_it and step.index not in noted:
                noted.add(step.index)
                seen = turn.view.snapshot(step.window, step.only, step.rewrites, step.widens)
                extra = {**(turn.request_additions(step) or {}), "shadow": True}
                call = ShadowCall(step, turn.draft.opened.opening.turn_id, seen, extra)
                turn.afterwards.append(partial(self.shadows.ask, call))
