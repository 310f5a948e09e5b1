"""What happens in one turn, for those who look at it: events meanwhile, records at its end."""

from __future__ import annotations

from prolocutor.contracts.observer import ServiceRecord
from prolocutor.dialog.turn_events import (
    ServiceAsked,
    ServiceSettled,
    StageEnded,
    StageStarted,
    TurnListener,
)
from prolocutor.pipeline.ledger import Ledger, LedgerEntry
from prolocutor.pipeline.plan import Stage


class TurnAnnouncer:
    """Makes events of what becomes of the services in the ledger of one turn."""

    def __init__(self, listener: TurnListener, ledger: Ledger) -> None:
        self._listener = listener
        self._running: set[Stage] = set()
        self._left: dict[Stage, int] = {}
        for entry in ledger.entries:
            stage = entry.step.stage
            self._left[stage] = self._left.get(stage, 0) + 1

    def asked(self, entry: LedgerEntry) -> None:
        """Announce that a service is asked, and its stage if it is the first."""
        step = entry.step
        if step.stage not in self._running:
            self._running.add(step.stage)
            self._listener(StageStarted(step.stage_name))
        self._listener(ServiceAsked(step.name, step.stage_name))

    def settled(self, entry: LedgerEntry) -> None:
        """Announce how a service that was asked went, and its stage's end if it is the last."""
        step = entry.step
        if entry.started is not None and entry.outcome is not None:
            seconds = (entry.ended or entry.started) - entry.started
            self._listener(ServiceSettled(step.name, step.stage_name, entry.outcome, seconds))
        self._left[step.stage] -= 1
        if not self._left[step.stage] and step.stage in self._running:
            self._listener(StageEnded(step.stage_name))


def record_of_service(entry: LedgerEntry, began: float) -> ServiceRecord:
    """Return what became of a service, its times counted from when the turn began."""
    error = entry.error
    return ServiceRecord(
        name=entry.step.name,
        stage=entry.step.stage_name,
        outcome=entry.outcome or "skipped",
        started=None if entry.started is None else entry.started - began,
        ended=None if entry.ended is None else entry.ended - began,
        calls=entry.calls,
        error=str(error) if error else None,
        code=error.code if error else None,
    )
