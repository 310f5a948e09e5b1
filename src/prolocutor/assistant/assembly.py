"""The parts of an assistant: their making, start and end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

import msgspec

from prolocutor.asks.kinds import AskKinds
from prolocutor.assistant.agenda import Agenda
from prolocutor.assistant.agenda_scheduler import AgendaDelivery, AgendaScheduler
from prolocutor.assistant.archive import DialogArchive
from prolocutor.assistant.assistant_settings import AssistantSettings, ReplicaSettings
from prolocutor.assistant.call_recording import CallRecorder
from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.handovers import Handovers
from prolocutor.assistant.journal import Journal
from prolocutor.assistant.lone_talk import LoneTalk
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.operator_desk import OperatorDesk, OperatorLabels
from prolocutor.assistant.person_queues import PersonQueues
from prolocutor.assistant.rounds.interpreter import InputInterpreter
from prolocutor.assistant.services import ServiceSwitches
from prolocutor.assistant.sharing import Sharing, find_sharing
from prolocutor.assistant.store_health import StoreHealth
from prolocutor.assistant.turn_record import RecordKeeping
from prolocutor.assistant.turn_runner import TurnNews, TurnRunner
from prolocutor.assistant.turns import Turns
from prolocutor.assistant.watchdog import Watchdog
from prolocutor.assistant.wiring import ServiceWiring, call_keepers, make_programs
from prolocutor.background import BackgroundTasks
from prolocutor.clocks import SteadyClock
from prolocutor.contracts.calls import CallKeeper
from prolocutor.contracts.programs import Programs
from prolocutor.contracts.shared_store import BrokerWakeUps, store_clock
from prolocutor.contracts.store import Store
from prolocutor.errors import ConfigError, Stopping, StoreAway, StoreError
from prolocutor.functions import resolve
from prolocutor.pipeline.engine import Engine
from prolocutor.plan.pipeline import Pipeline, Stage

log = logging.getLogger(__name__)


FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 2.0
"""Seconds between two tries: the first pause is doubled up to the longest."""
FIRST_TRY: Final = 5.0
"""Seconds after which a start goes on in the background."""


class AssistantParts(msgspec.Struct, frozen=True):
    """The parts of an assistant."""

    engine: Engine
    queues: PersonQueues
    watchdog: Watchdog
    programs: Programs
    broker: BrokerWakeUps | None
    journal: Journal
    scheduler: AgendaScheduler
    runner: TurnRunner
    turns: Turns
    archive: DialogArchive
    agenda: Agenda
    desk: OperatorDesk
    alone: LoneTalk
    records: RecordKeeping
    observers: ObserverGroup
    listeners: FeedListeners
    handovers: Handovers
    health: StoreHealth
    switches: ServiceSwitches
    sharing: Sharing | None = None


class Lifetime:
    """The state of an assistant: started, taking turns, stopping; `parts` are its parts."""

    parts: AssistantParts

    def __init__(self, store: Store) -> None:
        self._store = store
        self._late_start = LateStart(self._start)
        self.started = False
        self.stopping = False
        self.keepers: list[CallKeeper] = []
        """Keepers of the calls of services: the ledger of effects, the purse."""
        self.before_end: list[Callable[[], Awaitable[None]]] = []
        """Called before the assistant is closed, such as the end of a mounted app's doors."""

    @property
    def ready(self) -> bool:
        """Whether turns are taken: it has started, is not stopping, and can reach the store."""
        return self.started and not self.stopping and not (self.waits or self.is_cut_off)

    @property
    def waits(self) -> bool:
        """Whether the store has not answered since the start."""
        return self._late_start.waits

    @property
    def is_cut_off(self) -> bool:
        """Whether the assistant has started and cannot reach its shared store."""
        sharing = self.parts.sharing
        return self.started and sharing is not None and not sharing.reachable

    def check_open(self) -> None:
        """Raise `Stopping` or `StoreAway` if no turns are taken."""
        if self.stopping:
            raise Stopping("the assistant is shutting down")
        if self.waits:
            raise StoreAway("the store has not answered since the start")

    async def start(self, *, patient: bool) -> None:
        """Open the store and start all parts; if `patient`, retry in the background if need be."""
        await (self._late_start.begin() if patient else self._start())
        self.started = True

    async def end(self, grace: float | None) -> None:
        """Refuse new turns, wait for running turns (`grace` seconds at most), close all."""
        while self.before_end:
            await self.before_end.pop()()
        self.stopping = True
        parts = self.parts
        await self._late_start.aclose()
        if parts.sharing is not None:
            parts.sharing.decline()
        await parts.scheduler.aclose()
        await parts.queues.drain(grace)
        parts.watchdog.stop()
        await parts.health.aclose()
        await parts.journal.settle_all()
        if parts.sharing is not None:
            await parts.sharing.aclose(grace)
        await parts.handovers.aclose()
        if (variants := parts.engine.prepared.variants) is not None:
            await variants.aclose()
        for keeper in self.keepers:
            await keeper.aclose()
        if parts.broker is not None:
            await parts.broker.aclose()
        await parts.engine.aclose()
        await parts.records.aclose()
        await self._store.aclose()

    async def _start(self) -> None:
        parts = self.parts
        await self._store.open()
        unfinished = []
        try:
            await parts.switches.refresh()
            await parts.observers.start_learners(self._store)
            if parts.sharing is None:
                unfinished = await self._store.unfinished_turns()
            else:
                await parts.sharing.start()
        except StoreError:
            await self._store.aclose()
            raise
        if parts.broker is not None:
            await parts.broker.open()
        parts.watchdog.start()
        for turn in unfinished:
            recover = partial(parts.runner.recover, turn)
            recovered = parts.queues.enter(turn.user, recover, patient=True)
            recovered.add_done_callback(lambda done: done.cancelled() or done.exception())
        parts.scheduler.start()
        parts.handovers.start()
        parts.records.start()
        for keeper in self.keepers:
            await keeper.start()


