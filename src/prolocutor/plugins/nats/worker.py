"""Worker: serves a service to all replicas over NATS, the twin of `host.py` over HTTP.

The connection uses the event loop of the main thread, the service a loop in another thread: a
function that blocks its loop delays neither the `alive` messages nor signals.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Final

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from opentelemetry import trace
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.connector import Connector, DeltaSink, Replies
from prolocutor.dialog.plain import Plain, decode
from prolocutor.errors import BadReply, NoPlace, ServiceError, ServiceRefused
from prolocutor.functions import error_text
from prolocutor.plugins.nats import wire
from prolocutor.plugins.nats.nats_connection import NatsConnection
from prolocutor.plugins.nats.service_loop import ServiceLoop
from prolocutor.plugins.nats.worker_listing import WorkerListing
from prolocutor.plugins.nats.worker_settings import WorkerSettings

MAX_CALL_SECONDS: Final = 3600.0
"""The time limit in seconds of a call whose caller gives none."""
BAD_REQUEST: Final = 400

GENERATION_CALLS: Final = 64
"""Calls after which the quickest call is forgotten, because clocks get set."""
MAX_SENDERS: Final = 4096

log = logging.getLogger(__name__)

_tracer: Final = trace.get_tracer("prolocutor.worker")
_read_trace: Final = TraceContextTextMapPropagator().extract


class HeldCall:
    """A call that a worker has accepted: a `Request` for its connector."""

    __slots__ = (
        "_value",
        "beat",
        "deadline",
        "deltas",
        "key",
        "message",
        "outcome",
        "service",
        "taken",
        "timeout",
        "turn_id",
    )

    def __init__(self, service: str, message: Msg, seconds: float) -> None:
        headers = message.headers or {}
        self.service = service
        self.deltas: DeltaSink | None = None
        self.message = message
        self.timeout = seconds
        self.turn_id: str = headers.get(wire.TURN, "")
        self.key: str = headers.get(wire.KEY, "")
        self.taken = self.beat = time.monotonic()
        self.deadline = self.taken + seconds
        self.outcome: Plain | ServiceError | None = None
        """The reply or error; None while it runs, and for a call that was answered too late."""
        self._value: Any = None

    def is_json(self) -> bool:
        """Return whether the body is JSON."""
        try:
            self._value = (decode(self.message.data),)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return False
        return True

    def value(self) -> Any:
        """Return a decoded copy of the request's body."""
        value, self._value = self._value, None
        return decode(self.message.data) if value is None else value[0]

    def body(self) -> bytes:
        """Return the request's body, JSON in bytes."""
        return self.message.data


def seconds_left(header: str | None) -> float:
    """Return how many seconds the caller waits, from a header in milliseconds."""
    try:
        return MAX_CALL_SECONDS if header is None else min(float(header) / 1000, MAX_CALL_SECONDS)
    except ValueError:
        return MAX_CALL_SECONDS


def error_headers(error: ServiceError) -> dict[str, str]:
    """Return the headers of an answer that reports an error."""
    if isinstance(error, BadReply):
        return {wire.ERROR: "bad_reply", wire.PATH: error.path}
    kind: wire.WorkerError = "raised"
    if isinstance(error, NoPlace):
        kind = "busy"
    elif isinstance(error, ServiceRefused) and error.status == BAD_REQUEST:
        kind = "bad_request"
    return {wire.ERROR: kind}


class CallAges:
    """Estimates the ages of calls from the times at which their senders say they were sent."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._senders: OrderedDict[str, _Quickest] = OrderedDict()

    def age(self, sender: str, sent: str | None) -> float:
        """Return by how many seconds a call took longer than the sender's quickest; 0 if unknown.

        `sent`: the time in milliseconds by the sender's clock.
        """
        if sent is None:
            return 0.0
        try:
            took = self._clock() - float(sent) / 1000
        except ValueError:
            return 0.0
        quickest = self._senders.get(sender)
        if quickest is None:
            quickest = self._senders[sender] = _Quickest(took)
            if len(self._senders) > MAX_SENDERS:
                self._senders.popitem(last=False)
        return took - quickest.note_call(took)


class _Quickest:
    """The shortest travel time among a sender's last calls, of this and the last generation."""

    __slots__ = ("_before", "_count", "_now")

    def __init__(self, took: float) -> None:
        self._now = self._before = took
        self._count = 0

    def note_call(self, took: float) -> float:
        """Record the travel time of a call; return the shortest, in seconds."""
        self._count += 1
        if self._count > GENERATION_CALLS:
            self._before, self._now, self._count = self._now, took, 1
        self._now = min(self._now, took)
        return min(self._now, self._before)


