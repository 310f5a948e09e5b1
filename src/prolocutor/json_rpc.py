"""JSON-RPC 2.0: its messages, read from bytes and written to bytes.

Source: https://www.jsonrpc.org/specification. Parameters and results are kept as the bytes that
came (`msgspec.Raw`), for the protocol above to read as what they should be.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prolocutor.errors import BadInput

RpcId: TypeAlias = str | int | float | None
"""What a response names its request by; null where the request could not be read."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

_NOTHING: Final = Raw(b"")

_decode_batch: Final = msgspec.json.Decoder(list[Raw]).decode
_encode: Final = msgspec.json.Encoder().encode


class RpcErrorObject(msgspec.Struct, frozen=True):
    """The `error` of a response; `data` is free."""

    code: int
    message: str = ""
    data: Any = UNSET


class RpcFault(BadInput):
    """What a request gets in place of a result: a number, a sentence, and data.

    `id` is that of the request, where the request is not a message but has an id that can be read.
    """

    code = "rpc"

    def __init__(self, number: int, what: str, data: Any = UNSET, *, id: RpcId = None) -> None:
        self.number = number
        self.data = data
        self.id = id
        super().__init__(what)


class RpcMessage(msgspec.Struct, frozen=True):
    """A message: a request, a notification (a request without an id), or a response."""

    jsonrpc: Literal["2.0"]
    id: RpcId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw = _NOTHING
    result: Raw = _NOTHING
    error: RpcErrorObject | None = None

    @property
    def is_request(self) -> bool:
        """Whether it wants a response."""
        return self.method is not UNSET and self.id is not UNSET

    @property
    def is_notification(self) -> bool:
        """Whether it is a request that wants no response."""
        return self.method is not UNSET and self.id is UNSET


class _Identified(msgspec.Struct, frozen=True):
    id: RpcId = None


_decode_message: Final = msgspec.json.Decoder(RpcMessage).decode
_decode_id: Final = msgspec.json.Decoder(_Identified).decode


def read_message(body: bytes | Raw) -> RpcMessage:
    """Read a message; raise `RpcFault` for other JSON."""
    try:
        message = _decode_message(body)
    except msgspec.ValidationError as error:
        what = f"this is not a JSON-RPC message: {error}"
        raise RpcFault(INVALID_REQUEST, what, id=_readable_id(body)) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RpcFault(PARSE_ERROR, f"this is not JSON: {error}") from None
    if message.method is UNSET and message.error is None and message.result is _NOTHING:
        id_ = None if message.id is UNSET else message.id
        raise RpcFault(INVALID_REQUEST, "a message has a method, a result or an error", id=id_)
    return message


def _readable_id(body: bytes | Raw) -> RpcId:
    """Return the id of an invalid message; None without a valid id (JSON-RPC, 5)."""
    try:
        return _decode_id(body).id
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def read_batch(body: bytes) -> list[Raw] | None:
    """Return the members of a batch; None for a body that is not a list, `RpcFault` for no JSON."""
    if not body.lstrip().startswith(b"["):
        return None
    try:
        return _decode_batch(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RpcFault(PARSE_ERROR, f"this is not JSON: {error}") from None


def read_params(type_: Any, message: RpcMessage) -> Any:
    """Read the parameters of a request as a type; raise `RpcFault` for what does not fit."""
    try:
        return msgspec.json.decode(message.params or b"{}", type=type_)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        id_ = None if message.id is UNSET else message.id
        raise RpcFault(INVALID_PARAMS, f"{message.method}: {error}", id=id_) from None


def rpc_request(id_: RpcId, method: str, params: Any = UNSET) -> bytes:
    """Write a request."""
    return _encode(_Written(id=id_, method=method, params=params))


def rpc_notification(method: str, params: Any = UNSET) -> bytes:
    """Write a notification."""
    return _encode(_Written(method=method, params=params))


def rpc_result(id_: RpcId, value: Any) -> bytes:
    """Write the response to a request that went well."""
    return _encode(_Written(id=id_, result=value))


def rpc_failure(id_: RpcId, fault: RpcFault) -> bytes:
    """Write the response to a request that did not."""
    found = RpcErrorObject(fault.number, str(fault), fault.data)
    return _encode(_Written(id=id_, error=found))


class _Written(msgspec.Struct, kw_only=True):
    jsonrpc: Literal["2.0"] = "2.0"
    id: RpcId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Any = UNSET
    result: Any = UNSET
    error: RpcErrorObject | UnsetType = UNSET