class LateStart:
    """Calls `start` until the store answers; nothing is ready meanwhile."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._start = start
        self._trying = BackgroundTasks("late start")
        self.waits = False
        """Whether the store has not answered yet."""

    async def begin(self) -> None:
        """Try; continue in the background if the store is away or slow.

        Raise any other error of the first try.
        """
        self.waits, reason = True, "the store has not answered yet"
        trial = self._trying.start(self._start(), awaited=True)
        try:
            await asyncio.wait({trial}, timeout=FIRST_TRY)
            if trial.done():
                await trial
                self.waits = False
                return
        except StoreAway as error:
            reason = str(error)
        except BaseException:
            await self.aclose()
            raise
        log.warning("%s; waiting for it, no turns are taken", reason)
        self._trying.start(self._try(trial, reason))

    async def aclose(self) -> None:
        """Stop trying."""
        await self._trying.aclose()

    async def _try(self, trial: Awaitable[None], said: str) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                await trial
            except (StoreError, ConfigError) as error:
                if str(error) != said:
                    said = str(error)
                    log.warning("%s; waiting, no turns are taken", said)
            except Exception:
                log.exception("the store cannot be opened; trying again")
            else:
                self.waits = False
                log.warning("the store answers, turns are taken")
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            trial = self._start()


def assemble(
    pipeline: Pipeline,
    settings: AssistantSettings,
    *,
    store: Store,
    observers: ObserverGroup,
    programs: Programs | None,
    replica: ReplicaSettings,
    broker: BrokerWakeUps | None,
    labels: OperatorLabels,
    recorder: CallRecorder | None = None,
) -> Lifetime:
    """Make the parts of an assistant, with parts for replicas only if the store is shared.

    `programs` and `broker` replace the defaults; `recorder` records all calls.
    """
    life = Lifetime(store)
    if recorder is not None:
        recorder.begin(settings.name, pipeline)
    skills = pipeline.services_at(Stage.SKILL)
    life.keepers = call_keepers(pipeline, settings, store)
    wiring = ServiceWiring(settings.name, settings.messages, skills, store, recorder, life.keepers)
    engine = _engine(pipeline, settings, wiring, observers)
    broker = broker or wiring.broker(store)
    queues = PersonQueues(limit=settings.queue_limit, timeout=settings.queue_timeout)
    names = [service.name for service in skills]
    programs = programs or make_programs(skills, engine, store, settings.deadline)
    guards = [step.guard for step in engine.prepared.every()]
    sharing = find_sharing(store, replica, broker, settings.queue_timeout)
    listeners = FeedListeners() if sharing is None else sharing.listeners
    line = None if sharing is None else sharing.line
    clock = store_clock(store)
    steady = SteadyClock() if clock is time.time else clock
    journal = Journal(store, engine=engine, clock=steady, shared=sharing is not None)
    handovers = Handovers(store, engine=engine, settings=settings.handover, clock=clock)
    deliveries = AgendaDelivery(
        store,
        skills=names,
        programs=programs,
        listeners=listeners,
        deadline=settings.deadline,
        new_dialog_attributes=journal.new_dialog_attributes,
        handovers=handovers,
        digressions=settings.digressions,
    )
    scheduler = AgendaScheduler(
        store, queues, deliveries, settle=journal.settle, clock=clock, line=line
    )
    health = StoreHealth(store)
    switches = ServiceSwitches(store, engine.prepared, partial(listeners.wake_others, ""))
    runner = TurnRunner(
        engine=engine,
        journal=journal,
        interpreter=InputInterpreter(
            skills,
            programs=programs,
            switch_confidence=settings.switch_confidence,
            digressions=settings.digressions,
            answers_controls=pipeline.own_words,
            asks=AskKinds(settings.asks),
        ),
        news=TurnNews(listeners, scheduler, handovers, observers),
        recover_within=settings.recover_within,
        handovers=handovers,
        health=health,
        clock=steady,
        line=line,
        keepers=life.keepers,
    )
    if sharing is not None:
        sharing.join(
            journal=journal,
            turns=runner,
            scheduler=scheduler,
            switches=switches,
            learners=observers,
        )
    turns = Turns(
        runner,
        queues,
        sharing,
        check_open=life.check_open,
        skills=names,
        max_text=settings.max_text,
        recorder=recorder,
    )
    records = RecordKeeping(store, observers, settings.deadline, steady)
    archive = DialogArchive(
        store,
        turns,
        journal=journal,
        listeners=listeners,
        scheduler=scheduler,
        observers=observers,
        handovers=handovers,
        labels=labels,
        records=records,
        max_text=settings.max_text,
    )
    life.parts = AssistantParts(
        engine=engine,
        queues=queues,
        watchdog=Watchdog(lambda: len(queues) > 0, guards, engine.prepared.running),
        programs=programs,
        broker=broker,
        journal=journal,
        scheduler=scheduler,
        runner=runner,
        turns=turns,
        archive=archive,
        agenda=Agenda(turns, scheduler, programs, names),
        desk=OperatorDesk(store, turns, runner, settings.handover, settings.max_text),
        alone=LoneTalk(store, engine, settings.max_text),
        records=records,
        observers=observers,
        listeners=listeners,
        handovers=handovers,
        health=health,
        switches=switches,
        sharing=sharing,
    )
    return life


def _engine(
    pipeline: Pipeline,
    settings: AssistantSettings,
    wiring: ServiceWiring,
    observers: ObserverGroup,
) -> Engine:
    return Engine(
        pipeline,
        connect=wiring.kept,
        resolve=resolve,
        deadline=settings.deadline,
        reserve=settings.reserve,
        fallback=settings.fallback,
        max_attributes=settings.max_attributes,
        breaker_changed=observers.breaker_changed,
    )
