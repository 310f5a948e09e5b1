"""One turn: it starts what the ledger says is ready, feeds back what settled, ends in time.

Where a hypothesis passes on its way to the store stands in docs/explanation/architecture.md.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, Final

from prolocutor.contracts.observer import Outcome, Reason, ServiceRecord
from prolocutor.contracts.selection import Enough, Selection
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog.inputs import DirectReply, TurnStart
from prolocutor.dialog.plain import Plain
from prolocutor.dialog.profile_changes import Fault
from prolocutor.dialog.turn_events import TurnListener
from prolocutor.errors import BadReply, ServiceError, ServiceLate, ServiceRaised
from prolocutor.pipeline import replies
from prolocutor.pipeline.announcing import TurnAnnouncer
from prolocutor.pipeline.calling import CallGroup, CallToken, ask_once, new_group
from prolocutor.pipeline.calls import RunningCalls
from prolocutor.pipeline.draft import Draft
from prolocutor.pipeline.ledger import Due, Ledger, LedgerEntry, SkillWave
from prolocutor.pipeline.plan import Stage
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep
from prolocutor.pipeline.requests import requests_for
from prolocutor.pipeline.snapshot import DraftHypothesis, State
from prolocutor.pipeline.waves import SkillSelection

PREFERENCE: Final = 0.15
"""By how much another skill must be more confident than the preferred one to win."""


_SKILL: Final = Stage.SKILL


class Turn:
    """One turn of a pipeline; what is said stands in its `draft`.

    `faults` are what went wrong without making a reply useless, `remarks` what is as it should be
    and yet asked for by those who look at the turn.
    """

    def __init__(
        self,
        prepared: PreparedPipeline,
        opened: OpenedTurn,
        start: TurnStart,
        started: float,
        listener: TurnListener | None = None,
    ) -> None:
        self.draft = Draft(
            opened,
            prepared.order,
            prepared.skills,
            start.heard,
            user_snapshot=prepared.user_snapshot,
            resets=prepared.resets,
        )
        self.faults: list[dict[str, str]] = []
        self.remarks: list[dict[str, str]] = []
        self._prepared = prepared
        self._start = start
        self._started = started
        self._turn_id = opened.opening.turn_id
        forced = start.forced_skill
        self._forced = forced if forced in prepared.skill_steps else None
        self._directed = self._forced is not None or start.preferred is not None
        self._ledger = Ledger(prepared, start.excluded)
        if listener is not None:
            self._ledger.watch = TurnAnnouncer(listener, self._ledger)
        self._selection = SkillSelection(prepared.skills, prepared.always)
        self._calls: RunningCalls[CallToken] = RunningCalls(
            asyncio.get_running_loop(), prepared.strays
        )
        self._groups: dict[int, CallGroup] = {}
        if zone := start.input.timezone:
            self.draft.know({"timezone": zone}, self.max_attributes, self._fault_of("client"))

    @property
    def max_attributes(self) -> int:
        """The most attributes that a profile may have."""
        return self._prepared.max_attributes

    @property
    def reasons(self) -> list[Reason]:
        """Why skills were asked, as far as the selectors say so."""
        return self._selection.reasons

    async def run(self) -> None:
        """Take the turn to its end: every service settled, and something said."""
        ledger, calls = self._ledger, self._calls
        if self._forced is not None:
            self._selection = SkillSelection(self._prepared.skills)
            self._selection.propose("", Selection([self._forced]), lambda what: None)
            self._select(None)
        end = self._started + self._prepared.limits.deadline
        try:
            calls.apart(self._work)
            while ledger.unsettled or self.draft.reply is None:
                now = monotonic()
                if now >= end or (calls.idle and not ledger.release_held(now)):
                    self._stop(now)
                    break
                if not (ledger.ready or ledger.due):
                    await calls.wait(end)
                calls.apart(self._work)
        finally:
            calls.close()
            self._groups.clear()
            self.draft.drop_snapshots()

    def records(self) -> list[ServiceRecord]:
        """Return what became of every service; the last chance only if it was asked."""
        return [
            self._record(entry)
            for entry in self._ledger.entries
            if entry.step.stage is not Stage.LAST_CHANCE or entry.started is not None
        ]

    def asked_skills(self) -> list[str]:
        """Name the skills that were asked."""
        return [one.step.name for one in self._ledger.skills() if one.started is not None]

    def fault(self, service: str, what: str) -> None:
        """Record something wrong that does not make a whole reply useless."""
        self.faults.append({"service": service, "what": what})

    def learn(self, step: ServiceStep, reply: Plain | ServiceError) -> None:
        """Let the attributes count of a skill that was called after the reply."""
        fault = self._fault_of(step.name)
        try:
            if isinstance(reply, ServiceError):
                fault(str(reply))
                return
            found = replies.hypotheses(reply, fault)
        except ServiceError as error:
            step.guard.note(error)
            fault(str(error))
            return
        step.guard.note(None)
        if found:
            best = max(found, key=lambda one: one.value["confidence"])
            self.draft.learn(best.value, self.max_attributes, fault)

    def seconds_until(self, stage: Stage) -> float:
        """Return the seconds until a stage is over."""
        return self._started + self._prepared.limits.end_of(stage) - monotonic()

    # -- the loop ---------------------------------------------------------------------------

    def _work(self) -> None:
        """Do what is due, start what is ready, take in what has settled, until nothing is left.

        All that is ready starts before anything is taken in, so services that may start together
        see the same dialog, however fast one of them answers.
        """
        ledger = self._ledger
        due, ready, settled = ledger.due, ledger.ready, self._calls.settled
        while True:
            if due:
                self._do(due.popleft())
            elif ready:
                entry = ready.popleft()
                if entry.outcome is None:
                    self._enter(entry)
            elif settled:
                (group, position), outcome = settled.popleft()
                entry = ledger.entries[group.step.index]
                if entry.outcome is None and group.take(position, outcome):
                    self._answered(entry, group)
            else:
                return

    def _do(self, due: Due) -> None:
        if due is Due.ANNOTATE:
            self._annotate()
        elif due is Due.REPLY:
            self._give_reply()
        elif due is Due.LOOK:
            self._look()
        elif self._ledger.selecting:
            self._select(self._start.preferred)

    def _enter(self, entry: LedgerEntry) -> None:
        """All that a service waits for has settled: ask it, hold it or skip it."""
        step = entry.step
        if step.conditional and self._must_skip(entry):
            self._ledger.settle(entry, "skipped", monotonic())
        elif step.stage is not _SKILL or self._ledger.may_ask(entry, monotonic()):
            self._ask(entry)

    def _must_skip(self, entry: LedgerEntry) -> bool:
        if self._ledger.lacks_required(entry):
            return True
        stage = entry.step.stage
        if stage is Stage.SKILL_SELECTOR:
            return self._forced is not None
        if stage is Stage.RESPONSE_SELECTOR:
            draft = self.draft
            return draft.reply is not None or draft.abstained or not draft.drafted()
        return False

    def _ask(
        self,
        entry: LedgerEntry,
        wave: SkillWave | None = None,
        about: list[DraftHypothesis] | None = None,
    ) -> None:
        """Ask a service, by as many calls as it takes, if there is time left for its stage."""
        step, draft = entry.step, self.draft
        now = monotonic()
        seconds = min(step.timeout, self._started + step.end - now)
        if seconds <= 0 or (not step.rerun and draft.opened.attempt > 1):
            self._over(entry, wave, "skipped", None)
            return
        try:
            snapshot = draft.snapshot(step.window, step.only)
            every = draft.drafted() if about is not None and step.fan_out else ()
            extra = self._extra_for(step) if self._directed else None
            requests = requests_for(step, snapshot, self._turn_id, seconds, extra, about, every)
        except BaseException as error:
            self._ledger.asked(entry, now)
            self._over(entry, wave, "failed", formatter_failure(error))
            return
        self._ledger.asked(entry, now, len(requests))
        group = new_group(step, len(requests), wave, about)
        if not requests:
            self._answered(entry, group)
            return
        if step.stage is _SKILL:
            self._groups[step.index] = group
        ask_once(group, requests, seconds, self._calls, now)

    def _extra_for(self, step: ServiceStep) -> State | None:
        """Return what a request says beside the dialog: the answer, or who is preferred."""
        if step.name == self._forced:
            return self._start.extra
        if step.selecting and self._forced is not None:
            return {"forced": self._forced}
        if step.selecting and self._start.preferred is not None:
            return {"preferred": self._start.preferred}
        return None

    def _answered(self, entry: LedgerEntry, group: CallGroup) -> None:
        """All calls of a service are through: read its replies into its slot."""
        step, failed = group.step, group.failed
        if failed and failed == len(group.replies):
            failures = group.failures()
            late = all(isinstance(failure, ServiceLate) for failure in failures)
            self._over(entry, group.wave, "late" if late else "failed", failures[0])
            return
        try:
            self._write(entry, group)
        except Exception as error:
            if not isinstance(error, BadReply):
                error = ServiceRaised(f"its reply is of no use: {type(error).__name__}: {error}")
            step.guard.note(error)
            self._over(entry, group.wave, "failed", error)
            return
        if failed:
            for failure in group.failures():
                self.fault(step.name, str(failure))
        elif step.guard.breaker.failures:
            step.guard.note(None)
        if group.wave is None:
            self._ledger.settle(entry, "done", monotonic())
        else:
            self._ledger.annotated(entry, group.wave, "done")

    def _over(
        self,
        entry: LedgerEntry,
        wave: SkillWave | None,
        outcome: Outcome,
        error: ServiceError | None,
    ) -> None:
        """A service has answered, or never will; a candidate annotator for one wave."""
        if wave is not None:
            self._ledger.annotated(entry, wave, outcome, error)
        else:
            self._ledger.settle(entry, outcome, monotonic(), error)

    def _stop(self, now: float) -> None:
        """Settle whatever is left at the deadline; every stage ends before, so this is a net."""
        self._ledger.stop(now)
        if self.draft.reply is None:
            self._fall_back()

    # -- the skills and their hypotheses ----------------------------------------------------

    def _select(self, preferred: str | None) -> None:
        """The selectors have settled: open the first wave."""
        ledger, selection = self._ledger, self._selection
        ledger.select(selection.first(preferred))
        if not selection.is_open:
            self._close_selection()
        elif not ledger.running and Due.LOOK not in ledger.due:
            ledger.due.append(Due.LOOK)

    def _look(self) -> None:
        """Ask the selectors for more skills; where none runs and none is named, it is over."""
        ledger = self._ledger
        if ledger.closed:
            return
        seconds = self.seconds_until(Stage.SKILL)
        answer = self._selection.more(self.draft.hypotheses, ledger.settled_skills(), seconds)
        opened = False
        if isinstance(answer, Enough):
            ledger.closed = True
            for entry in ledger.skills():
                if entry.started is not None and entry.outcome is None:
                    self._drop(entry)
        elif seconds > 0:
            opened = ledger.select(answer)
        if ledger.closed or not (opened or ledger.running):
            self._close_selection()

    def _close_selection(self) -> None:
        """No more skills are selected: what was asked in vain does not count."""
        for entry in self._ledger.close(monotonic()):
            if entry.outcome is None:
                self._drop(entry)
            self.draft.withdraw(entry.step.name)

    def _drop(self, entry: LedgerEntry) -> None:
        """Cancel a running skill whose answer is no longer wanted."""
        for call in self._groups[entry.step.index].calls:
            self._calls.drop(call)
        entry.step.guard.breaker.undecided()
        self._ledger.settle(entry, "skipped", monotonic())

    def _annotate(self) -> None:
        """Call the candidate annotators for the hypotheses of each wave that is complete."""
        ledger, draft = self._ledger, self.draft
        while found := ledger.next_annotation(monotonic()):
            entry, wave = found
            about = [one for skill in wave.skills for one in draft.drafted_by(skill)]
            if about and not ledger.lacks_for(entry, wave):
                self._ask(entry, wave, about)
            else:
                ledger.annotated(entry, wave, "skipped")

    # -- the reply --------------------------------------------------------------------------

    def _give_reply(self) -> None:
        """The ordinary way has come to its end; where it failed, take the next one on the list."""
        draft, prepared = self.draft, self._prepared
        if draft.reply is None:
            last = prepared.last_chance if self._start.otherwise is None else None
            failed = prepared.has_response_selector or not draft.drafted()
            if last is not None and not last.service.before_confidence:
                failed = draft.abstained or not draft.drafted()
            if last is not None and failed:
                entry = self._ledger.entries[last.index]
                if entry.outcome is None:
                    self._ask(entry)
                    return
            self._fall_back()
        self._ledger.replied()

    def _fall_back(self) -> None:
        """The last two ways: the most confident hypothesis, else the words for then."""
        draft, start = self.draft, self._start
        fault = self._fault_of("reply")
        if draft.choose_most_confident(start.preferred, PREFERENCE, self.max_attributes, fault):
            return
        if start.otherwise is not None:
            draft.say_itself(start.otherwise)
        else:
            draft.say("fallback", "", self._prepared.fallback, {})

    # -- from replies to slots, by stage ----------------------------------------------------

    def _write(self, entry: LedgerEntry, group: CallGroup) -> None:
        """Write the replies of a service to its slot; `BadReply` where they cannot be read."""
        name, draft = group.step.name, self.draft
        stage = group.step.stage
        if stage is _SKILL:
            draft.hypothesize(name, self._hypotheses(group))
            return
        match stage:
            case Stage.ANNOTATOR:
                self._annotate_input(entry, group)
            case Stage.CANDIDATE_ANNOTATOR:
                self._annotations(group)
            case Stage.SKILL_SELECTOR:
                self._propose(entry, group)
            case Stage.RESPONSE_SELECTOR:
                self._choose(group)
            case Stage.POSTPROCESSOR:
                draft.rewrite(replies.rewritten(group.only().value))
            case Stage.RESPONSE_ANNOTATOR:
                draft.annotate_reply(group.step.label, group.joined())
            case Stage.LAST_CHANCE:
                text, annotations, confidence = replies.last_words(group.only().value)
                draft.say("last_chance", name, text, annotations, confidence=confidence)

    def _annotate_input(self, entry: LedgerEntry, group: CallGroup) -> None:
        """Write an annotator's reply where its `writes` says."""
        step, draft, reply = group.step, self.draft, group.joined()
        if step.selects:
            self._skip_others(entry, reply.value)
        match step.writes:
            case "annotation":
                draft.annotate(step.label, reply)
            case "previous_reply":
                draft.annotate_previous_reply(step.label, reply)
            case "attributes":
                changes = replies.changed_attributes(reply.value)
                draft.learn(changes, self.max_attributes, self._fault_of(step.name))
            case "nothing":
                pass
        defaults = step.service.first_turn_attributes
        if defaults is not None and not draft.opened.length:
            draft.reset_attributes(defaults, self.max_attributes, self._fault_of(step.name))

    def _skip_others(self, entry: LedgerEntry, named: Any) -> None:
        """Skip those successors of a selector that it does not name."""
        labels = replies.labels(named)
        if labels:
            self._ledger.skip_others(entry, labels, monotonic())

    def _hypotheses(self, group: CallGroup) -> list[replies.SkillReply]:
        step, fault = group.step, self._fault_of(group.step.name)
        given: list[replies.SkillReply] = []
        for part, reply in enumerate(group.replies):
            if isinstance(reply, Plain):
                found = replies.hypotheses(reply, fault)
                given += [one.with_part(part) for one in found] if step.fan_out else found
        if len(given) > replies.MAX_HYPOTHESES:
            raise BadReply(f"{len(given)} hypotheses, more than {replies.MAX_HYPOTHESES}")
        least = self._start.least
        if least is None:
            return given
        for one in given:
            confidence = one.value["confidence"]
            if confidence < least:
                what = f"a hypothesis of {confidence:g} does not count: it takes {least:g}"
                self.remarks.append({"service": step.name, "what": what})
        return [one for one in given if one.value["confidence"] >= least]

    def _annotations(self, group: CallGroup) -> None:
        step, about = group.step, group.about or []
        noted: list[Plain | ServiceError | None] = [*group.replies]
        if step.together:
            fault, mismatch = self._fault_of(step.name), step.service.mismatch
            noted = [*replies.notes(group.only(), len(about), fault, mismatch)]
        for one, reply in zip(about, noted, strict=True):
            if isinstance(reply, Plain):
                self.draft.annotate_hypothesis(one, step.label, reply)

    def _propose(self, entry: LedgerEntry, group: CallGroup) -> None:
        step, fault = group.step, self._fault_of(group.step.name)
        value = group.only().value
        if value == [] and step.service.wire == "deeppavlov":
            value = None
        if step.selects:
            self._skip_others(entry, value)
        selection = replies.selected(value, self._prepared.skills, fault)
        self._selection.propose(step.name, selection, fault)

    def _choose(self, group: CallGroup) -> None:
        draft, value = self.draft, group.only().value
        if isinstance(value, dict) and value.get("abstain") is True:
            draft.abstain()
            return
        choice = replies.choice(value, lambda one: draft.find(one) is not None)
        carries = group.step.service.carries == "all"
        if choice.skill_name:
            if carries and not draft.chosen(choice):
                raise BadReply(f"chooses '{choice.skill_name:.80}', which gave no hypothesis")
            fault = self._fault_of(group.step.name)
            draft.choose(choice, self.max_attributes, fault, carries=carries)
        elif self._start.least is not None:
            draft.abstain()  # there are words for when no hypothesis is sure enough
        else:
            messages = choice.messages or [{"type": "text", "text": choice.text}]
            draft.say_itself(DirectReply(messages=messages, ask=choice.ask), choice.attributes)

    # -- inside -----------------------------------------------------------------------------

    def _fault_of(self, service: str) -> Fault:
        return lambda what: self.fault(service, what)

    def _record(self, entry: LedgerEntry) -> ServiceRecord:
        error = entry.error
        return ServiceRecord(
            name=entry.step.name,
            stage=entry.step.stage_name,
            outcome=entry.outcome or "skipped",
            started=None if entry.started is None else entry.started - self._started,
            ended=None if entry.ended is None else entry.ended - self._started,
            calls=entry.calls,
            error=str(error) if error else None,
            code=error.code if error else None,
        )


def formatter_failure(error: BaseException) -> ServiceError:
    """Return what a formatter raised as its service's failure."""
    if isinstance(error, BadReply):
        return error
    return ServiceRaised(f"formatter: {type(error).__name__}: {error}")
