"""Errors in the form of OpenAI's API: `{"error": {"message", "type", "param", "code"}}`.

The statuses are those of `web/error_table.py`, by which OpenAI's clients choose their exceptions.
"""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.contracts.http import HttpResponse
from prolocutor.dialog import plain
from prolocutor.errors import NotFound
from prolocutor.web.error_table import ErrorResponse, error_response

_CODES: Final = {
    "unauthenticated": "invalid_api_key",
    "overloaded": "rate_limit_exceeded",
    "quota_exceeded": "rate_limit_exceeded",
    "bad_input": None,
}
"""OpenAI's codes where they differ; every other code is ours."""

_TYPES: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class UnknownModel(NotFound):
    """There is no model of this name."""

    code = "model_not_found"


class ApiError(msgspec.Struct, frozen=True):
    """Why a request was refused."""

    message: str
    type: str
    param: str | None
    code: str | None


class ApiErrorBody(msgspec.Struct, frozen=True):
    """An error in the form of OpenAI's API."""

    error: ApiError


def write_error(error: Exception) -> HttpResponse:
    """Return the response to an error."""
    refused = error_response(error)
    return HttpResponse(
        plain.encode(ApiErrorBody(error_object(refused))),
        refused.status,
        headers=refused.headers,
    )


def error_object(refused: ErrorResponse) -> ApiError:
    """Return the object that reports an error."""
    by_status = "server_error" if refused.status >= 500 else "invalid_request_error"
    return ApiError(
        message=refused.error,
        type=_TYPES.get(refused.status, by_status),
        param=refused.field,
        code=_CODES.get(refused.code, refused.code),
    )
