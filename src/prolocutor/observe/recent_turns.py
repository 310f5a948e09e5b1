"""RecentTurns: the records of the last turns, to look into."""

from __future__ import annotations

from collections import deque
from itertools import islice

from prolocutor.contracts.observer import TurnRecord


class RecentTurns:
    """An observer that holds the last `size` records, of all users together."""

    def __init__(self, size: int = 200) -> None:
        self._records: deque[TurnRecord] = deque(maxlen=size)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._records)

    def turn_ended(self, record: TurnRecord) -> None:
        """Add a record, and drop the oldest if there are too many."""
        self._records.append(record)

    def breaker_changed(self, service: str, state: str) -> None:
        """Do nothing: only turns are recorded."""

    def last(self, number: int = 20, *, user: str | None = None) -> list[TurnRecord]:
        """Return the last records, newest first, of one user or of all."""
        newest_first = reversed(self._records)
        return list(islice((r for r in newest_first if user in (None, r.user)), number))

    def find(self, turn_id: str) -> TurnRecord | None:
        """Return the record of a turn, if it is among the last."""
        return next((r for r in self._records if r.turn_id == turn_id), None)

    def of_reply(self, utt_id: str) -> TurnRecord | None:
        """Return the latest record of the turn whose reply has this id, if it is among the last."""
        return next((r for r in reversed(self._records) if r.utt_id == utt_id), None)
