"""Wake-ups: hints to other replicas by NOTIFY, gathered, outside of turns' transactions.

NOTIFY takes a lock of the whole server until its transaction has reached the disk, so turns with a
NOTIFY in their own transaction are stored in sequence.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.errors import StoreError
from prolocutor.plugins.postgresql.database_line import Connection
from prolocutor.plugins.postgresql.membership import Membership

log = logging.getLogger(__name__)

CHANNEL: Final = "prolocutor"
"""The channel of hints; each schema has its own."""
GATHER_SECONDS: Final = 0.005
"""Seconds for which hints are gathered."""
MAX_PAYLOAD: Final = 7_900
"""Bytes of one notification; PostgreSQL takes less than 8,000."""

_encode: Final = msgspec.json.Encoder().encode


class Hint(msgspec.Struct, array_like=True, frozen=True):
    """A notification by `replica`: the users with news."""

    replica: int
    users: list[str]


_decode: Final = msgspec.json.Decoder(Hint).decode


class PostgresqlWakeUps:
    """Sends hints, and calls the listener for hints of others."""

    def __init__(self, membership: Membership, schema: str) -> None:
        self._membership = membership
        self._channel = notify_channel(schema)
        self._waiting: set[str] = set()
        self._sending = BackgroundTasks("hints")
        self._listener: Callable[[str], None] | None = None

    def wake(self, user: str) -> None:
        """Send a hint with the next notification."""
        self._waiting.add(user)
        if not self._sending:
            self._sending.start(self._send())

    def on_wake(self, listener: Callable[[str], None]) -> None:
        """Call the listener for each hint of another replica."""
        self._listener = listener

    def missed(self) -> None:
        """Note the possible loss of hints."""
        if self._listener is not None:
            self._listener("")

    async def listen(self, connection: Connection) -> None:
        """Have a new connection deliver hints."""
        await connection.add_listener(self._channel, self._heard)

    async def sent(self) -> None:
        """Wait until the hints are sent."""
        await self._sending.wait_until_ended()

    async def _send(self) -> None:
        try:
            await asyncio.sleep(GATHER_SECONDS)
            while self._waiting:
                users, self._waiting = self._waiting, set()
                payloads = [*notifications(self._membership.number or 0, users)]
                await self._membership.fetch("notify", self._channel, payloads, within=2.0)
        except StoreError as error:
            log.debug("hints were lost: %s", error)  # every reader polls as well

    def _heard(self, connection: Any, pid: int, channel: str, payload: str) -> None:
        if self._listener is None:
            return
        try:
            hint = _decode(payload)
        except msgspec.DecodeError:
            return
        if hint.replica != self._membership.number:
            for user in hint.users:
                self._listener(user)


def notify_channel(schema: str) -> str:
    """Return the NOTIFY channel of a schema."""
    return f"{CHANNEL} {schema}".rstrip()


def notifications(replica: int, users: Iterable[str]) -> Iterator[str]:
    """Return a replica's notifications about users, as few as possible."""
    some: list[str] = []
    size = 0
    for user in users:
        length = len(_encode(user)) + 1
        if some and size + length > MAX_PAYLOAD - 40:
            yield _encode(Hint(replica, some)).decode()
            some, size = [], 0
        some.append(user)
        size += length
    if some:
        yield _encode(Hint(replica, some)).decode()
