"""A turn: it starts the ready services of the ledger, takes their outcomes, and ends in time.

The page docs/explanation/architecture.md shows the way of a hypothesis to the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, Final

from prolocutor.contracts.observer import LoggedChoice, Outcome, Reason, ServiceRecord
from prolocutor.contracts.selection import Enough, Selection
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog.inputs import NOTHING_SAID, STOPPED, StopSignal, TurnStart
from prolocutor.dialog.rounds import FOLLOW_UP, read_follow_up
from prolocutor.dialog.turn_events import TurnListener
from prolocutor.errors import BadReply, ServiceError, ServiceLate, ServiceRaised
from prolocutor.functions import error_text
from prolocutor.pipeline.announcing import TurnAnnouncer, records_of_services
from prolocutor.pipeline.calling import CallGroup, CallToken, ask_once, new_group
from prolocutor.pipeline.calls import RunningCalls
from prolocutor.pipeline.draft import Draft, DraftHypothesis, slot_values
from prolocutor.pipeline.draft_view import DraftView
from prolocutor.pipeline.ledger import (
    Due,
    Ledger,
    LedgerEntry,
    LedgerWatch,
    SkillWave,
)
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep
from prolocutor.pipeline.requests import (
    StateRequest,
    formatter_failure,
    make_requests,
    request_additions,
)
from prolocutor.pipeline.second_reading import SecondReading
from prolocutor.pipeline.slots import SkillSelection, SlotWriter
from prolocutor.pipeline.variants import WHOLE
from prolocutor.plan.pipeline import Stage

PREFERENCE_MARGIN: Final = 0.15
"""By how much another skill must be more confident than the preferred one to win."""

# Members of an enum are slow to look up in it.
_SKILL: Final = Stage.SKILL
_SKILL_SELECTOR: Final = Stage.SKILL_SELECTOR
_RESPONSE_SELECTOR: Final = Stage.RESPONSE_SELECTOR
_ANNOTATE, _REPLY, _LOOK, _REREAD = Due.ANNOTATE, Due.REPLY, Due.LOOK, Due.REREAD


class Turn:
    """A turn of a pipeline: its `draft`, the `slots` that write the draft, and its `view`."""

    def __init__(
        self,
        prepared: PreparedPipeline,
        opened: OpenedTurn,
        start: TurnStart,
        started: float,
        listener: TurnListener | None = None,
        watch: LedgerWatch | None = None,
        stop: StopSignal | None = None,
    ) -> None:
        self.draft = Draft(opened, prepared.order, prepared.skills)
        self.view = DraftView(self.draft, start.heard, prepared.user_snapshot)
        self._prepared = prepared
        self._start = start
        self._started = started
        self._id = opened.opening.turn_id
        self._forced = start.forced_skill if start.forced_skill in prepared.skill_steps else None
        forced, variant = self._forced, WHOLE
        if prepared.variants is not None and forced is None:
            variant = prepared.variants.choose_variant(opened.opening.user)
        self._variant = variant
        excluded = variant.skipped
        if excluded or start.excluded is not None:
            excluded = variant.excluded_skills(start.excluded, start.preferred)
        self._ledger = Ledger(prepared, excluded)
        self._selection = SkillSelection(
            prepared.skills, () if forced is not None else prepared.always, variant.instead
        )
        self.afterwards: list[Callable[[], None]] = []
        """Functions to call after the reply is stored."""
        self._second = None
        if self._ledger.rereading is not None:
            self._second = SecondReading(self._ledger, self.draft, start, prepared.readings)
        self.slots = SlotWriter(prepared, start, self.draft, self._ledger, self._selection)
        self.faults, self.remarks = self.slots.faults, self.slots.remarks
        self.announcer = listener and TurnAnnouncer(
            listener, prepared.commit, self._ledger, self._selection, self.draft, start
        )
        if self.announcer is not None or watch is not None:
            self._ledger.watches = [one for one in (self.announcer, watch) if one is not None]
        self._calls: RunningCalls[CallToken] = RunningCalls(
            asyncio.get_running_loop(), prepared.strays
        )
        self._groups: dict[int, CallGroup] = {}
        self._stop_signal = stop or StopSignal()
        self._stop_signal.wake = self._calls.wake
        if start.input.attributes and (zone := start.input.timezone):
            self.draft.know(
                {"timezone": zone}, prepared.max_attributes, self.slots.fault_recorder("client")
            )

    @property
    def max_attributes(self) -> int:
        """The maximum number of attributes of a profile."""
        return self._prepared.max_attributes

    @property
    def reasons(self) -> list[Reason]:
        """The selectors' reasons for asking skills, as far as they gave them."""
        return self._selection.reasons

    @property
    def router_version(self) -> str:
        """The version of the selecting model, "" if unknown."""
        return self._selection.version

    def choices(self) -> list[LoggedChoice]:
        """Return the choices of canaries and routers, with their probabilities."""
        if not self._variant.choices:
            return self._selection.choices
        names = {entry.step.name for entry in self._ledger.entries if entry.started is not None}
        drawn = [choice for choice in self._variant.choices if choice.chosen in names]
        return [*drawn, *self._selection.choices]

    async def run(self) -> None:
        """Run the turn to its end: every service has settled, and the turn has a reply."""
        ledger, calls, stop = self._ledger, self._calls, self._stop_signal
        if self._forced is not None:
            self._selection.propose("", Selection([self._forced]), lambda what: None)
            self._select(None)
        end = self._started + self._prepared.limits.deadline
        try:
            if not stop.is_set:
                with calls.apart:
                    self._work()
            while ledger.unsettled or self.draft.reply is None:
                now = monotonic()
                if now >= end or stop.is_set or (calls.idle and not ledger.release_held(now)):
                    self._stop(now)
                    break
                ledger.lingering.release(now)
                if not (ledger.ready or ledger.due):
                    await calls.wait(ledger.lingering.next_start(end))
                with calls.apart:
                    self._work()
        finally:
            stop.wake = None
            calls.close()
            self._groups.clear()
            self.view.drop_snapshots()

    def records(self) -> list[ServiceRecord]:
        """Return the record of each service; of the last chance only if it was asked."""
        return records_of_services(self._ledger.entries, self._started, self.draft)

    def asked_skills(self) -> list[str]:
        """Return the names of the asked skills."""
        return [skill.step.name for skill in self._ledger.skills() if skill.started is not None]

    def seconds_left(self, stage: Stage) -> float:
        """Return the seconds until a stage is over."""
        return self._started + self._prepared.limits.stage_end(stage) - monotonic()

    # -- the loop ---------------------------------------------------------------------------

    def _work(self) -> None:
        """Do the due tasks, start ready services, take in outcomes, until nothing is left.

        All ready services start before an outcome is taken in: services with the same start see the
        same dialog, however fast they answer.
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
                    self._write_answers(entry, group)
            else:
                return

    def _do(self, due: Due) -> None:
        if due is _ANNOTATE:
            self._annotate()
        elif due is _REPLY:
            self._give_reply()
        elif due is _LOOK:
            self._look()
        elif due is _REREAD:
            self._reread()
        elif self._ledger.selecting:
            self._select(self._preferred_skill())

    def _enter(self, entry: LedgerEntry) -> None:
        """Ask, hold or skip a service free to start."""
        step = entry.step
        if step.conditional and self._must_skip(entry):
            self._ledger.skip(entry, monotonic())
        elif not step.may_wait or self._ledger.may_ask(entry, monotonic()):
            self._ask(entry)

    def _must_skip(self, entry: LedgerEntry) -> bool:
        if self._ledger.lacks_required(entry):
            return True
        stage = entry.step.stage
        if stage is _SKILL_SELECTOR:
            return self._forced is not None or entry.step.name in self._variant.skipped
        if stage is _RESPONSE_SELECTOR:
            draft = self.draft
            if entry.step.name in self._variant.skipped:
                return True
            return draft.reply is not None or draft.abstained or not draft.all_hypotheses()
        return False

    def _ask(
        self,
        entry: LedgerEntry,
        wave: SkillWave | None = None,
        about: list[DraftHypothesis] | None = None,
    ) -> None:
        """Ask a service, by as many calls as it needs, unless its stage is over."""
        step, now = entry.step, monotonic()
        reading = 0 if self._second is None else self._second.number
        left = self._started + step.end - now
        seconds = min(left, step.timeout)
        if seconds <= 0 or (not step.rerun and self.draft.opened.attempt > 1):
            self._over(entry, wave, "skipped")
            return
        try:
            snapshot = self.view.snapshot(step.window, step.only, step.rewrites, step.widens)
            every = self.draft.all_hypotheses() if about is not None and step.fan_out else ()
            extra = self.request_additions(step)
            words = self.announcer and self.announcer.skill_words(entry)
            wishes = self._start.input.wishes if step.stage is _SKILL else None
            requests = make_requests(
                step,
                snapshot,
                self._id,
                seconds,
                extra,
                about,
                every,
                words,
                wishes,
                reading,
            )
        except BaseException as error:
            self._ledger.record_asked(entry, now)
            self._over(entry, wave, "failed", formatter_failure(error))
            return
        self._ledger.record_asked(entry, now, len(requests))
        if self._variant.on_ask is not None and not reading:
            self._variant.on_ask(self, step)
        group = new_group(step, len(requests), wave, about)
        if step.formats_by_turn:
            group.turn = partial(self._state_now, step, about)
        if not requests:
            self._write_answers(entry, group)
            return
        if step.stage is _SKILL:
            self._groups[step.index] = group
        ask_once(group, requests, seconds, self._calls, now)

    def request_additions(self, step: ServiceStep) -> dict[str, Any] | None:
        """Return the additions to a service's request beside the dialog."""
        preferred = self._preferred_skill() if step.reads_preferred else None
        return request_additions(step, self._start, self._forced, preferred, self._variant.instead)

    def _preferred_skill(self) -> str | None:
        """Return the preferred skill.

        It is the skill of the reply before a follow-up, else the skill that can continue.
        """
        slots = self.draft.annotation_slots
        follow_up = read_follow_up(slot_values(slots)) if slots else None
        if follow_up is not None and follow_up.of:
            spoke = follow_up.skill or self.view.last_speaker()
            skill = self._variant.instead.get(spoke, spoke)
            if skill in self._prepared.skill_steps:
                return skill
        return self._start.preferred

    def _state_now(self, step: ServiceStep, about: list[DraftHypothesis] | None) -> StateRequest:
        """Return the state for a response formatter: the current state as its service sees it."""
        snapshot = self.view.snapshot(step.window, step.only, step.rewrites, step.widens)
        return StateRequest(step, self._id, step.timeout, snapshot, None, about)

    def _write_answers(self, entry: LedgerEntry, group: CallGroup) -> None:
        """Write the replies of a service to its slot, once all its calls have ended."""
        step, failed = group.step, group.failed
        if failed and failed == len(group.replies):
            failures = group.failures()
            late = all(isinstance(failure, ServiceLate) for failure in failures)
            self._over(entry, group.wave, "late" if late else "failed", failures[0])
            return
        try:
            self.slots.write(entry, group)
        except Exception as error:
            if not isinstance(error, BadReply):
                error = ServiceRaised(f"its reply is of no use: {error_text(error)}")
            step.guard.note(error)
            self._over(entry, group.wave, "failed", error)
            return
        if failed:
            for failure in group.failures():
                self.slots.fault(step.name, str(failure))
        elif step.guard.breaker.failures:
            step.guard.note(None)
        self._over(entry, group.wave, "done")

    def _over(
        self,
        entry: LedgerEntry,
        wave: SkillWave | None,
        outcome: Outcome,
        error: ServiceError | None = None,
    ) -> None:
        """Record the outcome of a service, or of a candidate annotator for a wave."""
        if wave is not None:
            self._ledger.record_annotated(entry, wave, outcome, error)
        else:
            self._ledger.settle(entry, outcome, monotonic(), error)

    def _stop(self, now: float) -> None:
        """Settle all remaining services when the turn is stopped or past its deadline."""
        words = self.announcer.shown_words if self.announcer is not None else None
        self._ledger.stop(now)
        if self._second is not None:
            self._second.end()
        if self.draft.reply is None and self._stop_signal.is_set:
            skill, text = words or ("", NOTHING_SAID)
            self.draft.say(STOPPED, skill, text, {}, {STOPPED: True})
        elif self.draft.reply is None:
            self._fall_back()

    # -- the skills and their hypotheses ----------------------------------------------------

    def _select(self, preferred: str | None) -> None:
        """Open the first wave, once the selectors have settled."""
        ledger, selection = self._ledger, self._selection
        ledger.select(selection.first(preferred))
        if not selection.is_open:
            self._close_selection()
        elif not ledger.running and _LOOK not in ledger.due:
            ledger.due.append(_LOOK)

    def _look(self) -> None:
        """Ask the selectors for more skills; close the selection if no skill runs or is named."""
        ledger = self._ledger
        if ledger.closed:
            return
        seconds = self.seconds_left(Stage.SKILL)
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
        """Close the selection, and withdraw the hypotheses of skills asked in vain."""
        for entry in self._ledger.close(monotonic()):
            if entry.outcome is None:
                self._drop(entry)
            self.draft.withdraw(entry.step.name)

    def _drop(self, entry: LedgerEntry) -> None:
        """Cancel a running skill whose answer is no longer wanted."""
        running = self._groups.pop(entry.step.index).calls or []
        while running:
            self._calls.drop(running.pop())
        entry.step.guard.breaker.record_undecided()
        self._ledger.settle(entry, "skipped", monotonic())

    def _reread(self) -> None:
        """Go on with another reading of the words if no skill has answered."""
        shown = self.announcer is not None and self.announcer.shown_words is not None
        is_time = not shown and self.seconds_left(_SKILL) > 0
        assert self._second is not None
        if reading := self._second.go_on(monotonic(), is_time=is_time):
            what = f"no skill answered; read again as: {reading}"
            self.remarks.append({"service": FOLLOW_UP, "what": what})

    def _annotate(self) -> None:
        """Call the candidate annotators for the hypotheses of each complete wave."""
        ledger, draft = self._ledger, self.draft
        while annotation := ledger.next_annotation(monotonic()):
            entry, wave = annotation
            about = [
                hypothesis for skill in wave.skills for hypothesis in draft.skill_hypotheses(skill)
            ]
            if about and not ledger.is_blocked(entry, wave):
                self._ask(entry, wave, about)
            else:
                ledger.record_annotated(entry, wave, "skipped", ledger.switched_off(entry))

    # -- the reply --------------------------------------------------------------------------

    def _give_reply(self) -> None:
        """Give the reply; without a chosen hypothesis, ask the last chance or fall back."""
        draft, prepared = self.draft, self._prepared
        if draft.reply is None:
            last = prepared.last_chance if self._start.otherwise is None else None
            if last is not None and self._ledger.is_open(last):
                failed = draft.abstained
                if last.before_confidence:
                    failed = prepared.has_response_selector
                if failed or not draft.all_hypotheses():
                    self._ask(self._ledger.entries[last.index])
                    return
            self._fall_back()
        self._ledger.release_after_reply()

    def _fall_back(self) -> None:
        """Reply with the most confident hypothesis, else with the words for this case."""
        draft, start = self.draft, self._start
        fault = self.slots.fault_recorder("reply")
        preferred = self._preferred_skill()
        if draft.choose_most_confident(
            preferred, PREFERENCE_MARGIN, self._prepared.max_attributes, fault
        ):
            return
        if start.otherwise is not None:
            draft.say_own_words(start.otherwise)
        else:
            draft.say("fallback", "", self._prepared.fallback, {})
