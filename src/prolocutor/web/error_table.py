"""The error table: from an error to its HTTP response, for all doors.

    BadInput 400 · Unauthenticated 401 · Forbidden 403 · NotFound 404
    HandoverConflict, LabelConflict 409 · Conflict 422 · Overloaded 429
    Stopping, ProviderAway, StoreError 503
    HttpError: its own · anything else 500

Every response is `{"error": text, "code": str, "field": name or null}`. An error outside of the
table is logged in full under an id, and only the id is sent. The text of a `StoreError` is for
operators too: it is logged, and clients are sent another text.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from prolocutor.contracts.http import HttpResponse
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import (
    BadInput,
    Conflict,
    Forbidden,
    HandoverConflict,
    LabelConflict,
    NotFound,
    Overloaded,
    PersonMoved,
    PersonUnreadable,
    ProviderAway,
    QuotaExceeded,
    Stopping,
    StoreAway,
    StoreCorrupt,
    StoreError,
    StoreFull,
    Unauthenticated,
)

log = logging.getLogger(__name__)

_STATUS: Final[Mapping[type[Exception], tuple[int, Mapping[str, str]]]] = {
    BadInput: (400, {}),
    Unauthenticated: (401, {"WWW-Authenticate": "Bearer"}),
    Forbidden: (403, {}),
    NotFound: (404, {}),
    HandoverConflict: (409, {}),
    LabelConflict: (409, {}),
    Conflict: (422, {}),
    Overloaded: (429, {"Retry-After": "1"}),
    Stopping: (503, {"Retry-After": "5"}),
    ProviderAway: (503, {"Retry-After": "10"}),
    StoreCorrupt: (500, {}),
    StoreFull: (503, {"Retry-After": "60"}),
    PersonUnreadable: (503, {"Retry-After": "60"}),
    PersonMoved: (503, {"Retry-After": "1"}),
    StoreError: (503, {"Retry-After": "1"}),
}

_STORE_AWAY: Final = "the store cannot be used now; what was confirmed is safe: try again"

_HIDDEN: Final[Mapping[type[Exception], str]] = {
    StoreError: _STORE_AWAY,
    StoreFull: "the disk is full; what was confirmed is safe: try again later",
}
"""The texts for clients of errors whose own text names a file."""


class HttpError(BadInput):
    """A request for which HTTP has a status of its own: too large, wrong method and so on."""

    def __init__(
        self, status: HTTPStatus, what: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status = status
        self.code = status.phrase.lower().replace(" ", "_").replace("-", "_")
        self.headers = headers or {}
        super().__init__(what)


class ErrorBody(msgspec.Struct, frozen=True):
    """Why a request was refused."""

    error: Annotated[str, Meta(description="What happened, in a sentence.")]
    code: Annotated[str, Meta(description="The same as one word, for programs.")]
    field: Annotated[str | None, Meta(description="The part of the request at fault.")]


class ErrorResponse(msgspec.Struct, frozen=True):
    """The response to an error; only HTTP uses `status` and `headers`."""

    status: int
    error: str
    code: str
    field: str | None = None
    headers: Mapping[str, str] = {}

    @property
    def data(self) -> JsonObject:
        """The error as JSON data, for protocols with their own form of errors."""
        return {"error": self.error, "code": self.code, "field": self.field}

    def body(self) -> ErrorBody:
        """Return the body of the response."""
        return ErrorBody(self.error, self.code, self.field)

    def encode_body(self) -> bytes:
        """Return the body of the response as JSON."""
        return plain.encode(self.body())

    def response(self) -> HttpResponse:
        """Return the HTTP response."""
        return HttpResponse(self.encode_body(), self.status, headers=self.headers)


def error_response(error: Exception) -> ErrorResponse:
    """Return the response to an error; log an error outside of the table."""
    if isinstance(error, HttpError):
        return ErrorResponse(error.status, str(error), error.code, error.field, error.headers)
    for kind in type(error).__mro__:
        if kind in _STATUS:
            status, headers = _STATUS[kind]
            if kind is StoreError:
                log.warning("the store cannot be used: %s", error)
                code = StoreAway.code if isinstance(error, StoreAway) else kind.code
                return ErrorResponse(status, _STORE_AWAY, code, None, headers)
            if status == 500:
                break
            if isinstance(error, QuotaExceeded):
                headers = {"Retry-After": str(error.retry_after)}
            field, code = getattr(error, "field", None), getattr(error, "code", "error")
            return ErrorResponse(status, str(error), code, field, headers)
    id_ = new_id()
    log.error("error %s: %s", id_, error, exc_info=error)
    return ErrorResponse(500, f"something went wrong here; it is logged as {id_}", "internal")


@contextmanager
def name_text_field(field: str) -> Iterator[None]:
    """Make errors about the text of an input name the request's `field` with the text."""
    try:
        yield
    except BadInput as error:
        if error.field == "text":
            error.field = field
        raise


def error_status(error: type[Exception]) -> int:
    """Return the HTTP status of a class of errors, 500 if it is not in the table."""
    return next((_STATUS[kind][0] for kind in error.__mro__ if kind in _STATUS), 500)
