"""ServerPeer: the connection to an MCP server, over any transport."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final, Protocol

from msgspec import UNSET, Raw

from prolocutor.errors import ServiceError
from prolocutor.json_rpc import METHOD_NOT_FOUND, RpcFault, RpcMessage, rpc_failure, rpc_result

ServerAsks = Callable[[RpcMessage, int | None], Awaitable[bytes]]
"""Answers a request of the server, given the number of ours within which it came, if known."""

NO_HEADERS: Final[Mapping[str, str]] = {}


class SessionLost(ServiceError):
    """The server does not know the session any more; a new handshake is needed."""

    passing = True


class ServerPeer(Protocol):
    """An MCP server: it takes requests and notifications, and may send requests itself.

    `version` is the agreed version of the protocol, "" before the agreement. `has_headers`:
    arguments of tools are repeated in headers if their schemas mark them.
    """

    has_headers: ClassVar[bool]
    version: str

    async def open(self, patience: float) -> bool:
        """Get ready for requests; return whether an earlier agreement is void."""

    async def request(
        self, id_: int, method: str, params: Any, headers: Mapping[str, str] = NO_HEADERS
    ) -> Raw:
        """Send a request; return its result.

        Raise `RpcFault` for the server's own error, `SessionLost` after the end of the session,
        another `ServiceError` for faults of the transport. Cancelling it cancels the server's work.
        """

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification; ignore faults of the transport."""

    async def renew(self) -> None:
        """Drop the session, so that another version can be agreed on."""

    async def aclose(self) -> None:
        """End the session and its transport."""


def read_result(message: RpcMessage) -> Raw:
    """Return the result of a response; raise `RpcFault` for an error."""
    if message.error is not None:
        error = message.error
        raise RpcFault(error.code, error.message, error.data)
    return message.result


async def refuse(message: RpcMessage, _: int | None = None) -> bytes:
    """Answer a request of a server: pings succeed, other methods are not found."""
    id_ = None if message.id is UNSET else message.id
    if message.method == "ping":
        return rpc_result(id_, {})
    return rpc_failure(id_, RpcFault(METHOD_NOT_FOUND, f"no {message.method} here"))
