"""ServerPeer: the way to one MCP server, whatever it runs over."""

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
    """The server does not know the session any more; another handshake begins one."""

    passing = True


class ServerPeer(Protocol):
    """One MCP server: it takes requests and notifications, and may ask its client in turn.

    `version` is that of the protocol, "" until it is agreed on. `has_headers`: arguments of tools
    are repeated in headers where their schemas say so.
    """

    has_headers: ClassVar[bool]
    version: str

    async def open(self, patience: float) -> bool:
        """Get ready for requests; return whether what was agreed before holds no longer."""

    async def request(
        self, id_: int, method: str, params: Any, headers: Mapping[str, str] = NO_HEADERS
    ) -> Raw:
        """Send a request and return the result.

        `RpcFault` is the server's own error, `SessionLost` a session that is over, any other
        `ServiceError` says what went wrong on the way. If it is cancelled, so is the server's work.
        """

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification; what goes wrong on the way is passed over."""

    async def renew(self) -> None:
        """Forget what the server knows of us, so that another version can be agreed on."""

    async def aclose(self) -> None:
        """End the session, and what carries it."""


def result_of(message: RpcMessage) -> Raw:
    """Return the result of a response; raise `RpcFault` for an error."""
    if message.error is not None:
        error = message.error
        raise RpcFault(error.code, error.message, error.data)
    return message.result


async def refuse(message: RpcMessage, _: int | None = None) -> bytes:
    """Answer a request of a server: a ping is answered, anything else is not offered here."""
    id_ = None if message.id is UNSET else message.id
    if message.method == "ping":
        return rpc_result(id_, {})
    return rpc_failure(id_, RpcFault(METHOD_NOT_FOUND, f"no {message.method} here"))
