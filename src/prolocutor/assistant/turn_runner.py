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
from prolocutor.assistant.store_health import StoreHealth
from prolocutor.assistant.turn_record import make_record
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.calls import CallKeeper
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
        news: TurnNews,
        recover_within: float,
        handovers: Handovers,
        health: StoreHealth,
        clock: Callable[[], float] = time.time,
        line: PersonLine | None = None,
        keepers: Sequence[CallKeeper] = (),
    ) -> None:
        self._keepers = keepers
        self._clock = clock
        self._line = line
        self.taken_up = 0
        """Turns that were cut off and taken up here."""
        self.refused = 0
        """Turns that were run here and stored by another replica."""
        self._engine = engine
        self._journal = journal
        self._interpreter = interpreter
        self._news = news
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
                self._news.feeds.wake(input.user)
                if opened.attempt > 1 and not is_withheld(opened):
                    input = opened_input(opened)
                if listener is not None:
                    opening = opened.opening
                    listener(TurnStarted(opening.turn_id, opened.dialog_id, opening.bot_utt_id))
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

    def is_running(self, turn_id: str) -> bool:
        """Return whether a turn is run here, and its reply is not stored yet."""
        return turn_id in self._journal.in_hand

    async def _run(
        self,
        opened: OpenedTurn,
        input: TurnInput,
        started: float,
        listener: TurnListener | None = None,
        stop: StopSignal | None = None,
    ) -> TurnResult:
        turn_id, news, run = opened.opening.turn_id, self._news, self._engine.run
        handed_over = opened.round != NO_ROUND or input.operator is not None
        if handed_over and (unasked := self._handovers.make_turn(opened, input)) is not None:
            return await self._close(*unasked, started)
        try:
            if handed_over:
                opened = self._handovers.mark_opened(opened)
            decision = self._interpreter.read(opened, input)
            if decision.program is not None:
                seconds = started + self._engine.prepared.limits.deadline - monotonic()
                decision = await run_program(decision, self._interpreter.programs, seconds)
            if self._journal.speaking is not None:
                await self._journal.speaking.add_to(opened)
            watch = news.follow(opened) if news.observers.followers else None
            turn = await run(opened, decision.start, started, listener, watch, stop)
            if decision.instead is not None and turn.draft.final_reply().by == ITSELF:
                decision = replace(decision.instead, state=decision.state)
                watch = news.follow(opened) if news.observers.followers else None
                turn = await run(opened, decision.start, started, listener, watch, stop)
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
            log.exception("turn %s broke; this is a fault of Prolocutor, please report it", turn_id)
            return await self._interrupt(opened)
        return await self._close(turn, effects, started)

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
        learns = bool(self._news.observers.learners)
        lessons = self._news.lessons(turn, started) if learns else ()
        try:
            result = await self._journal.close_turn(turn, effects, lessons)
        except TakenOver:
            self.refused += 1
            if self._line is None:
                raise
            return await self._line.reply_to(turn.draft.opened)
        await self._news.turn_stored(turn, effects, result, started)
        return result


class TurnNews:
    """Tells all that wait for turns: persons' feeds, operators, the agenda, and observers."""

    def __init__(
        self,
        feeds: FeedListeners,
        agenda: AgendaScheduler,
        handovers: Handovers,
        observers: ObserverGroup,
    ) -> None:
        self.feeds = feeds
        self._agenda = agenda
        self._handovers = handovers
        self.observers = observers

    def follow(self, opened: OpenedTurn) -> FollowedTurn:
        """Tell followers that a turn begins; return what tells them of its services."""
        return FollowedTurn(opened, self.observers)

    def lessons(self, turn: Turn, started: float) -> Sequence[NewRecord]:
        """Return the lessons of learners, to be stored with a turn."""
        return self.observers.collect_lessons(make_record(turn, monotonic() - started))

    async def turn_stored(
        self, turn: Turn, effects: TurnEffects, result: TurnResult, started: float
    ) -> None:
        """Tell of a turn whose reply is stored."""
        opened = turn.draft.opened
        self.feeds.wake(result.user)
        if effects.handover is not None:
            await self._handovers.note(turn, effects.handover)
            if effects.handover.state == "waits":
                self.observers.dialog_waits(result.dialog_id)
        for entry in effects.entries:
            self._agenda.expect(entry.due)
        if effects.waiting is not None:
            load_ahead()
        elif opened.round != NO_ROUND:
            self._agenda.round_ended(result.user, opened.opening.dialog_name)
        result.make_record = partial(make_record, turn, monotonic() - started)
        if self.observers.observers and result.record is not None:
            self.observers.turn_ended(result.record)
        for work in turn.afterwards:
            work()
