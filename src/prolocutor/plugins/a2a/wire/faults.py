"""The errors of A2A: their numbers in JSON-RPC, their HTTP statuses and reasons in REST."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.errors import BadInput

DOMAIN: Final = "a2a-protocol.org"
INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"


class FaultKind(msgspec.Struct, frozen=True):
    """One kind of error: its JSON-RPC code, HTTP status, gRPC status, reason, and 0.3 class."""

    number: int
    status: int
    grpc: str
    reason: str
    legacy: str = "InternalError"

    @property
    def legacy_number(self) -> int:
        """The code for clients of 0.3: later kinds are internal errors to them."""
        return self.number if self.number > -32008 or self.number < -32099 else -32603


TASK_NOT_FOUND: Final = FaultKind(-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", "TaskNotFoundError")
TASK_NOT_CANCELABLE: Final = FaultKind(
    -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", "TaskNotCancelableError"
)
PUSH_NOT_SUPPORTED: Final = FaultKind(
    -32003,
    400,
    "FAILED_PRECONDITION",
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "PushNotificationNotSupportedError",
)
UNSUPPORTED_OPERATION: Final = FaultKind(
    -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", "UnsupportedOperationError"
)
CONTENT_TYPE: Final = FaultKind(
    -32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError"
)
VERSION_NOT_SUPPORTED: Final = FaultKind(
    -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"
)
EXTENSION_REQUIRED: Final = FaultKind(
    -32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"
)
INVALID_PARAMS: Final = FaultKind(
    -32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS", "InvalidParamsError"
)
INVALID_REQUEST: Final = FaultKind(
    -32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "InvalidRequestError"
)
METHOD_NOT_FOUND: Final = FaultKind(
    -32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND", "MethodNotFoundError"
)
PARSE_ERROR: Final = FaultKind(-32700, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "JSONParseError")
CONFLICT: Final = FaultKind(-32602, 422, "ALREADY_EXISTS", "CONFLICT", "InvalidParamsError")
INTERNAL: Final = FaultKind(-32603, 500, "INTERNAL", "INTERNAL_ERROR")


class A2aFault(BadInput):
    """An error response to a client; `field` is the part of the request at fault."""

    def __init__(self, kind: FaultKind, what: str, *, field: str | None = None) -> None:
        self.kind = kind
        self.code = kind.reason.lower()
        super().__init__(what, field=field)

    def details(self) -> list[dict[str, Any]]:
        """Return the machine-readable details."""
        metadata = {} if self.field is None else {"field": self.field}
        return [{"@type": INFO, "reason": self.kind.reason, "domain": DOMAIN, "metadata": metadata}]


def not_found(task_id: str) -> A2aFault:
    """Return the error for a task that does not exist or belongs to another person."""
    return A2aFault(TASK_NOT_FOUND, f"there is no task {task_id!r:.200}", field="id")
