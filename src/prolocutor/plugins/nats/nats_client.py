"""NatsClient: nats-py's client with a short way for requests.

Only this file depends on internals of nats-py (2.9 to 2.16).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError


class NatsClient(Client):
    """nats-py's client with a shorter path for requests, and strict about TLS.

    Answers go to `answered` as they are parsed, without a queue and a task. No credentials are sent
    in clear where TLS was asked for.
    """

    def __init__(self, answered: Callable[[Msg], None], *, insists_on_tls: bool) -> None:
        super().__init__()
        self._answered = answered
        self._insists_on_tls = insists_on_tls
        self._inbox_sid = 0

    async def listen(self, inbox: str) -> None:
        """Subscribe to the subjects on which answers arrive."""
        subscription = await self.subscribe(inbox)
        self._inbox_sid = subscription._id

    def hand_over(self, command: bytes) -> None:
        """Queue a command; all commands of one iteration of the event loop are sent together."""
        self._pending.append(command)
        self._pending_data_size += len(command)
        if self._flush_queue is not None and self._flush_queue.empty():
            self._flush_queue.put_nowait(asyncio.get_running_loop().create_future())

    async def _process_msg(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes
    ) -> None:
        if sid != self._inbox_sid:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        read = await self._process_headers(headers) if headers else None
        self._answered(Msg(self, subject.decode(), "", data, read))

    def abort(self) -> None:
        """Close the connection at once; nats-py's own `close` waits for the last bytes."""
        for name in ("_io_writer", "_bare_io_writer"):  # of TLS, and of the line below it
            writer = getattr(self._transport, name, None)
            if writer is not None:
                writer.transport.abort()

    async def _close(self, status: int, do_cbs: bool = True) -> None:
        with suppress(OSError):  # what could not be sent is lost with the connection
            await super()._close(status, do_cbs)

    def _connect_command(self) -> bytes:
        if self._insists_on_tls and not self._server_info.get("tls_required"):
            raise NatsError("the server offers no TLS")
        return super()._connect_command()
