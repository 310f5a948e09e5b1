"""RequestLog: the outcomes of requests, for clients that send a request again within a day."""

from __future__ import annotations

import sqlite3
from typing import Final

from prolocutor.contracts.store import AnsweredRequest, TurnOpening
from prolocutor.dialog.ids import TurnId
from prolocutor.durations import DAY
from prolocutor.errors import Conflict
from prolocutor.stores.sqlite.head_cache import PersonHead
from prolocutor.stores.sqlite.pending_rows import PendingRows
from prolocutor.stores.sqlite.queries import named

_ANSWERED: Final = named("answered_request")
_OLDEST: Final = named("oldest_request")
_DELETE: Final = named("forget_requests")


class RequestLog:
    """Finds and adds requests. Those of open turns are in the head of their person."""

    def __init__(self, connection: sqlite3.Connection, rows: PendingRows) -> None:
        self._connection = connection
        self._rows = rows
        self._newest_start = 0.0
        self._added = 0

    def answer_to(self, person: PersonHead, opening: TurnOpening) -> AnsweredRequest | None:
        """Return the outcome of this request; None if it is new."""
        key = opening.request_key or ""
        found: tuple[TurnId, bytes | None] | None = person.open_requests.get(key)
        outcome = None
        if found is None:
            if self._rows.requests:
                self._rows.write(self._connection)
            since = opening.started - DAY
            row = self._connection.execute(_ANSWERED, (person.person, key, since)).fetchone()
            if row is None:
                return None
            turn_id, digest, outcome = row
        else:
            turn_id, digest = found
        if digest != opening.request_hash:
            raise Conflict(
                f"the request key {key!r} was used for another request", field="Idempotency-Key"
            )
        return AnsweredRequest(turn_id=turn_id, reply=outcome)

    def opened(self, person: PersonHead, opening: TurnOpening) -> None:
        """Note that the turn of a request is open."""
        self._newest_start = max(self._newest_start, opening.started)
        if opening.request_key is not None:
            person.open_requests[opening.request_key] = (opening.turn_id, opening.request_hash)

    def answered(
        self, person: PersonHead, dialog: int, opening: TurnOpening, outcome: bytes
    ) -> None:
        """Add the outcome of a request whose turn is closed."""
        person.open_requests.pop(opening.request_key or "", None)
        self._added += 1
        self._rows.requests += (person.person, opening.request_key, opening.request_hash,
                                opening.turn_id, dialog, opening.started, outcome)  # fmt: skip

    def delete_expired(self) -> None:
        """Delete requests that were answered more than a day before the newest turn started.

        Twice as many are examined as were added since the last time, so that old ones run out.
        """
        execute, since = self._connection.execute, self._newest_start - DAY
        oldest = execute(_OLDEST).fetchone()
        if oldest is not None:
            (at,) = oldest
            if at < since:
                execute(_DELETE, (2 * self._added + 100, since))
        self._added = 0
