"""RecordRequest: an observer for whose sake records of turns are made."""

from __future__ import annotations

from prolocutor.contracts.observer import TurnRecord


class RecordRequest:
    """An observer that asks for records and does nothing with them: a turn's result has its own."""

    def turn_ended(self, record: TurnRecord) -> None:
        """Do nothing."""

    def breaker_changed(self, service: str, state: str) -> None:
        """Do nothing."""
