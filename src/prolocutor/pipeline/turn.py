"""One turn through the graph: services start the moment their predecessors have settled."""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import Any, Final

from prolocutor.contracts.observer import Outcome, ServiceRecord
from prolocutor.contracts.selection import Selection
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ServiceError, ServiceLate, ServiceRaised
from prolocutor.pipeline.asking import Asking, requests_for
from prolocutor.pipeline.calls import RunningCalls
from prolocutor.pipeline.draft import Draft, DraftHypothesis
from prolocutor.pipeline.interpreting import INTERPRETERS
from prolocutor.pipeline.plan import Stage
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep
from prolocutor.pipeline.skills import CandidateCalls, SkillCalls
from prolocutor.pipeline.waves import Wave, Waves

PREFERENCE: Final = 0.15
"""By how much another skill must be more confident than the preferred one to win."""


class Turn:
    """One turn: what has settled (`outcomes`, by index), what runs, what was said (`draft`)."""

    def __init__(
        self, prepared: PreparedPipeline, begun: OpenedTurn, start: TurnStart, started: float
    ) -> None:
        number = len(prepared.steps) + 1
        self.draft = Draft(begun, prepared.order, prepared.skills, start.heard)
        self.waves = Waves(prepared.skills, start.excluded)
        self.skills = prepared.skills
        self.max_attributes = prepared.max_attributes
        self.least = start.least
        self.faults: list[dict[str, str]] = []
        self.remarks: list[dict[str, str]] = []
        self.outcomes: list[Outcome | None] = [None] * number
        self._prepared = prepared
        self._loop = asyncio.get_running_loop()
        self._start = start
        forced = start.forced_skill
        self._forced = forced if forced in prepared.skill_steps else None
        self._started = started
        self._turn_id = begun.opening.turn_id
        self.strays = prepared.strays
        self._calls: RunningCalls[tuple[Asking, int]] = RunningCalls(self._loop, prepared.strays)
        self._candidate_calls = CandidateCalls(prepared.steps, prepared.candidate_steps)
        self._skills = SkillCalls(prepared.skill_steps, self._candidate_calls)
        self._missing = prepared.missing.copy()
        self._errors: dict[int, ServiceError] = {}
        self._begins: dict[int, float] = {}
        self._ends: dict[int, float] = {}
        self._askings: dict[int, list[Asking]] = {}
        self._ready: deque[ServiceStep] = deque(prepared.roots)
        self._selectors = prepared.selectors
        self._unsettled = len(prepared.steps)
        self._reply_missing = len(prepared.before_reply)
        if zone := start.input.timezone:
            told = {"timezone": zone}
            self.draft.know(told, self.max_attributes, lambda what: self.fault("client", what))

    async def run(self) -> None:
        """Take the turn to its end: every service settled, and something said."""
        if self._forced is not None:
            self.waves.propose("", Selection([self._forced]), lambda what: None)
        if not self._selectors or self._forced is not None:
            self._skills.begin(self, None)
        end = self._started + self._prepared.limits.deadline
        try:
            self._work()
            while self._unsettled or self.draft.reply is None:
                if self._calls.idle and not self._skills.release(self):
                    self._stop()
                elif not self._ready:
                    await self._calls.wait(end)
                self._work()
                if monotonic() >= end:
                    self._stop()
        finally:
            self._calls.close()

    def records(self) -> list[ServiceRecord]:
        """Tell what became of every service; the last chance only if it was asked."""
        steps = self._prepared.every()
        return [
            self._record(step)
            for step in steps
            if step.stage is not Stage.LAST_CHANCE or self.asked(step)
        ]

    def asked_skills(self) -> list[str]:
        """Name the skills that were asked."""
        return [step.name for step in self._prepared.skill_steps.values() if self.asked(step)]

    # -- what the stages may do with the turn -----------------------------------------------

    def ask(
        self,
        step: ServiceStep,
        wave: Wave | None = None,
        candidates: list[DraftHypothesis] | None = None,
    ) -> None:
        """Ask a service, by as many calls as it takes, if there is time left for its stage."""
        asking = Asking(step, wave, candidates)
        now = monotonic()
        seconds = min(step.timeout, self._started + step.end - now)
        if seconds <= 0 or (not step.service.rerun and self.draft.begun.attempt > 1):
            self._over(asking, "skipped", None)
            return
        if step.index not in self._begins:
            self._begins[step.index] = now
            self._askings[step.index] = []
        self._askings[step.index].append(asking)
        extra = self._extra_for(step)
        try:
            requests = requests_for(asking, self.draft, self._turn_id, seconds, extra)
        except BaseException as error:
            failure = error if isinstance(error, BadReply) else _raised("formatter", error)
            self._over(asking, "failed", failure)
            return
        asking.expect(len(requests))
        if not requests:
            self._answered(asking)
        guard, calls = step.guard, self._calls
        for position, request in enumerate(requests):
            token = (asking, position)
            if guard.immediate:
                calls.answer(guard.answer, request, token)
                continue
            call = calls.start(guard.call(request), token, seconds, now)
            if not call.over:
                asking.calls.append(call)

    def settle(
        self, step: ServiceStep, outcome: Outcome, error: ServiceError | None = None
    ) -> None:
        """Note a service's outcome and let go those that waited for it."""
        index = step.index
        if self.outcomes[index] is not None:
            return
        self.outcomes[index] = outcome
        if error is not None:
            self._errors[index] = error
        self._ends[index] = monotonic()
        self._unsettled -= 1
        if step.stage is Stage.SKILL:
            if outcome != "skipped" or self.waves.wants(step.name):
                self._skills.settled(self, step)
        elif step.stage is Stage.SKILL_SELECTOR:
            self._selectors -= 1
            if not self._selectors:
                self._skills.begin(self, self._start.preferred)
        missing = self._missing
        for other in step.then:
            missing[other] -= 1
            if not missing[other]:
                self._ready.append(self._prepared.steps[other])
        if index in self._prepared.before_candidates:
            self._candidate_calls.advance(self)
        if index in self._prepared.before_reply:
            self._reply_missing -= 1
            if not self._reply_missing:
                self._give_reply()

    def drop(self, step: ServiceStep) -> None:
        """Cancel a running service whose answer is no longer wanted."""
        for asking in self._askings[step.index]:
            for call in asking.calls:
                self._calls.drop(call)
        step.guard.breaker.undecided()
        self.settle(step, "skipped")

    def asked(self, step: ServiceStep) -> bool:
        """Return whether a service was called."""
        return step.index in self._begins

    def seconds_until(self, stage: Stage) -> float:
        """Return the seconds until a stage is over."""
        return self._started + self._prepared.limits.end_of(stage) - monotonic()

    def seconds_left(self, step: ServiceStep) -> float:
        """Return the seconds until the stage of a service is over."""
        return self._started + step.end - monotonic()

    def fault(self, service: str, what: str) -> None:
        """Record something wrong that does not make a whole reply useless."""
        self.faults.append({"service": service, "what": what})

    def remark(self, service: str, what: str) -> None:
        """Record something that is as it should be, and that who looks at the turn asks for."""
        self.remarks.append({"service": service, "what": what})

    # -- the loop ---------------------------------------------------------------------------

    def _work(self) -> None:
        """Start what is ready and take in what has settled, until nothing is left to do."""
        settled, ready = self._calls.settled, self._ready
        while ready or settled:
            if ready:
                self._enter(ready.popleft())
                continue
            (asking, position), outcome = settled.popleft()
            self._take(asking, position, outcome)

    def _stop(self) -> None:
        """Settle whatever is left at the deadline; every stage ends before, so this is a net."""
        self.waves.close()
        for step in self._prepared.steps:
            self.settle(step, "skipped", ServiceLate("the turn was over"))
        if self.draft.reply is None:
            self._fall_back()
        self._ready.clear()

    def _enter(self, step: ServiceStep) -> None:
        """All that a service waits for has settled: call it, hold it or skip it."""
        if self.outcomes[step.index] is not None:
            return
        if step.conditional and self._must_skip(step):
            self.settle(step, "skipped")
        elif step.stage is Stage.SKILL:
            self._skills.enter(self, step)
        else:
            self.ask(step)

    def _must_skip(self, step: ServiceStep) -> bool:
        if step.requires and any(self.outcomes[other] != "done" for other in step.requires):
            return True
        if step.stage is Stage.SKILL_SELECTOR:
            return self._forced is not None
        if step.stage is Stage.RESPONSE_SELECTOR:
            draft = self.draft
            return draft.reply is not None or draft.abstained or not draft.candidates()
        return False

    def _let_go(self, index: int) -> None:
        self._missing[index] -= 1
        if self._missing[index] == 0:
            self._ready.append(self._prepared.steps[index])

    def _take(self, asking: Asking, position: int, outcome: Any) -> None:
        """One call has settled."""
        step = asking.step
        if self.outcomes[step.index] is not None:
            return  # it was dropped in the meantime
        if step.format_reply is not None and isinstance(outcome, Plain):
            outcome = reshaped(step, outcome)
        if not isinstance(outcome, Plain):
            if not isinstance(outcome, ServiceError):
                outcome = ServiceRaised(f"its connector gave a {type(outcome).__name__}")
            step.guard.note(outcome)
            asking.failed += 1
        asking.replies[position] = outcome
        asking.left -= 1
        if not asking.left:
            self._answered(asking)

    def _answered(self, asking: Asking) -> None:
        """All calls of a service have settled: read its replies into its slot."""
        step, failed = asking.step, asking.failed
        if failed and failed == len(asking.replies):
            failures = asking.failures()
            late = all(isinstance(failure, ServiceLate) for failure in failures)
            self._over(asking, "late" if late else "failed", failures[0])
            return
        try:
            INTERPRETERS[step.stage](self, asking)
        except BadReply as error:
            step.guard.note(error)
            self._over(asking, "failed", error)
            return
        if failed:
            for failure in asking.failures():
                self.fault(step.name, str(failure))
        else:
            step.guard.note(None)
        self._over(asking, "done", None)

    def _over(self, asking: Asking, outcome: Outcome, error: ServiceError | None) -> None:
        """A service has answered, or never will."""
        step = asking.step
        if asking.wave is not None:
            self._candidate_calls.annotated(self, step, asking.wave, outcome, error)
        elif step.stage is Stage.LAST_CHANCE:
            self._last_chance_over(step, outcome, error)
        else:
            self.settle(step, outcome, error)

    # -- the reply --------------------------------------------------------------------------

    def _give_reply(self) -> None:
        """The ordinary way has come to its end; where it failed, take the next one on the list."""
        last_chance = self._prepared.last_chance if self._start.otherwise is None else None
        failed = self._prepared.has_response_selector or not self.draft.candidates()
        if self.draft.reply is None and failed and last_chance is not None:
            self.ask(last_chance)
            return
        if self.draft.reply is None:
            self._fall_back()
        self._replied()

    def _extra_for(self, step: ServiceStep) -> dict[str, Any] | None:
        """Return what a request says beside the dialog: the answer, or who is preferred."""
        if step.name == self._forced:
            return self._start.extra
        if step.selecting and self._forced is not None:
            return {"forced": self._forced}
        if step.selecting and self._start.preferred is not None:
            return {"preferred": self._start.preferred}
        return None

    def _last_chance_over(
        self, step: ServiceStep, outcome: Outcome, error: ServiceError | None
    ) -> None:
        self.outcomes[step.index] = outcome
        if error is not None:
            self._errors[step.index] = error
        self._ends[step.index] = monotonic()
        if self.draft.reply is None:
            self._fall_back()
        self._replied()

    def _fall_back(self) -> None:
        """The last two ways: the most confident hypothesis, else the words for then."""
        chosen = self.draft.choose_most_confident(
            self._start.preferred,
            PREFERENCE,
            self.max_attributes,
            lambda what: self.fault("reply", what),
        )
        if chosen:
            return
        if self._start.otherwise is not None:
            self.draft.say_itself(self._start.otherwise)
        else:
            self.draft.say("fallback", "", self._prepared.fallback, {})

    def _replied(self) -> None:
        for step in self._prepared.after_reply:
            self._let_go(step.index)

    def _record(self, step: ServiceStep) -> ServiceRecord:
        index = step.index
        error, begin, end = self._errors.get(index), self._begins.get(index), self._ends.get(index)
        return ServiceRecord(
            name=step.name,
            stage=step.stage.value,
            outcome=self.outcomes[index] or "skipped",
            started=None if begin is None else begin - self._started,
            ended=None if end is None else end - self._started,
            calls=sum(len(asking.replies) for asking in self._askings.get(index, ())),
            error=str(error) if error else None,
            code=error.code if error else None,
        )


def reshaped(step: ServiceStep, reply: Plain) -> Plain | ServiceError:
    """Apply a response formatter; what it does wrong is its service's failure."""
    assert step.format_reply is not None
    try:
        return plain.check(step.format_reply(reply.value))
    except ServiceError as error:
        return error
    except BaseException as error:
        return _raised("response formatter", error)


def _raised(who: str, error: BaseException) -> ServiceRaised:
    return ServiceRaised(f"{who}: {type(error).__name__}: {error}")
