"""TurnRunner: runs turns from the stored input to the stored reply, and recovers cut-off turns."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Final

from msgspec.structs import replace

from prolocutor.assistant.agenda_scheduler import AgendaScheduler
from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.handovers import Handovers
from prolocutor.assistant.journal import (
    INTERRUPTED,
    Journal,
    first_traceparent,
    is_withheld,
    opened_input,
)
from prolocutor.assistant.observer_group import FollowedTurn, ObserverGroup
from prolocutor.assistant.rounds.decision import Decision, TurnEffects
from prolocutor.assistant.rounds.effects import is_cancelled, turn_effects
from prolocutor.assistant.rounds.interpreter import InputInterpreter, read_round
from prolocutor.assistant.rounds.open_ask import cancelled_answer
from prolocutor.assistant.rounds.program_turns import learn, run_program
from prolocutor.assistant.sharing import PersonLine, Place
from prolocutor.assistant.speaking_skills import SpeakingSkills
from prolocutor.assistant.store_health import StoreHealth
from prolocutor.assistant.turn_record import make_record
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.connector import CallKeeper
from prolocutor.contracts.programs import Programs
from prolocutor.contracts.store import (
    NO_ROUND,
    AnsweredRequest,
    NewRecord,
    OpenedTurn,
    UnfinishedTurn,
)
from prolocutor.dialog.inputs import STOPPED, StopSignal, TurnInput, TurnStart
from prolocutor.dialog.turn_events import TurnListener, TurnStarted
from prolocutor.errors import (
    DeclaredDead,
    NotFound,
    PersonBusy,
    PersonUnreadable,
    ProlocutorError,
    StoreError,
    TakenOver,
)
from prolocutor.observe.trace_context import continue_trace
from prolocutor.pipeline.draft import ITSELF
from prolocutor.pipeline.engine import Engine
from prolocutor.pipeline.turn import Turn
from prolocutor.reading.libraries import load_ahead

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 2
"""Runs of a turn, the first included; a turn that is cut off again is closed."""

_OF_OTHERS: Final = (DeclaredDead, NotFound, PersonBusy, TakenOver)
"""Errors of a turn that another replica runs, has stored, or is about to take over."""


class TurnRunner:
    """Runs one turn at a time for each person: the caller keeps the order.

    Whatever fails between opening and closing, the turn is closed with a reply.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        journal: Journal,
        interpreter: InputInterpreter,
        programs: Programs,
        listeners: FeedListeners,
        scheduler: AgendaScheduler,
        observers: ObserverGroup,
        recover_within: float,
        handovers: Handovers,
        health: StoreHealth,
        clock: Callable[[], float] = time.time,
        line: PersonLine | None = None,
        speaking: SpeakingSkills | None = None,
        keepers: Sequence[CallKeeper] = (),
    ) -> None:
        self._keepers = keepers
        self._clock = clock
        self._line = line
        self._speaking = speaking
        self.taken_up = 0
        """Turns that were cut off and taken up here."""
        self.refused = 0
        """Turns that were run here and stored by another replica."""
        self.running: set[str] = set()
        """The ids of the turns that run now."""
        self._engine = engine
        self._journal = journal
        self._interpreter = interpreter
        self._programs = programs
        self._listeners = listeners
        self._scheduler = scheduler
        self._observers = observers
        self._recover_within = recover_within
        self._handovers = handovers
        self._health = health

    async def run(
        self,
        input: TurnInput,
        listener: TurnListener | None = None,
        stop: StopSignal | None = None,
        place: Place | None = None,
    ) -> TurnResult:
        """Run a turn; return the stored reply for a request that was answered before.

        `place` is its place among the work for this person at all replicas.
        """
        started = monotonic()
        try:
            if self._line is None or place is None:
                opened = await self._journal.open_turn(input)
            else:
                attempt = partial(self._journal.open_turn, input, place.ticket)
                opened = await self._line.open(place, attempt)
                started = place.since
            if isinstance(opened, AnsweredRequest):
                result = TurnResult.from_outcome(opened.reply or b"")
            else:
                self._listeners.wake(input.user)
                if opened.attempt > 1 and not is_withheld(opened):
                    input = opened_input(opened)
                if listener is not None:
                    said = opened.opening
                    listener(TurnStarted(said.turn_id, opened.dialog_id, said.bot_utt_id))
                result = await self._run(opened, input, started, listener, stop)
        except StoreError as error:
            self._health.note_failed(error)
            raise
        self._health.note_stored()
        return result

    async def recover(self, unfinished: UnfinishedTurn) -> None:
        """Take up a turn that was cut off: run it once more if it is young, else close it.

        Raise `PersonUnreadable`; any other error is logged.
        """
        turn_id = unfinished.turn_id
        try:
            opened = await self._journal.resume_turn(turn_id)
            self.taken_up += 1
            young = self._clock() - unfinished.started <= self._recover_within
            if young and unfinished.attempts < MAX_ATTEMPTS and not is_withheld(opened):
                log.info("turn %s was cut off and runs again", turn_id)
                with continue_trace(first_traceparent(opened)):
                    await self._run(opened, opened_input(opened), monotonic())
            else:
                log.warning("turn %s was cut off and is closed", turn_id)
                await self._interrupt(opened)
        except PersonUnreadable as error:
            self._health.note_failed(error)
            raise
        except ProlocutorError as error:
            others = self._line is not None and isinstance(error, _OF_OTHERS)
            level = logging.INFO if others else logging.ERROR
            log.log(level, "turn %s cannot be taken up: %s", turn_id, error)

    async def _run(
        self,
        opened: OpenedTurn,
        input: TurnInput,
        started: float,
        listener: TurnListener | None = None,
        stop: StopSignal | None = None,
    ) -> TurnResult:
        turn_id = opened.opening.turn_id
        self.running.add(turn_id)
        try:
            return await self._run_to_end(opened, input, started, listener, stop)
        finally:
            self.running.discard(turn_id)

    async def _run_to_end(
        self,
        opened: OpenedTurn,
        input: TurnInput,
        started: float,
        listener: TurnListener | None,
        stop: StopSignal | None,
    ) -> TurnResult:
        handed_over = opened.round != NO_ROUND or input.operator is not None
        if handed_over and (unasked := self._handovers.make_turn(opened, input)) is not None:
            return await self._close(*unasked, started)
        try:
            if handed_over:
                opened = self._handovers.mark_opened(opened)
            decision = self._interpreter.read(opened, input)
            if decision.program is not None:
                seconds = started + self._engine.prepared.limits.deadline - monotonic()
                decision = await run_program(decision, self._programs, seconds)
            if self._speaking is not None:
                await self._speaking.add_to(opened)
            turn = await self._engine_run(opened, decision, started, listener, stop)
            if decision.instead is not None and turn.draft.final_reply().by == ITSELF:
                decision = replace(decision.instead, state=decision.state)
                turn = await self._engine_run(opened, decision, started, listener, stop)
            reply = turn.draft.final_reply()
            if reply.by == STOPPED:  # what was open before it stays open
                decision = Decision(start=decision.start, state=decision.state)
            if decision.learned or decision.run is not None:
                learn(turn, decision)
            skill = decision.cancelled_skill
            if skill is not None and is_cancelled(decision, reply):
                over = {"answer": cancelled_answer(decision.state.waiting)}
                await self._engine.tell(turn, skill, over)
            effects = turn_effects(opened, decision, turn.draft)
            if effects.handover is not None:
                effects = self._handovers.limit_waiting(opened, effects)
            for keeper in self._keepers:
                spoken = [one.skill for one in turn.draft.speakers]
                await keeper.turn_ends(opened.opening, spoken)
        except Exception:
            log.exception(
                "turn %s broke; this is a fault of Prolocutor, please report it",
                opened.opening.turn_id,
            )
            return await self._interrupt(opened)
        return await self._close(turn, effects, started)

    async def _engine_run(
        self,
        opened: OpenedTurn,
        decision: Decision,
        started: float,
        listener: TurnListener | None,
        stop: StopSignal | None,
    ) -> Turn:
        watch = FollowedTurn(opened, self._observers) if self._observers.followers else None
        return await self._engine.run(opened, decision.start, started, listener, watch, stop)

    async def _interrupt(self, opened: OpenedTurn) -> TurnResult:
        """End a turn that was cut off, with the fallback text; an open ask stays open.

        If an operator has the dialog, no service is asked and the turn ends as usual.
        """
        if (unasked := self._handovers.make_turn(opened, opened_input(opened))) is not None:
            return await self._close(*unasked, monotonic())
        for keeper in self._keepers:
            await keeper.turn_was_cut_off(opened.opening)
        decision = Decision(start=TurnStart(input=opened_input(opened)), state=read_round(opened))
        turn = self._engine.make_fallback_turn(opened, decision.start, INTERRUPTED)
        return await self._close(turn, turn_effects(opened, decision, turn.draft), monotonic())

    async def _close(self, turn: Turn, effects: TurnEffects, started: float) -> TurnResult:
        lessons: Sequence[NewRecord] = ()
        if self._observers.learners:
            lessons = self._observers.collect_lessons(make_record(turn, monotonic() - started))
        try:
            result = await self._journal.close_turn(turn, effects, lessons)
        except TakenOver:
            self.refused += 1
            if self._line is None:
                raise
            return await self._line.reply_to(turn.draft.opened)
        self._listeners.wake(result.user)
        if self._speaking is not None and turn.draft.reply is not None:
            self._speaking.note(turn.draft.opened, turn.draft.reply.active_skill)
        if effects.handover is not None:
            await self._handovers.note(turn, effects.handover)
            if effects.handover.state == "waits":
                self._observers.dialog_waits(result.dialog_id)
        for entry in effects.entries:
            self._scheduler.expect(entry.due)
        if effects.waiting is not None:
            load_ahead()
        elif turn.draft.opened.round != NO_ROUND:
            self._scheduler.round_ended(result.user, turn.draft.opened.opening.dialog_name)
        result.make_record = partial(make_record, turn, monotonic() - started)
        if self._observers.observers and result.record is not None:
            self._observers.turn_ended(result.record)
        for work in turn.afterwards:
            work()
        return result
