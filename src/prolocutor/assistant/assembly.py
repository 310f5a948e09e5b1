"""The parts that an assistant is made of, each given those that it needs."""

from __future__ import annotations

from functools import partial

from prolocutor.asks.kinds import AskKinds
from prolocutor.assistant.agenda import Agenda
from prolocutor.assistant.agenda_delivery import AgendaDelivery
from prolocutor.assistant.agenda_scheduler import AgendaScheduler
from prolocutor.assistant.archive import DialogArchive
from prolocutor.assistant.assistant_settings import AssistantSettings, ReplicaSettings
from prolocutor.assistant.handovers import Handovers
from prolocutor.assistant.journal import Journal
from prolocutor.assistant.lifetime import AssistantParts, Lifetime
from prolocutor.assistant.lone_talk import LoneTalk
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.operator_desk import OperatorDesk
from prolocutor.assistant.operator_labels import OperatorLabels
from prolocutor.assistant.person_queues import PersonQueues
from prolocutor.assistant.rounds.interpreter import InputInterpreter
from prolocutor.assistant.rounds.secrets import Secrets
from prolocutor.assistant.services import ServiceSwitches
from prolocutor.assistant.speaking_skills import SpeakingSkills
from prolocutor.assistant.store_health import StoreHealth
from prolocutor.assistant.store_sharing import StoreSharing
from prolocutor.assistant.turn_recorder import RecordKeeping
from prolocutor.assistant.turn_runner import TurnRunner
from prolocutor.assistant.turns import Turns
from prolocutor.assistant.watchdog import Watchdog
from prolocutor.assistant.wiring import ServiceWiring, make_programs
from prolocutor.contracts.programs import Programs
from prolocutor.contracts.shared_store import BrokerWakeUps
from prolocutor.contracts.store import Store
from prolocutor.dotted_names import resolve
from prolocutor.pipeline.engine import Engine
from prolocutor.plan.pipeline import Pipeline, Stage


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
) -> Lifetime:
    """Make the parts of one assistant; those of a replica only where the store is shared.

    `programs` and `broker` take the place of those that are made otherwise.
    """
    life = Lifetime(store)
    wiring = ServiceWiring(settings.name, settings.messages, pipeline.of(Stage.SKILL))
    engine = _engine(pipeline, settings, wiring, observers)
    broker = broker or wiring.broker(store)
    queues = PersonQueues(limit=settings.queue_limit, timeout=settings.queue_timeout)
    skills = pipeline.of(Stage.SKILL)
    names = [service.name for service in skills]
    programs = programs or make_programs(skills, engine, store, settings.deadline)
    guards = [step.guard for step in engine.prepared.every()]
    sharing = StoreSharing(store, replica, broker, observers, settings.queue_timeout)
    listeners, clock = sharing.listeners, sharing.clock
    secrets = Secrets(store)
    journal = Journal(
        store,
        engine=engine,
        secrets=secrets,
        clock=sharing.steady,
        shared=sharing.access is not None,
    )
    handovers = Handovers(store, engine=engine, settings=settings.handover, clock=clock)
    deliveries = AgendaDelivery(
        store,
        skills=names,
        programs=programs,
        secrets=secrets,
        listeners=listeners,
        deadline=settings.deadline,
        new_dialog_attributes=journal.new_dialog_attributes,
        handovers=handovers,
    )
    scheduler = AgendaScheduler(
        store, queues, deliveries, settle=journal.settle, clock=clock, shared=sharing.agenda
    )
    health = StoreHealth(store)
    switches = ServiceSwitches(store, engine.prepared, partial(listeners.wake_others, ""))
    runner = TurnRunner(
        engine=engine,
        journal=journal,
        interpreter=InputInterpreter(
            skills,
            switch_confidence=settings.switch_confidence,
            digressions=settings.digressions,
            answers_controls=pipeline.own_words,
            asks=AskKinds(settings.asks),
        ),
        programs=programs,
        listeners=listeners,
        scheduler=scheduler,
        observers=observers,
        recover_within=settings.recover_within,
        handovers=handovers,
        health=health,
        clock=sharing.steady,
        access=sharing.access,
        stored=sharing.stored,
        speaking=SpeakingSkills(store) if engine.prepared.reads_skills else None,
    )
    succession = sharing.succession(journal, runner, scheduler, switches)
    turns = Turns(
        runner,
        queues,
        sharing.access,
        succession,
        check_open=life.check_open,
        skills=names,
        max_text=settings.max_text,
    )
    records = RecordKeeping(store, observers, settings.deadline, sharing.steady)
    archive = DialogArchive(
        store,
        turns,
        journal=journal,
        secrets=secrets,
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
        succession=succession,
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
        connect=wiring.connect,
        resolve=resolve,
        deadline=settings.deadline,
        reserve=settings.reserve,
        fallback=settings.fallback,
        max_attributes=settings.max_attributes,
        breaker_changed=observers.breaker_changed,
    )
