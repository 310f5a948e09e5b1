"""NatsConnector: a service whose workers wait at NATS for calls (extra `nats`).

A request, a message; workers gather waiting requests into batches. The wire is described in
`docs/reference/workers.md`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final

from nats.aio.msg import Msg

from prolocutor.bounds import about
from prolocutor.connectors.parts.network_calls import call_headers, each_alone
from prolocutor.contracts.calls import running_effect
from prolocutor.contracts.connector import AgentOptions, Connector, Replies, Request, ServiceContext
from prolocutor.dialog.plain import Plain, parse
from prolocutor.errors import (
    BadReply,
    ConfigError,
    NoPlace,
    ServiceError,
    ServiceRaised,
    ServiceRefused,
    ServiceUnreachable,
)
from prolocutor.plugins.nats import wire
from prolocutor.plugins.nats.nats_address import is_nats, read_call, read_servers
from prolocutor.plugins.nats.nats_connection import NatsConnection

TOO_LARGE: Final = 413


class NatsConnector:
    """The way to the workers of a service: `nats://HOST/NAME`, or `nats://NAME` by `connection`.

    A call fails at once without a connection or a worker. After a busy worker NATS chooses another,
    once. `instead` is asked if NATS or all workers are away, or if the request is too large for
    NATS. `assistant` is the name in the subject.
    """

    gathers_batches = True

    def __init__(
        self,
        target: str,
        *,
        name: str,
        batched: bool = False,
        assistant: str = "assistant",
        connection: NatsConnection | None = None,
        instead: Connector | None = None,
    ) -> None:
        call = read_call(target)
        if connection is None and call.servers is None:
            raise ConfigError(
                f"{target} names no server: say messages: nats://HOST at the top of the file,"
                f" or call: nats://HOST/{call.service}",
                key=name,
            )
        self.name = name
        self.subject = wire.call_subject(assistant, call.service)
        self._service = call.service
        if connection is None:
            assert call.servers is not None
            connection = NatsConnection(call.servers)
        self._connection = connection
        self._is_open = False
        self._instead = instead

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Ask a worker for each request; of several, an error takes the place of its reply."""
        if not self._is_open:
            self._is_open = True
            self._connection.open()
        if not self._connection.was_tried:
            await self._connection.wait_for_first_try()
        return await each_alone(self._send, requests)

    async def aclose(self) -> None:
        """Let go of the connection."""
        if self._is_open:
            self._is_open = False
            await self._connection.aclose()
        if self._instead is not None:
            await self._instead.aclose()

    async def _send(self, request: Request) -> Plain | ServiceError:
        try:
            return await self._ask(request)
        except ServiceUnreachable as error:
            acts_perhaps = error.sent and running_effect.get() is not None
            if self._instead is None or acts_perhaps:
                raise
        except ServiceRefused as error:
            if self._instead is None or error.status != TOO_LARGE:
                raise
        return (await self._instead.send((request,)))[0]

    async def _ask(self, request: Request) -> Plain:
        body = request.body()
        started = time.monotonic()
        answer = await self._connection.ask(self.subject, body, self._headers(request, 0.0))
        if answer.headers is not None and answer.headers.get(wire.ERROR) == "busy":
            passed = time.monotonic() - started
            answer = await self._connection.ask(self.subject, body, self._headers(request, passed))
        return _read(answer)

    def _headers(self, request: Request, passed: float) -> dict[str, str]:
        headers = call_headers((request,))
        headers[wire.TIMEOUT] = str(max(0, round((request.timeout - passed) * 1000)))
        headers[wire.SENT] = str(time.time_ns() // 1_000_000)
        return headers


def _read(answer: Msg) -> Plain:
    headers = answer.headers
    if headers is None or (error := headers.get(wire.ERROR)) is None:
        return parse(answer.data)
    text = answer.data[:1000].decode(errors="replace")
    if error == "busy":
        raise NoPlace(text or "all workers are busy")
    if error == "bad_request":
        raise ServiceRefused(text or "the worker could not read the request", status=400)
    if error == "bad_reply":
        raise BadReply(text, path=headers.get(wire.PATH, "$"))
    raise ServiceRaised(text or "the worker failed")


class NatsWorkers(AgentOptions, frozen=True, kw_only=True):
    """Workers behind NATS."""

    beside: ClassVar[tuple[str, ...]] = ("instead", "worker")

    url: Annotated[
        str, about("nats://NAME, or nats://HOST/NAME with servers of its own.", what="nats://NAME")
    ]
    instead: Annotated[
        str | None,
        about(
            "The URL or function that is asked when NATS or all workers are "
            "unreachable, or the request is too large.",
            what="module:function or a URL of http or https",
        ),
    ] = None
    worker: Annotated[
        str | None,
        about(
            "The target that `prolocutor worker` runs.",
            what="module:function or a URL of http or https",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise `ConfigError` for an invalid address, or for `nats://` in `instead` or `worker`."""
        read_call(self.url)
        for key in ("instead", "worker"):
            if is_nats(getattr(self, key)):
                raise ConfigError("expected module:function or a URL of http or https", key=key)

    def check(self, broker: str | None) -> None:
        """Raise `ConfigError` if neither the call nor the file (`broker`) names a server."""
        call = read_call(self.url)
        if broker is None and call.servers is None:
            what = f"nats://{call.service} names no server"
            hint = f"say messages: nats://HOST at the top, or call: nats://HOST/{call.service}"
            raise ConfigError(f"{what}; {hint}")

    def build(self, context: ServiceContext) -> NatsConnector:
        """Make the connector; connectors to the same servers share a connection."""
        servers = read_call(self.url).servers
        if servers is None and context.broker is not None:
            servers = read_servers(context.broker)
        connection: NatsConnection | None = None
        if servers is not None:
            found = servers
            connection = context.share(found, lambda: NatsConnection(found, name=context.assistant))
        return NatsConnector(
            self.url,
            name=context.name,
            assistant=context.assistant,
            connection=connection,
            instead=None if self.instead is None else context.connect(self.instead),
        )
