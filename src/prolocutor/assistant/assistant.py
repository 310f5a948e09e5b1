"""Assistant: one out of many agents. Composes the engine, the store, the queues and the feed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from time import monotonic
from typing import Any, Literal, Self, TypeVar

from prolocutor.assistant.agenda_delivery import AgendaDelivery
from prolocutor.assistant.agenda_scheduler import AgendaScheduler
from prolocutor.assistant.assistant_settings import DEFAULT_STORE, DEFAULTS, AssistantSettings
from prolocutor.assistant.feed import FeedListeners, FeedMessage
from prolocutor.assistant.input_checks import check_name, checked_dialog, checked_input
from prolocutor.assistant.journal import INTERRUPTED, Journal, input_of
from prolocutor.assistant.notification import AnyMessage, notification
from prolocutor.assistant.person_queues import PersonQueues, Work
from prolocutor.assistant.rounds.decision import Decision
from prolocutor.assistant.rounds.effects import TurnEffects, effects_of, is_cancelled
from prolocutor.assistant.rounds.interpreter import InputInterpreter, round_of
from prolocutor.assistant.rounds.open_ask import cancelled_answer
from prolocutor.assistant.rounds.program_turns import learn, run_program
from prolocutor.assistant.rounds.secrets import Secrets
from prolocutor.assistant.turn_record import record_of
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.watchdog import Watchdog
from prolocutor.assistant.wiring import connect, make_programs
from prolocutor.contracts.observer import Observer, Rated, RatingObserver
from prolocutor.contracts.programs import CreatedProgram, ProgramInfo, Programs
from prolocutor.contracts.store import AnsweredRequest, OpenedTurn, Store, UnfinishedTurn
from prolocutor.dialog import rounds
from prolocutor.dialog.ids import timestamp
from prolocutor.dialog.inputs import Input, TurnStart
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.dialog.utterances import BotUtterance
from prolocutor.dotted_names import resolve
from prolocutor.errors import ProlocutorError, Stopping, StoreError
from prolocutor.pipeline.engine import Engine
from prolocutor.pipeline.guard import BreakerState
from prolocutor.pipeline.plan import Pipeline
from prolocutor.pipeline.turn import Turn
from prolocutor.reading.libraries import load_ahead
from prolocutor.stores.catalog import open_store

T = TypeVar("T")

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 2


class Assistant:
    """One assistant out of many agents: every person talks to it, one turn at a time each.

    Use it as `async with Assistant(pipeline) as assistant`. `deadline` is when a reply is out, in
    seconds from the turn's start; `reserve` what is kept of it for all that follows the skills;
    `queue_timeout` how long an input waits for earlier ones of the same person. Turns that were cut
    off less than `recover_within` seconds ago are run once more at the start, older ones closed.
    `switch_confidence` is how sure a skill must be to change the subject while another one waits
    for an answer. `programs` runs the programs that come in place of words (ThingTalk).
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        store: str | Store = DEFAULT_STORE,
        deadline: float = DEFAULTS.deadline,
        reserve: float | None = DEFAULTS.reserve,
        queue_timeout: float = DEFAULTS.queue_timeout,
        queue_limit: int = DEFAULTS.queue_limit,
        max_text: int = DEFAULTS.max_text,
        durability: Literal["full", "relaxed"] = DEFAULTS.durability,
        fallback: str = DEFAULTS.fallback,
        recover_within: float = DEFAULTS.recover_within,
        max_attributes: int = DEFAULTS.max_attributes,
        switch_confidence: float = DEFAULTS.switch_confidence,
        name: str = DEFAULTS.name,
        observers: Sequence[Observer] = (),
        programs: Programs | None = None,
    ) -> None:
        AssistantSettings(
            name=name,
            durability=durability,
            deadline=deadline,
            reserve=reserve,
            queue_timeout=queue_timeout,
            queue_limit=queue_limit,
            max_text=max_text,
            fallback=fallback,
            recover_within=recover_within,
            max_attributes=max_attributes,
            switch_confidence=switch_confidence,
        ).check()
        self.name = name
        self.store = open_store(store, durability=durability) if isinstance(store, str) else store
        self.observers = list(observers)
        self.engine = Engine(
            pipeline,
            connect=connect,
            resolve=resolve,
            deadline=deadline,
            reserve=reserve,
            fallback=fallback,
            max_attributes=max_attributes,
            breaker_changed=self._breaker_changed,
        )
        self.ready = False
        self._rounds = InputInterpreter(pipeline.skills, switch_confidence=switch_confidence)
        self._recover_within = recover_within
        self._max_text = max_text
        self._queues = PersonQueues(limit=queue_limit, timeout=queue_timeout)
        self._wakers = FeedListeners()
        self._stopping = False
        guards = [step.guard for step in self.engine.prepared.every()]
        self.watchdog = Watchdog(lambda: len(self._queues) > 0, guards)
        services = [service.name for _, service in pipeline.services()]
        self._secrets = Secrets(self.store)
        self._journal = Journal(
            self.store,
            secrets=self._secrets,
            window=self.engine.prepared.window,
            hypotheses=self.engine.prepared.hypotheses,
            services=services,
        )
        self._skills = [service.name for service in pipeline.skills]
        self.programs = programs or make_programs(
            pipeline.skills, self.engine, self.store, deadline
        )
        deliveries = AgendaDelivery(
            self.store,
            skills=self._skills,
            programs=self.programs,
            wake=self._told_unasked,
            deadline=deadline,
            new_dialog_attributes=self._journal.new_dialog_attributes,
        )
        self._ringer = AgendaScheduler(
            self.store, self._queues, deliveries, settle=self._journal.pay
        )

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Open the store and take up the turns that were cut off, each in its person's queue."""
        await self.store.open()
        try:
            unfinished = await self.store.unfinished_turns()
        except StoreError:
            await self.store.aclose()
            raise
        self.watchdog.start()
        for turn in unfinished:
            place = self._queues.enter(turn.user, partial(self._recover, turn), patient=True)
            place.add_done_callback(lambda place: place.cancelled() or place.exception())
        self._ringer.start()
        self.ready = True

    async def aclose(self, *, grace: float | None = None) -> None:
        """Take no new turns, let those that were taken end (for `grace` seconds), close all."""
        self._stopping, self.ready = True, False
        await self._ringer.aclose()
        try:
            async with asyncio.timeout(grace):
                await self._queues.drained()
        except TimeoutError:
            log.warning("stopped while %d people's turns were running", len(self._queues))
            await self._queues.cut_off()
        self.watchdog.stop()
        await self._journal.settle_debts()
        await self.engine.aclose()
        await self.store.aclose()

    @property
    def busy(self) -> int:
        """The number of people whose turns are running or waiting."""
        return len(self._queues)

    async def reply(
        self,
        text: str,
        user: str,
        dialog: str | None = None,
        attributes: dict[str, Any] | None = None,
        request_id: str | None = None,
        *,
        parsed: dict[str, Any] | None = None,
        program: str | None = None,
    ) -> BotUtterance:
        """Answer one input of a person. Cancelling only stops waiting: the turn ends, stored.

        `dialog` names one of the person's dialogs ("main"). The same `request_id` gets the same
        reply; `Conflict` if something else was said with it before. What a button carries comes as
        `parsed`: `{code, entities}`, `{program}` or what a skill put in it; `program` is the source
        of a ThingTalk program. `text` is then its title, if any.
        """
        result = await self.turn(
            text,
            user=user,
            dialog=dialog,
            attributes=attributes,
            request_id=request_id,
            parsed=parsed,
            program=program,
        )
        return result.reply

    async def turn(
        self,
        text: str,
        *,
        user: str,
        dialog: str | None = None,
        attributes: dict[str, Any] | None = None,
        request_id: str | None = None,
        channel: str = "python",
        parsed: dict[str, Any] | None = None,
        program: str | None = None,
    ) -> TurnResult:
        """Do as `reply` does and give all that is known of the turn."""
        dialog_name = checked_dialog(dialog)
        input = checked_input(text, attributes, self._max_text, parsed, program)
        if request_id is not None:
            check_name(request_id, "a request id", "request_id")
        return await self._enqueue(
            user, lambda: self._turn(input, user, dialog_name, request_id, channel)
        )

    async def notify(
        self,
        user: str,
        messages: AnyMessage | Sequence[AnyMessage],
        ask: str | None = None,
        *,
        skill: str = "",
        dialog: str | None = None,
        key: str | None = None,
        context: Any = None,
    ) -> bool:
        """Say something to a person unasked; True if it is said, False if it waits.

        It waits where a dialog waits for an answer, until nothing is asked any more, and is kept
        for those who are away: 1,000 a person, then the earliest goes, with a count. A text is a
        message. `ask` makes it a question, whose answer `skill` gets, with `context` in it
        (`request["answer"]["context"]`). The same `key` says the same thing once (kept a day, the
        last 100 of a person); `Conflict` if something else was said with it before.
        """
        check_name(user, "a user", "user")
        entry = notification(
            user,
            checked_dialog(dialog),
            messages,
            ask=ask,
            skill=skill,
            key=key,
            context=context,
            due=time.time(),
            known=self._skills,
        )
        return await self._enqueue(user, lambda: self._ringer.notify(entry))

    async def start_program(
        self, user: str, code: str, info: ProgramInfo | None = None
    ) -> CreatedProgram:
        """Run a program, or start it if it goes on, outside of dialogs (`programs.create`)."""
        info = info or ProgramInfo()
        created = await self._enqueue(user, lambda: self.programs.create(user, code, info))
        for entry in created.entries:
            self._ringer.expect(entry.due)
        return created

    async def waiting(self, user: str, dialog: str | None = None) -> PendingAsk | None:
        """Return what a dialog waits for now, None if nothing is asked for."""
        return rounds.decode(await self.store.round(user, checked_dialog(dialog))).waiting

    async def close_dialog(self, user: str, dialog: str | None = None) -> str | None:
        """End a person's dialog; the next input starts a new one. Gives the ended dialog's id."""
        dialog_name = checked_dialog(dialog)
        return await self._enqueue(user, lambda: self._close_dialog(user, dialog_name))

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs; False if unknown."""
        return await self._enqueue(user, lambda: self._delete_person(user))

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None) -> None:
        """Store what somebody thinks of an utterance, and tell those who learn from it.

        `NotFound` for an unknown utterance.
        """
        await self.store.rate_utterance(utt_id, rating, user, timestamp())
        learners = self._learners()
        turn = await self.store.turn(utt_id) if learners else []
        if len(turn) != 2:
            return
        asked, reply = turn
        assert isinstance(reply, BotUtterance)
        rated = Rated(
            utt_id=utt_id,
            user=await self.store.owner_of(utt_id) or "",
            question=asked.text,
            agent=reply.active_skill,
            rating=rating,
        )
        for learner in learners:
            self._guarded(partial(learner.reply_rated, rated))

    async def feed(self, user: str, after: int = 0) -> AsyncIterator[FeedMessage]:
        """Return everything said to or by a person with `n > after`, and what comes, without
        end."""
        async for message in self._wakers.follow(self.store, user, after):
            yield message

    def listening(self, user: str) -> AbstractContextManager[asyncio.Event]:
        """Return what is set when this person's feed may have something new (`store.feed`)."""
        return self._wakers.listening(user)

    # -- inside -----------------------------------------------------------------------------

    async def _enqueue(self, user: str, work: Work[T]) -> T:
        if self._stopping:
            raise Stopping("the assistant is shutting down")
        check_name(user, "a user", "user_id")
        return await self._queues.run(user, work)

    async def _turn(
        self, input: Input, user: str, dialog: str, request_id: str | None, channel: str
    ) -> TurnResult:
        started = monotonic()
        opened = await self._journal.begin(
            input, user=user, dialog=dialog, channel=channel, request_id=request_id
        )
        if isinstance(opened, AnsweredRequest):
            return TurnResult.from_outcome(opened.reply or b"")
        self._wakers.wake(user)
        if opened.attempt > 1:
            input = input_of(opened)
        return await self._run(opened, input, started)

    async def _run(self, opened: OpenedTurn, input: Input, started: float) -> TurnResult:
        try:
            decision = self._rounds.read(opened, input)
            if decision.program is not None:
                seconds = started + self.engine.prepared.limits.deadline - monotonic()
                decision = await run_program(decision, self.programs, seconds)
            turn = await self.engine.run(opened, decision.start, started)
            learn(turn, decision)
            if decision.cancelled_skill is not None and is_cancelled(decision, turn.draft.spoken()):
                over = {"answer": cancelled_answer(decision.state.waiting)}
                await self.engine.tell(turn, decision.cancelled_skill, over)
            sequel = effects_of(opened, decision, turn.draft)
        except Exception:
            log.exception("turn %s broke, which no turn may", opened.opening.turn_id)
            return await self._close(opened)
        return await self._finish(turn, sequel, started)

    async def _close(self, opened: OpenedTurn) -> TurnResult:
        """End a turn that was cut off, with the fallback text; what was asked for still is."""
        decision = Decision(start=TurnStart(input=input_of(opened)), state=round_of(opened))
        turn = self.engine.closed(opened, decision.start, INTERRUPTED)
        return await self._finish(turn, effects_of(opened, decision, turn.draft), monotonic())

    async def _finish(self, turn: Turn, sequel: TurnEffects, started: float) -> TurnResult:
        result = await self._journal.finish(turn, sequel)
        self._wakers.wake(result.user)
        for entry in sequel.entries:
            self._ringer.expect(entry.due)
        if sequel.waiting is None:
            self._ringer.round_ended(result.user, turn.draft.begun.opening.dialog_name)
        else:
            load_ahead()
        if self.observers:
            seconds = monotonic() - started
            result.record = record = record_of(turn, seconds)
            self._tell(lambda observer: observer.turn_ended(record))
        return result

    def _told_unasked(self, user: str) -> None:
        self._secrets.forget(user)
        self._wakers.wake(user)

    async def _close_dialog(self, user: str, dialog: str) -> str | None:
        self._secrets.forget(user)
        closed = await self.store.close_dialog(user, dialog)
        self._ringer.round_ended(user, dialog)
        return closed

    async def _delete_person(self, user: str) -> bool:
        self._journal.forget(user)
        self._secrets.forget(user)
        deleted = await self.store.delete_person(user)
        self._ringer.forget(user)
        for learner in self._learners():
            self._guarded(partial(learner.person_deleted, user))
        self._wakers.wake(user)
        return deleted

    def _learners(self) -> list[RatingObserver]:
        return [one for one in self.observers if isinstance(one, RatingObserver)]

    async def _recover(self, turn: UnfinishedTurn) -> None:
        """Take up a turn that was cut off: once more if it is young, else close it."""
        try:
            opened = await self._journal.resume(turn.turn_id)
            young = time.time() - turn.started <= self._recover_within
            if young and turn.attempts < MAX_ATTEMPTS:
                log.info("turn %s was cut off and runs again", turn.turn_id)
                await self._run(opened, input_of(opened), monotonic())
            else:
                log.warning("turn %s was cut off and is closed", turn.turn_id)
                await self._close(opened)
        except ProlocutorError as error:
            log.error("turn %s cannot be taken up: %s", turn.turn_id, error)

    def _breaker_changed(self, service: str, state: BreakerState) -> None:
        self._tell(lambda observer: observer.breaker_changed(service, state))

    def _tell(self, what: Callable[[Observer], None]) -> None:
        for observer in self.observers:
            self._guarded(partial(what, observer))

    def _guarded(self, tell: Callable[[], None]) -> None:
        try:
            tell()
        except Exception:
            log.exception("an observer raised, which it must not")
