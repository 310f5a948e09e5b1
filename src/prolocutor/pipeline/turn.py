"""One turn through the graph: services start the moment their predecessors have settled."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from prolocutor.contracts.observer import Outcome, ServiceRecord
from prolocutor.contracts.selection import Enough
from prolocutor.contracts.store import Begun
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ServiceError, ServiceLate, ServiceRaised
from prolocutor.pipeline import replies
from prolocutor.pipeline.calls import Call, Calls
from prolocutor.pipeline.requests import PayloadRequest, StateRequest
from prolocutor.pipeline.stages import Stage
from prolocutor.pipeline.updates import Candidate, Draft
from prolocutor.pipeline.waves import Wave, Waves

if TYPE_CHECKING:
    from prolocutor.pipeline.engine import Engine, Step

PREFERENCE: Final = 0.15
"""By how much another skill must be more confident than the preferred one to win."""


class Asking:
    """One service being asked in one turn, by one call or several; `replies` by position."""

    __slots__ = ("calls", "candidates", "left", "replies", "step", "wave")

    def __init__(
        self, step: Step, number: int, wave: Wave | None, candidates: list[Candidate]
    ) -> None:
        self.step = step
        self.wave = wave
        self.candidates = candidates
        self.left = number
        self.replies: list[Plain | ServiceError | None] = [None] * number
        self.calls: list[Call[Token]] = []


Token = tuple[Asking, int]


class Turn:
    """One turn: what has settled, what is running, what has been said (`draft`)."""

    def __init__(self, engine: Engine, begun: Begun, start: TurnStart, started: float) -> None:
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._start = start
        self._started = started
        self._turn_id = begun.beginning.turn_id
        self._tail = b',"turn_id":"%b"' % self._turn_id.encode()
        self.draft = Draft(begun, engine.order, engine.skills)
        self.faults: list[dict[str, str]] = []
        self._calls: Calls[Token] = Calls(self._loop, engine.strays)
        self._waves = Waves(engine.skills)
        number = len(engine.steps)
        self._missing = engine.missing.copy()
        self._outcomes: list[Outcome | None] = [None] * number
        self._errors: list[ServiceError | None] = [None] * number
        self._begins: list[float | None] = [None] * number
        self._ends: list[float | None] = [None] * number
        self._counts = [0] * number
        self._askings: dict[int, Asking] = {}
        self._ready: deque[Step] = deque(engine.roots)
        self._held: dict[str, Step] = {}
        self._selectors = engine.selectors
        self._selecting = True
        self._unsettled = number
        self._reply_missing = len(engine.before_reply)

    # -- the loop ---------------------------------------------------------------------------

    async def run(self) -> None:
        """Take the turn to its end: every service settled, and something said."""
        forced = self._start.forced_skill
        if forced in self._engine.skill_steps:
            self._waves.propose([forced], None, self._fault_of(forced))
        if not self._selectors or forced in self._engine.skill_steps:
            self._begin_selection()
        end = self._started + self._engine.limits.deadline
        try:
            self._work()
            while self._unsettled or self.draft.reply is None:
                await self._calls.wait(end)
                self._work()
                if self._loop.time() >= end:
                    self._stop()
        finally:
            self._calls.close()

    def records(self) -> list[ServiceRecord]:
        """Tell what became of every service."""
        return [self._record(step) for step in self._engine.steps]

    def asked(self) -> list[str]:
        """Name the skills that were asked."""
        steps = self._engine.skill_steps.values()
        return [step.name for step in steps if self._begins[step.index] is not None]

    def _work(self) -> None:
        """Start what is ready and take in what has settled, until nothing is left to do."""
        settled = self._calls.settled
        while self._ready or settled:
            while self._ready:
                self._enter(self._ready.popleft())
            while settled:
                (asking, position), outcome = settled.popleft()
                self._take(asking, position, outcome)

    def _stop(self) -> None:
        """Settle whatever is left at the deadline; every stage ends before, so this is a net."""
        self._waves.close()
        for step in self._engine.steps:
            self._settle(step, "skipped", ServiceLate("the turn was over"))
        if self.draft.reply is None:
            self._fall_back()
        self._ready.clear()

    # -- one service ------------------------------------------------------------------------

    def _enter(self, step: Step) -> None:
        """All that a service waits for has settled: start it, hold it or skip it."""
        if self._outcomes[step.index] is not None:
            return
        if any(self._outcomes[other] != "done" for other in step.requires):
            return self._settle(step, "skipped")
        if step.stage is Stage.SKILL:
            return self._enter_skill(step)
        if step.stage is Stage.SKILL_SELECTOR and not self._selecting:
            return self._settle(step, "skipped")
        if step.stage is Stage.RESPONSE_SELECTOR and (
            self.draft.reply is not None or not self.draft.candidates()
        ):
            return self._settle(step, "skipped")
        self._ask(step)

    def _ask(
        self, step: Step, wave: Wave | None = None, candidates: list[Candidate] | None = None
    ) -> None:
        """Ask a service, by as many calls as it takes."""
        now = self._loop.time()
        seconds = min(
            step.service.timeout, self._started + self._engine.ends[step.stage] - now
        )
        if seconds <= 0 or (self.draft.begun.attempt > 1 and not step.service.rerun):
            return self._over(Asking(step, 0, wave, []), "skipped", None)
        if self._begins[step.index] is None:
            self._begins[step.index] = now - self._started
        try:
            requests = self._requests(step, seconds, candidates)
        except Exception as error:
            failure = error if isinstance(error, BadReply) else ServiceRaised(_said(error))
            return self._over(Asking(step, 0, wave, []), "failed", failure)
        asking = Asking(step, len(requests), wave, candidates or [])
        self._counts[step.index] += len(requests)
        self._askings[step.index] = asking
        if not requests:
            return self._answered(asking)
        for position, request in enumerate(requests):
            work = step.guard.call(request)
            call = self._calls.start(work, (asking, position), seconds, now)
            if not call.over:
                asking.calls.append(call)

    def _requests(
        self, step: Step, seconds: float, candidates: list[Candidate] | None
    ) -> list[StateRequest | PayloadRequest]:
        if candidates is None:
            added = [self._added(step)]
        elif step.fan_out:
            added = [b""]
        else:
            added = [b',"hypothesis":' + candidate.encoded() for candidate in candidates]
        states = [self._state(step, seconds, one, position, len(added)) for position, one in enumerate(added)]
        if step.show is None:
            return list(states)
        payloads = [step.show(state.value()) for state in states]
        if step.fan_out:
            (payloads,) = payloads
            if candidates is not None and len(payloads) != len(candidates):
                raise BadReply(f"{len(payloads)} tasks for {len(candidates)} hypotheses")
        name, many = step.name, len(payloads) > 1
        return [
            PayloadRequest(
                name,
                self._turn_id,
                self._key(name, position, many),
                seconds,
                plain.check(payload).encoded,
            )
            for position, payload in enumerate(payloads)
        ]

    def _added(self, step: Step) -> bytes:
        if step.name != self._start.forced_skill or step.stage is not Stage.SKILL:
            return b""
        return b"".join(
            b",%b:%b" % (plain.encode(key), plain.encode(value))
            for key, value in self._start.extra.items()
        )

    def _state(
        self, step: Step, seconds: float, added: bytes, position: int, number: int
    ) -> StateRequest:
        return StateRequest(
            step.name,
            self._turn_id,
            self._key(step.name, position, number > 1),
            seconds,
            self.draft.head(),
            self.draft.window(step.service.window),
            b"%b%b%b}" % (self._tail, step.tail, added),
            step.stage is Stage.RESPONSE_SELECTOR,
        )

    def _key(self, name: str, position: int, many: bool) -> str:
        return f"{self._turn_id}/{name}/{position}" if many else f"{self._turn_id}/{name}"

    def _take(self, asking: Asking, position: int, outcome: Plain | ServiceError) -> None:
        """One call has settled."""
        step = asking.step
        if not isinstance(outcome, ServiceError) and step.read is not None:
            outcome = _reshape(step, outcome)
        if isinstance(outcome, ServiceError):
            step.guard.note(outcome)
        asking.replies[position] = outcome
        asking.left -= 1
        if not asking.left:
            self._answered(asking)

    def _answered(self, asking: Asking) -> None:
        """All calls of a service have settled: read its replies into its slot."""
        step = asking.step
        failures = [reply for reply in asking.replies if isinstance(reply, ServiceError)]
        if failures and len(failures) == len(asking.replies):
            late = all(isinstance(failure, ServiceLate) for failure in failures)
            return self._over(asking, "late" if late else "failed", failures[0])
        try:
            self._read(asking)
        except BadReply as error:
            step.guard.note(error)
            return self._over(asking, "failed", error)
        for failure in failures:
            self._fault(step.name, str(failure))
        if not failures:
            step.guard.note(None)
        self._over(asking, "done", None)

    def _read(self, asking: Asking) -> None:
        """Write the replies of one service where its stage says."""
        step, draft = asking.step, self.draft
        good = [reply for reply in asking.replies if isinstance(reply, Plain)]
        match step.stage:
            case Stage.ANNOTATOR:
                draft.annotate(step.name, _joined(good, step.fan_out))
            case Stage.SKILL_SELECTOR:
                self._read_selection(step, good[0].value)
            case Stage.SKILL:
                self._read_hypotheses(asking)
            case Stage.CANDIDATE_ANNOTATOR:
                for candidate, reply in zip(asking.candidates, asking.replies, strict=True):
                    if isinstance(reply, Plain):
                        draft.annotate_candidate(candidate, step.name, reply)
            case Stage.RESPONSE_SELECTOR:
                self._read_choice(step, good[0].value)
            case Stage.POSTPROCESSOR:
                draft.rewrite(replies.rewritten(good[0].value))
            case Stage.RESPONSE_ANNOTATOR:
                draft.annotate_reply(step.name, _joined(good, step.fan_out))
            case Stage.LAST_CHANCE:
                text, annotations = replies.last_words(good[0].value)
                draft.say("last_chance", step.name, text, annotations)

    def _read_hypotheses(self, asking: Asking) -> None:
        step = asking.step
        fault = self._fault_of(step.name)
        values: list[dict[str, Any]] = []
        for part, reply in enumerate(asking.replies):
            if isinstance(reply, Plain):
                found = replies.hypotheses(reply.value, fault)
                values.extend({**one, "part": part} for one in found) if step.fan_out else (
                    values.extend(found)
                )
        if len(values) > replies.MAX_HYPOTHESES:
            raise BadReply(f"{len(values)} hypotheses, more than {replies.MAX_HYPOTHESES}")
        self.draft.hypothesize(step.name, values)

    def _read_choice(self, step: Step, value: Any) -> None:
        draft = self.draft
        choice = replies.choice(value, lambda one: draft.find(one) is not None)
        if not draft.chosen(choice):
            raise BadReply(f"chooses '{choice.skill_name:.80}', which gave no hypothesis")
        draft.choose(choice, self._engine.max_attributes, self._fault_of(step.name))

    def _over(self, asking: Asking, outcome: Outcome, error: ServiceError | None) -> None:
        """A service has answered, or never will."""
        step = asking.step
        if asking.wave is not None:
            return self._candidates_annotated(step, asking.wave, outcome, error)
        if step.stage is Stage.LAST_CHANCE:
            if self.draft.reply is None:
                self._fault(step.name, str(error or "was skipped"))
                self._fall_back()
            return self._replied()
        self._settle(step, outcome, error)

    def _settle(self, step: Step, outcome: Outcome, error: ServiceError | None = None) -> None:
        """Note a service's outcome and let go those that waited for it."""
        index = step.index
        if self._outcomes[index] is not None:
            return
        self._outcomes[index] = outcome
        self._errors[index] = error
        self._ends[index] = self._loop.time() - self._started
        self._unsettled -= 1
        if step.stage is Stage.SKILL:
            self._skill_settled(step)
        elif step.stage is Stage.SKILL_SELECTOR:
            self._selectors -= 1
            if not self._selectors:
                self._begin_selection()
        for other in step.then:
            self._let_go(other)
        if self._engine.candidate_steps and step.stage is not Stage.CANDIDATE_ANNOTATOR:
            self._annotate_candidates()
        if index in self._engine.before_reply:
            self._reply_missing -= 1
            if not self._reply_missing:
                self._give_reply()

    def _let_go(self, index: int) -> None:
        self._missing[index] -= 1
        if self._missing[index] == 0:
            self._ready.append(self._engine.steps[index])

    # -- skills and waves -------------------------------------------------------------------

    def _read_selection(self, step: Step, value: Any) -> None:
        fault = self._fault_of(step.name)
        if value == [] and step.service.wire == "deeppavlov":
            value = None
        names, more = replies.selected(value, self._engine.skills, fault)
        self._waves.propose(names, more, fault)

    def _begin_selection(self) -> None:
        if not self._selecting:
            return
        self._selecting = False
        self._call_skills(self._waves.begin(self._start.preferred))

    def _enter_skill(self, step: Step) -> None:
        if self._waves.wants(step.name) or self._selecting:
            self._ask(step)
        elif self._waves.closed:
            self._settle(step, "skipped")
        else:
            self._held[step.name] = step

    def _call_skills(self, names: list[str]) -> None:
        """These skills are selected now: start those that were held, count those that are done."""
        for name in names:
            step = self._held.pop(name, None)
            if step is not None:
                self._ask(step)
            elif self._outcomes[self._engine.skill_steps[name].index] is not None:
                self._skill_settled(self._engine.skill_steps[name])
        if self._waves.closed:
            self._close_selection()

    def _close_selection(self) -> None:
        """Nobody more is selected: skip those that were held, drop those that ran in vain."""
        held, self._held = self._held, {}
        for step in held.values():
            self._settle(step, "skipped")
        for step in self._engine.skill_steps.values():
            if self._begins[step.index] is None or self._waves.wants(step.name):
                continue
            if self._outcomes[step.index] is None:
                self._drop(step)
            self.draft.withdraw(step.name)
        if self._engine.candidate_steps:
            self._annotate_candidates()

    def _drop(self, step: Step) -> None:
        """Cancel a running service whose answer is no longer wanted."""
        for call in self._askings[step.index].calls:
            self._calls.drop(call)
        step.guard.breaker.undecided()
        self._settle(step, "skipped")

    def _skill_settled(self, step: Step) -> None:
        self._waves.settled(step.name, self.draft.candidates_of(step.name))
        if self._waves.closed or self._selecting:
            return
        left = self._started + self._engine.ends[Stage.SKILL] - self._loop.time()
        answer = self._waves.look(self.draft.hypotheses, left)
        if isinstance(answer, Enough):
            for other in self._engine.skill_steps.values():
                running = self._begins[other.index] is not None
                if running and self._outcomes[other.index] is None:
                    self._drop(other)
            return self._close_selection()
        self._call_skills(answer)

    def _annotate_candidates(self) -> None:
        """Start the candidate annotators of every wave that has settled, as far as they can."""
        for step in self._engine.candidate_steps:
            if self._outcomes[step.index] is not None:
                continue
            for wave in self._waves.waves:
                if not wave.open and step.index not in wave.started and self._may_annotate(step, wave):
                    wave.started.add(step.index)
                    self._annotate_wave(step, wave)
            self._settle_candidate_step(step)

    def _may_annotate(self, step: Step, wave: Wave) -> bool:
        steps = self._engine.steps
        for index in step.before:
            stage = steps[index].stage
            if stage is Stage.CANDIDATE_ANNOTATOR:
                if index not in wave.annotated:
                    return False
            elif stage is not Stage.SKILL and self._outcomes[index] is None:
                return False
        return True

    def _annotate_wave(self, step: Step, wave: Wave) -> None:
        kept = set(map(id, self.draft.candidates()))
        candidates = [one for one in wave.candidates if id(one) in kept]
        lacking = any(
            index in wave.failed if self._engine.steps[index].stage is step.stage
            else self._outcomes[index] != "done"
            for index in step.requires
        )
        if not candidates or lacking:
            return self._candidates_annotated(step, wave, "skipped", None)
        self._ask(step, wave, candidates)

    def _candidates_annotated(
        self, step: Step, wave: Wave, outcome: Outcome, error: ServiceError | None
    ) -> None:
        wave.annotated.add(step.index)
        if outcome != "done":
            wave.failed[step.index] = (outcome, error)
        self._annotate_candidates()

    def _settle_candidate_step(self, step: Step) -> None:
        """A candidate annotator has settled when it is through with all waves there will be."""
        waves = self._waves.waves
        through = all(not wave.open and step.index in wave.annotated for wave in waves)
        if self._selecting or not self._waves.closed or not through:
            return
        failed = [wave.failed[step.index] for wave in waves if step.index in wave.failed]
        if waves and len(failed) < len(waves):
            self._settle(step, "done")
        else:
            outcome, error = failed[0] if failed else ("skipped", None)
            self._settle(step, outcome, error)

    # -- the reply --------------------------------------------------------------------------

    def _give_reply(self) -> None:
        """The ordinary way has come to its end; where it failed, take the next one on the list."""
        if self.draft.reply is not None:
            return self._replied()
        selector_failed = bool(self._engine.graph.stages[Stage.RESPONSE_SELECTOR])
        nothing = not self.draft.candidates()
        last_chance = self._engine.last_chance
        if last_chance is not None and (selector_failed or nothing):
            return self._ask_last(last_chance)
        self._fall_back()
        self._replied()

    def _ask_last(self, step: Step) -> None:
        for each in (self._outcomes, self._errors, self._begins, self._ends):
            each.append(None)  # type: ignore[attr-defined]
        self._counts.append(0)
        self._ask(step)

    def _fall_back(self) -> None:
        """The last two ways: the most confident hypothesis, else the fallback text."""
        chosen = self.draft.choose_most_confident(
            self._start.preferred, PREFERENCE, self._engine.max_attributes, self._fault_of("reply")
        )
        if not chosen:
            self.draft.say("fallback", "", self._engine.fallback, {})

    def _replied(self) -> None:
        for step in self._engine.after_reply:
            self._let_go(step.index)

    # -- what went wrong --------------------------------------------------------------------

    def _fault(self, service: str, what: str) -> None:
        self.faults.append({"service": service, "what": what})

    def _fault_of(self, service: str) -> replies.Fault:
        return lambda what: self._fault(service, what)

    def _record(self, step: Step) -> ServiceRecord:
        index = step.index
        error = self._errors[index]
        return ServiceRecord(
            name=step.name,
            stage=step.stage.value,
            outcome=self._outcomes[index] or "skipped",
            started=self._begins[index],
            ended=self._ends[index],
            calls=self._counts[index],
            error=str(error) if error else None,
            code=error.code if error else None,
        )


def _reshape(step: Step, reply: Plain) -> Plain | ServiceError:
    """Apply a response formatter; what it does wrong is its service's failure."""
    assert step.read is not None
    try:
        return plain.check(step.read(reply.value))
    except ServiceError as error:
        return error
    except Exception as error:
        return ServiceRaised(f"response formatter: {_said(error)}")


def _joined(good: list[Plain], fan_out: bool) -> Plain:
    """Make one annotation of the replies of a service that was called several times."""
    if not fan_out:
        return good[0]
    return Plain([reply.value for reply in good], b"[%b]" % b",".join([r.encoded for r in good]))


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
