"""NatsWakeUps: hints between replicas over NATS (`contracts/shared_store.py`, `WakeUps`)."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg

from prolocutor.background import BackgroundTasks
from prolocutor.plugins.nats import wire
from prolocutor.plugins.nats.nats_address import read_servers
from prolocutor.plugins.nats.nats_connection import NatsConnection

log = logging.getLogger(__name__)

_REPLICA = "Prolocutor-Replica"


class NatsWakeUps:
    """Sends hints about persons to the other replicas of an assistant, and receives theirs.

    The hints of an iteration of the event loop are sent together, a hint for each person. While
    `is_connected` is false no hints go out, and the caller needs another way.
    """

    def __init__(self, connection: NatsConnection, assistant: str) -> None:
        self._connection = connection
        self._assistant = assistant
        self._listener: Callable[[str], None] = _ignore_hint
        self._waiting: set[str] = set()
        self._sending = BackgroundTasks("hints")

    async def open(self) -> None:
        """Connect in the background; from then on receive the hints of other replicas."""
        await self._connection.each_client(self._subscribe)
        self._connection.open()

    async def aclose(self) -> None:
        """Send the waiting hints and release the connection."""
        await self._sending.wait_until_ended()
        await self._connection.aclose()

    @property
    def is_connected(self) -> bool:
        """Whether hints can be sent at present."""
        return self._connection.client is not None

    def wake(self, user: str) -> None:
        """Send a hint that a person has new messages, or is free; return at once."""
        self._waiting.add(user)
        if not self._sending:
            self._sending.start(self._send())

    def on_wake(self, listener: Callable[[str], None]) -> None:
        """Call `listener(user)` for each hint of other replicas, with "" after a gap."""
        self._listener = listener

    async def _send(self) -> None:
        while self._waiting:
            user = self._waiting.pop()
            bucket = zlib.crc32(user.encode(errors="replace")) % wire.BUCKETS
            subject = wire.feed_subject(self._assistant, bucket)
            body = user.encode(errors="surrogatepass")
            headers = {_REPLICA: self._connection.inbox}
            await self._connection.publish(subject, body, headers)

    async def _subscribe(self, client: Client) -> None:
        subject = wire.feed_subject(self._assistant, "*")
        await client.subscribe(subject, cb=self._heard)
        await client.flush()  # what is sent from now on is heard
        self._listener("")  # some may have been missed

    async def _heard(self, message: Msg) -> None:
        headers: dict[str, Any] = message.headers or {}
        if headers.get(_REPLICA) == self._connection.inbox:
            return
        try:
            user = message.data.decode(errors="surrogatepass")
        except UnicodeDecodeError:
            log.debug("a hint on %s cannot be read", message.subject)
            return
        if user:
            self._listener(user)


def _ignore_hint(user: str) -> None:
    """Drop hints until a listener is set."""


def open_wake_ups(
    url: str, share: Callable[[Any, Callable[[], Any]], Any], assistant: str
) -> NatsWakeUps:
    """Return the hints that travel by the servers of `url`; `share` gives the shared connection."""
    servers = read_servers(url)
    connection = share(servers, lambda: NatsConnection(servers, name=assistant))
    return NatsWakeUps(connection, assistant)
