"""The parts that an assistant is made of, each given those that it needs."""

from __future__ import annotations

import msgspec

from prolocutor.assistant.agenda_delivery import AgendaDelivery
from prolocutor.assistant.agenda_scheduler import AgendaScheduler
from prolocutor.assistant.dialog_changes import DialogChanges
from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.journal import Journal
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.person_queues import PersonQueues
from prolocutor.assistant.rounds.interpreter import InputInterpreter
from prolocutor.assistant.rounds.secrets import Secrets
from prolocutor.assistant.turn_runner import TurnRunner
from prolocutor.contracts.programs import Programs
from prolocutor.contracts.store import Store
from prolocutor.pipeline.engine import Engine
from prolocutor.pipeline.plan import Pipeline, Stage


class AssistantParts(msgspec.Struct, frozen=True):
    """What an assistant passes its callers' wishes on to."""

    journal: Journal
    scheduler: AgendaScheduler
    changes: DialogChanges
    turns: TurnRunner


def assemble(
    pipeline: Pipeline,
    *,
    engine: Engine,
    store: Store,
    queues: PersonQueues,
    listeners: FeedListeners,
    observers: ObserverGroup,
    programs: Programs,
    deadline: float,
    switch_confidence: float,
    recover_within: float,
) -> AssistantParts:
    """Return the parts of one assistant."""
    secrets = Secrets(store)
    journal = Journal(store, engine=engine, secrets=secrets)
    skills = pipeline.of(Stage.SKILL)
    deliveries = AgendaDelivery(
        store,
        skills=[service.name for service in skills],
        programs=programs,
        secrets=secrets,
        listeners=listeners,
        deadline=deadline,
        new_dialog_attributes=journal.new_dialog_attributes,
    )
    scheduler = AgendaScheduler(store, queues, deliveries, settle=journal.settle)
    changes = DialogChanges(
        store,
        journal=journal,
        secrets=secrets,
        listeners=listeners,
        scheduler=scheduler,
        observers=observers,
    )
    turns = TurnRunner(
        engine=engine,
        journal=journal,
        interpreter=InputInterpreter(
            skills, switch_confidence=switch_confidence, answers_controls=pipeline.own_words
        ),
        programs=programs,
        listeners=listeners,
        scheduler=scheduler,
        observers=observers,
        recover_within=recover_within,
    )
    return AssistantParts(journal, scheduler, changes, turns)
