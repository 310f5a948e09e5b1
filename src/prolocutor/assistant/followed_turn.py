"""FollowedTurn: passes what becomes of the services of one turn on to those who follow turns."""

from __future__ import annotations

from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.contracts.observer import TurnBegun
from prolocutor.contracts.store import OpenedTurn
from prolocutor.pipeline.ledger_entries import LedgerEntry


class FollowedTurn:
    """The `LedgerWatch` of a turn that is followed."""

    def __init__(self, opened: OpenedTurn, observers: ObserverGroup) -> None:
        said = opened.opening
        self._turn_id = said.turn_id
        self._observers = observers
        observers.turn_begun(
            TurnBegun(
                turn_id=said.turn_id,
                dialog_id=opened.dialog_id,
                user=said.user,
                channel=said.channel_type,
                text=said.text,
                at=said.started,
            )
        )

    def asked(self, entry: LedgerEntry) -> None:
        """Pass on that a service is asked."""
        step = entry.step
        self._observers.service_asked(self._turn_id, step.name, step.stage_name)

    def settled(self, entry: LedgerEntry) -> None:
        """Pass on what became of a service, if it was asked."""
        if entry.started is None or entry.outcome is None:
            return
        step, seconds = entry.step, (entry.ended or entry.started) - entry.started
        self._observers.service_settled(
            self._turn_id, step.name, step.stage_name, entry.outcome, seconds
        )
