"""From an error to the answer that tells of it: the one table of all doors.

    BadInput 400 · Unauthenticated 401 · Forbidden 403 · NotFound 404 · Conflict 422
    Overloaded 429 · Stopping, StoreFull 503 · Refused: its own · anything else 500

Every answer is `{"error": text, "code": str, "field": name or null}`. What nobody expected is
logged in full under an id, and only the id goes out.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from prolocutor.contracts.channel import HttpResponse
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.errors import (
    BadInput,
    Conflict,
    Forbidden,
    NotFound,
    Overloaded,
    Stopping,
    StoreFull,
    Unauthenticated,
)

log = logging.getLogger(__name__)


class HttpError(BadInput):
    """A request that HTTP itself has a status for: too large, wrong method and so on."""

    def __init__(
        self, status: HTTPStatus, what: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status = status
        self.code = status.phrase.lower().replace(" ", "_").replace("-", "_")
        self.headers = headers or {}
        super().__init__(what)


class ErrorResponse(msgspec.Struct, frozen=True):
    """What goes out instead of an answer: `status` and `headers` for HTTP, the rest for all."""

    status: int
    error: str
    code: str
    field: str | None = None
    headers: Mapping[str, str] = {}

    def body(self) -> dict[str, Any]:
        """Return what the client reads."""
        return {"error": self.error, "code": self.code, "field": self.field}

    def encoded(self) -> bytes:
        """Return what the client reads, as JSON."""
        return plain.encode(self.body())

    def response(self) -> HttpResponse:
        """Return the answer over HTTP."""
        return HttpResponse(self.encoded(), self.status, headers=self.headers)


_STATUS: Final[dict[type[Exception], tuple[int, Mapping[str, str]]]] = {
    BadInput: (400, {}),
    Unauthenticated: (401, {"WWW-Authenticate": "Bearer"}),
    Forbidden: (403, {}),
    NotFound: (404, {}),
    Conflict: (422, {}),
    Overloaded: (429, {"Retry-After": "1"}),
    Stopping: (503, {"Retry-After": "5"}),
    StoreFull: (503, {"Retry-After": "60"}),
}


def error_response(error: Exception) -> ErrorResponse:
    """Look an error up in the table; what is not in it is logged and shown by its id alone."""
    if isinstance(error, HttpError):
        return ErrorResponse(error.status, str(error), error.code, error.field, error.headers)
    for kind in type(error).__mro__:
        if kind in _STATUS:
            status, headers = _STATUS[kind]
            field = getattr(error, "field", None)
            return ErrorResponse(
                status, str(error), getattr(error, "code", "error"), field, headers
            )
    id_ = new_id()
    log.error("error %s: %s", id_, error, exc_info=error)
    return ErrorResponse(500, f"something went wrong here; it is logged as {id_}", "internal")
