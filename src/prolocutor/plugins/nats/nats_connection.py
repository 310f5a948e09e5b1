"""NatsConnection: a connection to NATS, opened and reopened in the background.

Only this file handles nats-py's connecting and its errors. Nothing is buffered while there
is no connection: a request sent late would run late.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import random
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import UnexpectedEOF

from prolocutor.background import BackgroundTasks
from prolocutor.dialog.ids import new_id
from prolocutor.errors import ServiceRefused, ServiceUnreachable
from prolocutor.plugins.nats import wire
from prolocutor.plugins.nats.nats_address import NatsServers

log = logging.getLogger(__name__)

CONNECT_SECONDS: Final = 2.0
RETRY_SECONDS: Final = 0.25
FIRST_SECONDS: Final = 1.0
"""Seconds that the first calls wait until each server was tried."""
PING_SECONDS: Final = 5.0
MAX_UNSENT: Final = 16_000_000
"""Bytes that are waiting to be taken by a server that has stopped reading."""
LOOK_SECONDS: Final = 0.125

Setup = Callable[[Client], Awaitable[None]]


class NatsClient(Client):
    """nats-py's client with a shorter path for requests, and strict about TLS.

    Answers go to `answered` as they are parsed, without a queue and a task. No credentials are sent
    in clear where TLS was asked for.
    """

    def __init__(self, answered: Callable[[Msg], None], *, insists_on_tls: bool) -> None:
        super().__init__()
        self._take_answer = answered
        self._insists_on_tls = insists_on_tls
        self._inbox_sid = 0

    async def listen(self, inbox: str) -> None:
        """Subscribe to the subjects on which answers arrive."""
        subscription = await self.subscribe(inbox)
        self._inbox_sid = subscription._id

    async def flush(self, timeout: int = 10) -> None:
        """Wait until the server has got everything sent before.

        nats-py's own sends a ping, which overtakes subscriptions that still wait to be sent.
        """
        async with asyncio.timeout(timeout):
            await self._flush_pending(force_flush=True)
        await super().flush(timeout)

    def hand_over(self, command: bytes) -> None:
        """Queue a command; all commands of an iteration of the event loop are sent together."""
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
        self._take_answer(Msg(self, subject.decode(), "", data, read))

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


class NatsConnection:
    """A connection to `servers` that several users share; the first `open` starts it.

    Each `open` needs its own `aclose`; the last `aclose` closes the connection. All methods belong
    to the same event loop.
    """

    def __init__(self, servers: NatsServers, *, name: str = "prolocutor") -> None:
        self.servers = servers
        self.inbox = f"_INBOX.{new_id()}"
        """The subjects of the answers; it tells this connection from all others."""
        self._name = name
        self._client: NatsClient | None = None
        self._setups: list[Setup] = []
        self._tasks = BackgroundTasks("nats")
        self._tried = asyncio.Event()
        self._connected = asyncio.Event()
        self._failure = ""
        self._users = 0
        self._open: dict[str, _OpenRequest] = {}
        self._last_token = 0
        self._looking: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Start connecting unless it has begun; raise `ConfigError` for unusable TLS files."""
        self._users += 1
        if not self._tasks:
            tls = self.servers.tls_context()
            self._tasks.start(self._stay_connected(tls))

    @property
    def client(self) -> Client | None:
        """The connected client; None without a connection."""
        client = self._client
        return client if client is not None and client.is_connected else None

    @property
    def failure(self) -> str:
        """The text of the last error; "" if there was none."""
        return self._failure

    @property
    def was_tried(self) -> bool:
        """Whether each server was tried once, or one of them is connected."""
        return self._tried.is_set()

    async def wait_for_first_try(self) -> None:
        """Wait until each server was tried once, for `FIRST_SECONDS` at most."""
        if not self._tried.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FIRST_SECONDS):
                    await self._tried.wait()

    async def wait_until_connected(self) -> None:
        """Wait for the first connection, without a time limit."""
        await self._connected.wait()

    async def each_client(self, setup: Setup) -> None:
        """Call `setup` with the present client and with each client that replaces it.

        `setup` makes the subscriptions, which end with their client.
        """
        self._setups.append(setup)
        client = self._client
        if client is not None:
            try:
                await setup(client)
            except (NatsError, OSError, TimeoutError) as error:
                self._note_failure(error)
                client.abort()  # the next client is set up anew

    async def ask(self, subject: str, body: bytes, headers: dict[str, str]) -> Msg:
        """Send a request and return its answer, also an answer that reports an error.

        Raise `ServiceUnreachable` at once if there is no connection or no subscriber, or when the
        connection is lost, and after `SILENCE_SECONDS` without a sign of the worker; raise
        `ServiceRefused` for a message that is too large. The caller sets the time limit.
        """
        client = self._ready_client()
        block = wire.header_block(headers)
        size = len(block) + len(body)
        if size > client.max_payload:
            what = f"a request of {size:,} bytes, and NATS at {self.servers} takes {{}} at most"
            raise ServiceRefused(what.format(f"{client.max_payload:,}"), status=413)
        loop = asyncio.get_running_loop()
        self._last_token += 1
        token = str(self._last_token)
        request = self._open[token] = _OpenRequest(loop.create_future(), loop.time())
        if self._looking is None:
            self._look_later(loop)
        line = f"HPUB {subject} {self.inbox}.{token} {len(block)} {size}\r\n"
        client.hand_over(b"%b%b%b\r\n" % (line.encode(), block, body))
        try:
            return await request.answer
        finally:
            del self._open[token]

    async def gather(self, subject: str, seconds: float) -> list[bytes]:
        """Send an empty request; return the answers of all subscribers within `seconds`."""
        client = self._ready_client()
        answers: list[bytes] = []

        async def take(message: Msg) -> None:
            if not (message.headers or {}).get("Status"):
                answers.append(message.data)

        inbox = f"{self.inbox}.all.{new_id()}"
        try:
            subscription = await client.subscribe(inbox, cb=take)
            await client.publish(subject, b"", reply=inbox)
            await asyncio.sleep(seconds)
            await subscription.unsubscribe()
        except (NatsError, OSError) as error:
            raise ServiceUnreachable(f"NATS at {self.servers}: {error_text(error)}") from None
        return answers

    async def publish(
        self, subject: str, body: bytes, headers: dict[str, str] | None = None
    ) -> bool:
        """Send a message without an answer; return whether the server got it."""
        client = self.client
        if client is None:
            return False
        try:
            await client.publish(subject, body, headers=headers)
        except (NatsError, OSError) as error:
            log.debug("a message on %s was not sent: %s", subject, error_text(error))
            return False
        return True

    async def aclose(self) -> None:
        """Close the connection if no other user is left."""
        self._users -= 1
        if self._users > 0 or not self._tasks:
            return
        await self._tasks.aclose()
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._fail_open("the connection to NATS is closed")

    def _ready_client(self) -> NatsClient:
        client = self._client
        if client is None or not client.is_connected:
            why = f" ({self._failure})" if self._failure else ""
            raise ServiceUnreachable(f"no connection to NATS at {self.servers}{why}", sent=False)
        if client.pending_data_size > MAX_UNSENT:
            raise ServiceUnreachable(f"NATS at {self.servers} has stopped reading")
        return client

    async def _stay_connected(self, tls: ssl.SSLContext | None) -> None:
        """Stay connected: try the servers in turn, each time with a new client.

        nats-py's own reconnecting sends unsent messages late, gives up after a single refusal of a
        server, and waits for ever for a dead line.
        """
        urls = self.servers.urls
        random.shuffle(urls)
        for number, url in enumerate(itertools.cycle(urls), 1):
            client = NatsClient(self._take_answer, insists_on_tls=self.servers.tls)
            closed = asyncio.Event()
            try:
                await self._connect(client, url, closed, tls)
                await self._use(client, closed)
            except (NatsError, OSError, ValueError, TimeoutError) as error:
                self._note_failure(error)
            finally:
                self._client = None
                self._fail_open("the connection to NATS was lost")
                await _close(client, gently=not closed.is_set())
            if number % len(urls) == 0:
                self._tried.set()
                await asyncio.sleep(RETRY_SECONDS)

    async def _connect(
        self, client: NatsClient, url: str, closed: asyncio.Event, tls: ssl.SSLContext | None
    ) -> None:
        async def note_failure(error: Exception) -> None:
            self._note_failure(error)
            if isinstance(error, UnexpectedEOF):
                closed.set()
            elif client.is_connected:  # a subject that is forbidden, messages that were dropped
                log.warning("NATS at %s: %s", self.servers, error_text(error))

        async def note_end() -> None:
            closed.set()

        await client.connect(
            url,
            name=self._name,
            error_cb=note_failure,
            closed_cb=note_end,
            connect_timeout=CONNECT_SECONDS,  # type: ignore[arg-type] # seconds, any number
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            ping_interval=PING_SECONDS,  # type: ignore[arg-type] # seconds, any number
            max_outstanding_pings=2,
            pending_size=0,  # nothing is buffered while there is no connection
            user=self.servers.user,
            password=self.servers.password,
            token=self.servers.token,
            user_credentials=self.servers.creds,
            nkeys_seed=self.servers.nkey,
            tls=tls,
            tls_hostname=self.servers.hostname,
        )

    async def _use(self, client: NatsClient, closed: asyncio.Event) -> None:
        await client.listen(f"{self.inbox}.*")
        for setup in self._setups:
            await setup(client)
        self._client = client
        self._tried.set()
        if self._connected.is_set():
            log.warning("connected to NATS at %s again", self.servers)
        self._connected.set()
        while client.is_connected and not closed.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):  # a dead line closes without a word
                    await closed.wait()
        log.warning("the connection to NATS at %s was lost", self.servers)

    def _note_failure(self, error: Exception) -> None:
        """Record an error of the connection, which the errors of later calls mention."""
        self._failure = error_text(error)
        log.debug("NATS at %s: %s", self.servers, self._failure)

    def _fail_open(self, what: str) -> None:
        for request in self._open.values():
            if not request.answer.done():
                request.answer.set_exception(ServiceUnreachable(f"{what} ({self.servers})"))

    def _take_answer(self, message: Msg) -> None:
        request = self._open.get(message.subject.rpartition(".")[2])
        if request is None or request.answer.done():
            return
        headers = message.headers
        if headers is not None:
            if headers.get(wire.STATE) == wire.ALIVE:
                request.heard = asyncio.get_running_loop().time()
                return
            if headers.get("Status") == "503":
                request.answer.set_exception(ServiceUnreachable("no worker is there", sent=False))
                return
        request.answer.set_result(message)

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        due = loop.time() + LOOK_SECONDS
        self._looking = loop.call_at(due, self._check_workers, loop, due)

    def _check_workers(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        """Fail the calls of silent workers; not for time in which the loop stood still."""
        now = loop.time()
        missed = now - due
        for request in self._open.values():
            if missed > LOOK_SECONDS:
                request.heard += missed
            if now - request.heard >= wire.SILENCE_SECONDS and not request.answer.done():
                what = f"the worker was silent for {wire.SILENCE_SECONDS:g} s"
                request.answer.set_exception(ServiceUnreachable(what))
        self._looking = None
        if self._open:
            self._look_later(loop)


class _OpenRequest:
    """A request that was sent, and the time of its worker's last sign of life."""

    __slots__ = ("answer", "heard")

    def __init__(self, answer: asyncio.Future[Msg], heard: float) -> None:
        self.answer = answer
        self.heard = heard


async def _close(client: NatsClient, *, gently: bool) -> None:
    """Close a client without waiting for a dead line to accept bytes."""
    if not gently:
        client.abort()
    try:
        with contextlib.suppress(NatsError, OSError, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.close()
    finally:
        client.abort()


def error_text(error: BaseException) -> str:
    """Return the text of a nats-py error as a line of at most 200 characters."""
    text = " ".join(str(error).removeprefix("nats: ").split())[:200]
    return text or type(error).__name__
