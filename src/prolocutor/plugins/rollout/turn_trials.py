"""The trials of a pipeline in its turns, and RolloutWatch, which logs and stops them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.sharing import is_shared
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.observer import LoggedChoice, TurnRecord
from prolocutor.contracts.store import NewRecord, Store
from prolocutor.dialog.ids import new_id
from prolocutor.errors import StoreError
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep
from prolocutor.pipeline.turn import Turn
from prolocutor.pipeline.variants import TurnVariant
from prolocutor.plan.pipeline import Pipeline, Stage
from prolocutor.plugins.rollout.rollout_desk import (
    LOGGED,
    SHADOWS,
    RolloutDesk,
    ShadowFigures,
    TrialRow,
    TrialStatus,
)
from prolocutor.plugins.rollout.shadows import ShadowAnswer, ShadowCall, Shadows
from prolocutor.plugins.rollout.trials import Trial, find_trials

log = logging.getLogger(__name__)

LOOK_INTERVAL: Final = 2.0
"""Seconds between two looks at the log, or ten times as long as one takes."""

MAX_REPLIES: Final = 1_000
"""The latest turns with whose replies the answers of shadows are compared."""

BY: Final = "its rollout"
"""Who stops what does harm."""


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
        service_step: ServiceStep,
    ) -> None:
        """Keep the present request of a service for its shadows."""
        for trial, step in shadows:
            is_of_it = trial.stage is service_step.stage and trial.instead_of in (
                None,
                service_step.name,
            )
            if is_of_it and step.index not in noted:
                noted.add(step.index)
                seen = turn.view.snapshot(step.window, step.only, step.rewrites, step.widens)
                extra = {**(turn.request_additions(step) or {}), "shadow": True}
                call = ShadowCall(step, turn.draft.opened.opening.turn_id, seen, extra)
                turn.afterwards.append(partial(self.shadows.ask, call))


class RolloutWatch:
    """Logs the choices of trials, and watches their outcomes.

    A thumb is a reward of 1 or 0. A turn without an answer, or with a failure of the chosen
    service, has the reward 0. Other turns do not count. Each replica watches; the first decision is
    stored, and the other replicas follow it.
    """

    def __init__(
        self,
        assistant: Assistant,
        trials: Sequence[Trial],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store: Store = assistant.store
        self._prepared = assistant.engine.prepared
        self._switches = assistant.switches
        self.desk = RolloutDesk(self._store, trials, self._switch, clock)
        self._names = {trial.name for trial in trials if trial.instead_of is not None}
        self._replies: OrderedDict[str, TurnRecord] = OrderedDict()
        self._shadows: dict[str, ShadowFigures] = {}
        self._changed: set[str] = set()
        self._writer = new_id() if is_shared(self._store) else "own"
        self._new = asyncio.Event()
        self._looking = asyncio.Lock()
        self._tasks = BackgroundTasks("rollout")

    # -- what happens -------------------------------------------------------------------------

    async def start(self, store: Store) -> None:
        """Begin to look."""
        if self._writer == "own":
            for key, body in (await store.records("", SHADOWS)).items():
                figures = msgspec.json.decode(body, type=ShadowFigures)
                self._shadows[key.rpartition("/")[0]] = figures
        if not self._tasks:
            self._tasks.start(self._look_often())

    async def refresh(self) -> None:
        """Look soon: a reply may have been rated, here or at another replica."""
        self._new.set()

    def take_lessons(self, record: TurnRecord) -> list[NewRecord]:
        """Return the choices of trials in a turn, to be stored with it."""
        failed = {service.name for service in record.services if service.failed}
        others = (choice for choice in record.choices if choice.service not in self._names)
        scores = {other.chosen: other.score for other in others}
        return [
            NewRecord(
                LOGGED,
                f"{choice.service}/{record.utt_id}",
                msgspec.json.encode(
                    TrialRow(
                        new=choice.chosen == choice.service,
                        probability=choice.probability,
                        score=scores.get(choice.chosen),
                        failed=record.unanswered or choice.chosen in failed,
                    )
                ),
            )
            for choice in record.choices
            if choice.service in self._names and choice.probability < 1.0
        ]

    def turn_ended(self, record: TurnRecord) -> None:
        """Remember a reply, and look soon if something failed."""
        self._replies[record.turn_id] = record
        if len(self._replies) > MAX_REPLIES:
            self._replies.popitem(last=False)
        if record.choices and (record.failures or record.unanswered):
            self._new.set()

    async def forget(self, user: str | None) -> None:
        """Forget the kept replies; the rows of the log are deleted with the person."""
        self._replies.clear()

    def shadow_answered(self, answer: ShadowAnswer) -> None:
        """Count the outcome of a shadow."""
        own = self._shadows.setdefault(answer.name, ShadowFigures())
        self._changed.add(answer.name)
        self._new.set()
        if answer.outcome == "skipped":
            own.left_out += 1
            return
        own.asked += 1
        own.seconds += answer.seconds
        own.cost += answer.cost
        setattr(own, answer.outcome, getattr(own, answer.outcome) + 1)
        record = self._replies.get(answer.turn_id)
        if answer.outcome == "done" and record is not None:
            agrees = _agrees(answer, record)
            own.compared += agrees is not None
            own.agreed += agrees is True

    async def aclose(self) -> None:
        """Write waiting figures, and stop."""
        await self._tasks.aclose()
        try:
            await self._write()
        except StoreError as error:
            log.warning("figures of shadows were lost: %s", error)

    # -- looking ------------------------------------------------------------------------------

    async def look(self) -> list[TrialStatus]:
        """Stop every harmful trial; return the states of all trials."""
        async with self._looking:
            await self._write()
            found = await self.desk.status()
            for one in found:
                if one.state == "running" and one.is_harmful:
                    log.warning("the rollout of %s is stopped: %s", one.name, _harm(one))
                    await self.desk.decide(one.name, "stop", f"{BY}: {_harm(one)}")
            return found

    async def _look_often(self) -> None:
        while True:
            await self._new.wait()
            self._new.clear()
            began = time.monotonic()
            try:
                await self.look()
            except StoreError as error:
                self._new.set()
                log.warning("the figures of trials cannot be read: %s", error)
            except Exception:
                log.exception("the figures of trials cannot be read")
            await asyncio.sleep(max(LOOK_INTERVAL, 10 * (time.monotonic() - began)))

    async def _write(self) -> None:
        """Write the figures of shadows."""
        while self._changed:
            name = self._changed.pop()
            body = msgspec.json.encode(self._shadows[name])
            await self._store.put_record("", SHADOWS, f"{name}/{self._writer}", body)

    async def _switch(self, stage: Stage, name: str, /, *, on: bool, by: str) -> None:
        for step in self._prepared.stage_services(stage):
            if step.name == name:
                await self._switches.switch(step, on=on, by=by)


def _harm(status: TrialStatus) -> str:
    """Return why a trial was stopped, in words."""
    estimates = status.estimates
    assert estimates is not None
    assert estimates.always is not None
    assert estimates.doubly_robust is not None
    low, high = (100 * abs(one) for one in estimates.always)
    turns = estimates.new.turns + estimates.old.turns
    return (
        f"right {100 * abs(estimates.doubly_robust.gain):.0f} points less often than"
        f" {status.instead_of} ({high:.0f} to {low:.0f}), by {turns} turns"
    )


def _agrees(answer: ShadowAnswer, record: TurnRecord) -> bool | None:
    """Return whether a shadow agrees with the reply or the choice; None if it is incomparable."""
    value = answer.value
    if answer.stage == Stage.SKILL_SELECTOR:
        return set(value) == set(record.asked) if isinstance(value, list) else None
    if answer.stage == Stage.RESPONSE_SELECTOR:
        chosen = value.get("skill_name") if isinstance(value, dict) else None
        return None if chosen is None else chosen == record.active_skill
    found = value if isinstance(value, list) else [value]
    texts = [one.get("text") for one in found if isinstance(one, dict)]
    if not texts:
        return None
    return record.response.strip().lower() in [str(text).strip().lower() for text in texts]
