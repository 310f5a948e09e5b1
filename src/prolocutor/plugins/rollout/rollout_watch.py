"""RolloutWatch: logs the rewards of an assistant's trials, and stops those that do harm."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Any, Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.person_access import shared_store
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.observer import NO_ANSWER, LoggedChoice, Rated, TurnRecord
from prolocutor.contracts.rollout import ShadowAnswer
from prolocutor.contracts.store import Store
from prolocutor.contracts.store.turn_record_store import KeepsTurnRecords
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.thumbs import thumb
from prolocutor.errors import StoreError
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.rollout.rollout_desk import (
    LOGGED,
    MOST,
    SHADOWS,
    LoggedReward,
    RolloutDesk,
    ShadowFigures,
    TrialStatus,
    forget_person,
    person_key,
)

log = logging.getLogger(__name__)

PAUSE: Final = 2.0
"""Seconds between two looks at the log, or ten times as long as one takes."""

WAITING: Final = 10_000
"""Turns whose rating may still come, and that are remembered; others are looked up."""

MOST_NEWS: Final = 1_000
"""Rewards that wait to be written; beyond that the latest are left out."""

BY: Final = "its rollout"
"""Who stops what does harm."""


class RolloutWatch:
    """Logs a reward for each turn of a trial whose outcome is known, and looks whether it harms.

    A thumb is a reward of 1 or 0. A turn without an answer, or in which the service that was chosen
    failed, has 0 at once. Other turns do not count. Each replica looks; the decision of the first
    is stored, and the others find it made. A `contracts.rollout.RolloutJudge`.
    """

    def __init__(self, assistant: Assistant, clock: Callable[[], float] = time.time) -> None:
        self._store: Store = assistant.store
        self._prepared = assistant.engine.prepared
        self._switches = assistant.switches
        trials = self._prepared.trials.trials
        self.desk = RolloutDesk(self._store, trials, self._switch, clock)
        self._names = {one.name for one in trials if one.instead_of is not None}
        self._clock = clock
        self._news: dict[str, LoggedReward] = {}
        self._unrated: OrderedDict[str, list[LoggedReward]] = OrderedDict()
        self._replies: OrderedDict[str, TurnRecord] = OrderedDict()
        self._shadows: dict[str, ShadowFigures] = {}
        self._changed: set[str] = set()
        self._writer = "own" if shared_store(self._store) is None else new_id()
        self._new = asyncio.Event()
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
        """Others' rewards are read at the next look."""

    def turn_ended(self, record: TurnRecord) -> None:
        """Log what is known of a turn at its end, and remember what a rating may say."""
        self._remember(self._replies, record.turn_id, record)
        rewards = self._of(record)
        if not rewards:
            return
        failed = {one.name for one in record.services if one.failed}
        waiting = []
        for choice, reward in rewards:
            if record.by in NO_ANSWER or choice.chosen in failed:
                self._log(record.utt_id, msgspec.structs.replace(reward, reward=0.0))
            waiting.append(reward)
        self._remember(self._unrated, record.utt_id, waiting)

    def breaker_changed(self, service: str, state: str) -> None:
        """Breakers are no rewards."""

    def shadow_answered(self, answer: ShadowAnswer) -> None:
        """Count what became of a shadow."""
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

    async def reply_rated(self, rated: Rated) -> None:
        """Log the reward that a rating is."""
        is_up = thumb(rated.rating)
        if is_up is None:
            return
        rewards = self._unrated.get(rated.utt_id)
        if rewards is None:
            rewards = await self._looked_up(rated.utt_id)
        for one in rewards:
            self._log(rated.utt_id, msgspec.structs.replace(one, reward=float(is_up)))

    async def person_deleted(self, user: str) -> None:
        """Forget what a person's turns were worth."""
        person = person_key(user)
        self._news = {key: one for key, one in self._news.items() if one.person != person}
        self._unrated.clear()
        await forget_person(self._store, user)

    async def replies_deleted(self, user: str | None = None) -> None:
        """Forget what replies were worth that are no more."""
        await forget_person(self._store, None)

    async def questions_labelled(self, texts: Collection[str]) -> None:
        """Labels are of questions, not of turns."""

    async def aclose(self) -> None:
        """Write what waits, and stop."""
        await self._tasks.aclose()
        try:
            await self._write()
        except StoreError as error:
            log.warning("rewards of trials were lost: %s", error)

    # -- looking ------------------------------------------------------------------------------

    async def look(self) -> list[TrialStatus]:
        """Write what waits, and stop every trial that does harm; return how they stand."""
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
                log.warning("trials cannot be looked at: %s", error)
            except Exception:
                log.exception("trials cannot be looked at")
            await asyncio.sleep(max(PAUSE, 10 * (time.monotonic() - began)))

    async def _write(self) -> None:
        while self._news:
            key, reward = next(iter(self._news.items()))
            await self._store.put_record("", LOGGED, key, msgspec.json.encode(reward))
            if self._news.get(key) is reward:
                del self._news[key]
        while self._changed:
            name = next(iter(self._changed))
            body = msgspec.json.encode(self._shadows[name])
            await self._store.put_record("", SHADOWS, f"{name}/{self._writer}", body)
            self._changed.discard(name)
        kept = await self._store.records("", LOGGED)
        for key in list(kept)[: max(0, len(kept) - MOST)]:
            await self._store.delete_record("", LOGGED, key)

    # -- rewards ------------------------------------------------------------------------------

    def _log(self, utt_id: str, reward: LoggedReward) -> None:
        key = f"{reward.trial}/{utt_id}"
        if key in self._news or len(self._news) < MOST_NEWS:
            self._news[key] = reward
            self._new.set()

    def _of(self, record: TurnRecord) -> list[tuple[LoggedChoice, LoggedReward]]:
        """Return the trials that a turn is of, with rewards that are not known yet."""
        scores = {one.chosen: one.score for one in record.choices if one.service not in self._names}
        return [
            (
                choice,
                LoggedReward(
                    trial=choice.service,
                    person=person_key(record.user),
                    new=choice.chosen == choice.service,
                    probability=choice.probability,
                    reward=-1.0,
                    score=scores.get(choice.chosen),
                    at=record.started,
                ),
            )
            for choice in record.choices
            if choice.service in self._names and choice.probability < 1.0
        ]

    async def _looked_up(self, utt_id: str) -> list[LoggedReward]:
        """Return the trials of a turn of before, or of another replica."""
        if not isinstance(self._store, KeepsTurnRecords):
            return []
        kept = await self._store.turn_records.turn(utt_id)
        if kept is None or kept.record is None:
            return []
        return [reward for _, reward in self._of(kept.record)]

    def _remember(self, kept: OrderedDict[str, Any], key: str, value: object) -> None:
        kept[key] = value
        if len(kept) > WAITING:
            kept.popitem(last=False)

    async def _switch(self, stage: Stage, name: str, /, *, on: bool, by: str) -> None:
        for step in self._prepared.of(stage):
            if step.name == name:
                await self._switches.switch(step, on=on, by=by)


def _harm(status: TrialStatus) -> str:
    """Return why a trial was stopped, in words."""
    found = status.estimates
    assert found is not None
    assert found.always is not None
    assert found.doubly_robust is not None
    low, high = (100 * abs(one) for one in found.always)
    turns = found.new.turns + found.old.turns
    return (
        f"right {100 * abs(found.doubly_robust.gain):.0f} points less often than"
        f" {status.instead_of} ({high:.0f} to {low:.0f}), by {turns} turns"
    )


def _agrees(answer: ShadowAnswer, record: TurnRecord) -> bool | None:
    """Return whether a shadow said or chose what was; None where that cannot be told."""
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
    return record.response.strip().lower() in [str(one).strip().lower() for one in texts]