class CountedConnector:
    """A connector that counts its calls and the requests in them."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self.calls = 0
        self.requests = 0

    async def send(self, requests: Any) -> Replies:
        """Ask the service."""
        self.calls += 1
        self.requests += len(requests)
        return await self._connector.send(requests)

    async def aclose(self) -> None:
        """Close the service."""
        await self._connector.aclose()


class Worker:
    """Takes the calls of a service from NATS and answers them by a connector.

    `connector` gets a single request at a time and may gather batches itself; `counted` is the
    connector behind it and counts their sizes. Both run in the loop of `services`.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        connector: Connector,
        counted: CountedConnector,
        *,
        connection: NatsConnection,
        services: ServiceLoop,
    ) -> None:
        self.settings = settings
        self.errors = 0
        self.received = 0
        self.seconds = 0.0
        self.last_error = ""
        self.draining = False
        self._busy = 0
        self._late = 0
        self._connector = connector
        self._counted = counted
        self._connection = connection
        self._services = services
        self._held: dict[int, HeldCall] = {}
        self._settled: deque[HeldCall] = deque()
        self._idle = asyncio.Event()
        self._idle.set()
        self._ages = CallAges()
        self._subscription: Subscription | None = None
        self._listing: WorkerListing | None = None
        self._beating: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks = BackgroundTasks(f"worker {settings.service}")

    async def start(self) -> None:
        """Accept calls from now on, or as soon as there is a connection."""
        self._loop = asyncio.get_running_loop()
        await self._connection.each_client(self._subscribe)

    async def drain(self) -> None:
        """Accept no more calls; wait until the accepted calls are answered."""
        self.draining = True
        if self._connection.client is not None:
            try:
                async with asyncio.timeout(2.0):
                    if self._listing is not None:
                        await self._listing.stop()
                    if self._subscription is not None:
                        await self._subscription.drain()  # type: ignore[no-untyped-call] # nats-py
            except (NatsError, OSError, TimeoutError) as error:
                log.debug("worker %s could not unsubscribe: %s", self.settings.service, error)
        await self._idle.wait()
        client = self._connection.client
        if client is not None:  # what was answered goes out before the connection is closed
            try:
                await client.flush(timeout=2)
            except (NatsError, OSError, TimeoutError) as error:
                log.debug("the last answers may be lost: %s", error)

    async def aclose(self) -> None:
        """Close the service."""
        if self._beating is not None:
            self._beating.cancel()
            self._beating = None
        await self._services.run(self._connector.aclose())

    @property
    def load(self) -> wire.WorkerLoad:
        """The present load of the worker."""
        settings = self.settings
        return wire.WorkerLoad(
            batch_size=settings.batch_size,
            hold=settings.most_held,
            held=len(self._held),
            fill=round(len(self._held) / settings.batch_size, 3),
            calls=self._counted.calls,
            requests=self._counted.requests,
            busy=self._busy,
            late=self._late,
            draining=self.draining,
            host=socket.gethostname(),
            pid=os.getpid(),
        )

    async def _subscribe(self, client: Client) -> None:
        if self.draining:
            return
        self._listing = WorkerListing(client, self)
        await self._listing.start()
        subject, group = self.settings.subject, wire.QUEUE_GROUP
        self._subscription = await client.subscribe(subject, group, cb=self._take)
        await client.flush()

    # -- in the loop of the connection -------------------------------------------------------

    async def _take(self, message: Msg) -> None:
        if not message.reply:
            return
        self.received += 1
        headers = message.headers or {}
        seconds = seconds_left(headers.get(wire.TIMEOUT))
        sender = message.reply.rpartition(".")[0]
        if seconds <= 0 or self._ages.age(sender, headers.get(wire.SENT)) >= seconds:
            self._late += 1
            return
        if len(self._held) >= self.settings.most_held:
            self._busy += 1
            what = f"the worker holds {len(self._held)} calls, its most"
            await self._publish(message.reply, what.encode(), {wire.ERROR: "busy"})
            return
        call = HeldCall(self.settings.service, message, seconds)
        self._held[id(call)] = call
        self._idle.clear()
        if self._beating is None:
            self._beat_later()
        self._services.post(self._begin, call)

    def _beat_later(self) -> None:
        assert self._loop is not None
        self._beating = self._loop.call_later(wire.ALIVE_SECONDS / 2, self._start_beat)

    def _start_beat(self) -> None:
        self._beating = None
        if self._held:
            self._tasks.start(self._send_alive_messages())

    async def _send_alive_messages(self) -> None:
        """Tell callers who have waited for `ALIVE_SECONDS` that the worker lives."""
        now = time.monotonic()
        for call in list(self._held.values()):
            if now - call.beat >= wire.ALIVE_SECONDS and now < call.deadline:
                call.beat = now
                await self._publish(call.message.reply, b"", {wire.STATE: wire.ALIVE})
        if self._beating is None and self._held:
            self._beat_later()

    def _reply(self) -> None:
        self._tasks.start(self._send_replies())

    async def _send_replies(self) -> None:
        while self._settled:
            call = self._settled.popleft()
            del self._held[id(call)]
            self.seconds += time.monotonic() - call.taken
            outcome = call.outcome
            if outcome is None:
                self._late += 1
            elif isinstance(outcome, ServiceError):
                self.errors += 1
                self.last_error = str(outcome)
                text = str(outcome).encode(errors="replace")[:1000]
                await self._publish(call.message.reply, text, error_headers(outcome))
            else:
                await self._publish(call.message.reply, outcome.encoded, None)
        if not self._held:
            self._idle.set()

    async def _publish(self, subject: str, body: bytes, headers: dict[str, str] | None) -> None:
        client = self._connection.client
        size = len(body) + (len(wire.header_block(headers)) if headers else 0)
        if client is not None and size > client.max_payload:
            self.errors += 1
            what = (
                f"a reply of {self.settings.service} of {size:,} bytes, and NATS takes"
                f" {client.max_payload:,} at most"
            )
            body, headers = what.encode(), {wire.ERROR: "bad_reply"}
        await self._connection.publish(subject, body, headers)

    # -- in the loop of the service ----------------------------------------------------------

    def _begin(self, call: HeldCall) -> None:
        self._services.start(self._answer(call))

    async def _answer(self, call: HeldCall) -> None:
        try:
            left = call.deadline - time.monotonic()
            if left > 0:
                async with asyncio.timeout(left):
                    call.outcome = await self._ask(call)
        except TimeoutError:
            pass
        except ServiceError as error:
            call.outcome = error
        except asyncio.CancelledError:
            call.outcome = NoPlace("the worker is stopping")
        except BaseException as error:
            log.exception("worker %s: a call failed", self.settings.service)
            call.outcome = BadReply(error_text(error))
        self._settled.append(call)
        if len(self._settled) == 1 and self._loop is not None:
            self._loop.call_soon_threadsafe(self._reply)

    async def _ask(self, call: HeldCall) -> Plain | ServiceError:
        if not call.is_json():
            return ServiceRefused("the request is not JSON", status=BAD_REQUEST)
        headers = call.message.headers or {}
        if "traceparent" not in headers:
            return (await self._connector.send((call,)))[0]
        name = f"worker {call.service}"
        context = _read_trace(headers)
        with _tracer.start_as_current_span(name, context=context, kind=SpanKind.SERVER) as span:
            span.set_attribute("prolocutor.turn_id", call.turn_id)
            return (await self._connector.send((call,)))[0]
