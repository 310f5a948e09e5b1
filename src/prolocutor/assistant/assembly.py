"""The parts that an assistant is made of, each given those that it needs."""

from __future__ import annotations

import time
from functools import partial

import msgspec

from prolocutor.assistant.agenda_delivery import AgendaDelivery
from prolocutor.assistant.agenda_scheduler import AgendaScheduler
from prolocutor.assistant.assistant_settings import AssistantSettings, ReplicaSettings
from prolocutor.assistant.dialog_changes import DialogChanges
from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.handovers import Handovers
from prolocutor.assistant.journal import Journal
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.operator_labels import OperatorLabels
from prolocutor.assistant.person_access import PersonAccess, shared_store
from prolocutor.assistant.person_queues import PersonQueues
from prolocutor.assistant.rounds.interpreter import InputInterpreter
from prolocutor.assistant.rounds.secrets import Secrets
from prolocutor.assistant.service_switches import ServiceSwitches
from prolocutor.assistant.shared_agenda import SharedAgenda
from prolocutor.assistant.shared_lessons import SharedLessons
from prolocutor.assistant.speaking_skills import SpeakingSkills
from prolocutor.assistant.store_health import StoreHealth
from prolocutor.assistant.stored_replies import StoredReplies
from prolocutor.assistant.succession import Succession
from prolocutor.assistant.turn_runner import TurnRunner
from prolocutor.assistant.wake_ups import BrokerOrStore
from prolocutor.assistant.watchdog import Watchdog
from prolocutor.assistant.wiring import ServiceWiring, make_programs
from prolocutor.contracts.programs import Programs
from prolocutor.contracts.shared_store import BrokerWakeUps, WakeUps
from prolocutor.contracts.store import Store
from prolocutor.dotted_names import resolve
from prolocutor.pipeline.engine import Engine
from prolocutor.plan.pipeline import Pipeline, Stage


class AssistantParts(msgspec.Struct, frozen=True):
    """What an assistant passes its callers' wishes on to."""

    engine: Engine
    queues: PersonQueues
    watchdog: Watchdog
    programs: Programs
    broker: BrokerWakeUps | None
    journal: Journal
    scheduler: AgendaScheduler
    changes: DialogChanges
    turns: TurnRunner
    listeners: FeedListeners
    handovers: Handovers
    health: StoreHealth
    switches: ServiceSwitches
    access: PersonAccess | None = None
    succession: Succession | None = None


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
) -> AssistantParts:
    """Return the parts of one assistant; those of a replica only where the store is shared.

    `programs` and `broker` take the place of those that are made otherwise.
    """
    wiring = ServiceWiring(settings.name, settings.messages)
    engine = _engine(pipeline, settings, wiring, observers)
    broker = broker or wiring.broker(store)
    queues = PersonQueues(limit=settings.queue_limit, timeout=settings.queue_timeout)
    skills = pipeline.of(Stage.SKILL)
    programs = programs or make_programs(skills, engine, store, settings.deadline)
    guards = [step.guard for step in engine.prepared.every()]
    watchdog = Watchdog(lambda: len(queues) > 0, guards, engine.prepared.running)
    shared = shared_store(store)
    wake_ups: WakeUps | None = shared
    if shared is not None and broker is not None:
        wake_ups = BrokerOrStore(broker, shared)
    listeners = FeedListeners(wake_ups)
    access = (
        None if shared is None else PersonAccess(shared, listeners, timeout=settings.queue_timeout)
    )
    clock = time.time if shared is None else shared.clock
    secrets = Secrets(store)
    journal = Journal(
        store, engine=engine, secrets=secrets, clock=None if shared is None else clock
    )
    handovers = Handovers(store, engine=engine, settings=settings.handover, clock=clock)
    deliveries = AgendaDelivery(
        store,
        skills=[service.name for service in skills],
        programs=programs,
        secrets=secrets,
        listeners=listeners,
        deadline=settings.deadline,
        new_dialog_attributes=journal.new_dialog_attributes,
        handovers=handovers,
    )
    scheduler = AgendaScheduler(
        store,
        queues,
        deliveries,
        settle=journal.settle,
        clock=clock,
        shared=SharedAgenda(shared, access, replica.lease) if shared and access else None,
    )
    lessons = None if shared is None else SharedLessons(shared, observers)
    changes = DialogChanges(
        store,
        journal=journal,
        secrets=secrets,
        listeners=listeners,
        scheduler=scheduler,
        observers=observers,
        handovers=handovers,
        lessons=lessons,
        labels=labels,
    )
    health = StoreHealth(store)
    switches = ServiceSwitches(store, engine.prepared, partial(listeners.wake_others, ""))
    turns = TurnRunner(
        engine=engine,
        journal=journal,
        interpreter=InputInterpreter(
            skills,
            switch_confidence=settings.switch_confidence,
            answers_controls=pipeline.own_words,
        ),
        programs=programs,
        listeners=listeners,
        scheduler=scheduler,
        observers=observers,
        recover_within=settings.recover_within,
        handovers=handovers,
        health=health,
        clock=clock,
        access=access,
        stored=StoredReplies(shared, access) if shared and access else None,
        speaking=SpeakingSkills(store) if engine.prepared.reads_skills else None,
    )
    succession = None
    if shared is not None and access is not None and wake_ups is not None and lessons is not None:
        succession = Succession(
            shared,
            replica,
            access=access,
            journal=journal,
            turns=turns,
            scheduler=scheduler,
            listeners=listeners,
            wake_ups=wake_ups,
            switches=switches,
            lessons=lessons if observers.has_learners else None,
        )
    return AssistantParts(
        engine=engine,
        queues=queues,
        watchdog=watchdog,
        programs=programs,
        broker=broker,
        journal=journal,
        scheduler=scheduler,
        changes=changes,
        turns=turns,
        listeners=listeners,
        handovers=handovers,
        health=health,
        switches=switches,
        access=access,
        succession=succession,
    )


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
