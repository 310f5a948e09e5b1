"""DatabaseLines: the five connections of a store, and their preparation."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Final, Protocol

from prolocutor.errors import ConfigError, StoreAway
from prolocutor.plugins.postgresql import migrations
from prolocutor.plugins.postgresql.database_line import Connection, DatabaseLine
from prolocutor.plugins.postgresql.lanes import JobLane
from prolocutor.plugins.postgresql.statements import SQL
from prolocutor.plugins.postgresql.store_url import StoreUrl

log = logging.getLogger(__name__)

LOCK_MS: Final = 2_000
"""Milliseconds that a trip waits for a row that another trip has locked."""
LOST_MS: Final = 10_000
"""Milliseconds that the server keeps a connection whose other end does not answer."""


class LineSession:
    """Prepares the connections of a line.

    `statement_ms` limits a statement. `hints_only`: its writes need not survive a crash.
    """

    def __init__(
        self, durability: str, *, shown: str, statement_ms: int, hints_only: bool = False
    ) -> None:
        self._durability = "relaxed" if hints_only else durability
        self._shown = shown
        self._statement_ms = statement_ms
        self.application_name = "prolocutor"
        self.standbys = ""
        """The server's `synchronous_standby_names`, as last seen."""

    async def __call__(self, connection: Connection) -> None:
        """Prepare a connection; raise `ConfigError` if the server cannot be used."""
        (facts,) = await connection.fetch(SQL["session_facts"])
        if facts["encoding"] != "UTF8":
            raise ConfigError(
                f"{self._shown}: the database is in {facts['encoding']}; make one in UTF8: "
                "createdb --encoding UTF8 --template template0",
                key="store",
            )
        if facts["read_only"]:
            raise StoreAway(f"{self._shown}: the server only reads, it is a standby")
        self.standbys = facts["standbys"]
        settings = {
            "application_name": self.application_name,
            "statement_timeout": str(self._statement_ms),
            "lock_timeout": str(LOCK_MS),
            "tcp_user_timeout": str(LOST_MS),
            "jit": "off",
            "bytea_output": "hex",
        }
        if self._durability == "relaxed":
            settings["synchronous_commit"] = "off"
        elif facts["synchronous_commit"] == "off":
            settings["synchronous_commit"] = "on"
        await connection.fetch(SQL["prepare_session"], [*settings], [*settings.values()])
        await connection.fetch(SQL["compress_fast"])


class ConnectionListener(Protocol):
    """A listener on the line for hints."""

    async def listen(self, connection: Connection) -> None:
        """Subscribe a new connection to hints."""

    def missed(self) -> None:
        """Handle a gap, in which hints may have been missed."""


class DatabaseLines:
    """A line for each trip of a turn, for other changes, for reads, and for hints.

    Only its lane, the owner of a line, may use it.
    """

    def __init__(self, url: StoreUrl, durability: str) -> None:
        self._url = url
        self._durability = durability
        self._sessions: list[LineSession] = []
        self.all: list[DatabaseLine] = []
        self._listener: ConnectionListener | None = None
        self.openings = self._line("openings", 5_000)
        self.closings = self._line("closings", 5_000)
        self.reading = JobLane(self._line("reading", 30_000))
        self._changes = self._line("other changes", 60_000)
        self.changes = JobLane(self._changes)
        self._hints = self._line("hints", 5_000, hints=True)
        self.hints = JobLane(self._hints)

    async def open(self) -> None:
        """Connect a line, migrate the database, then connect the other lines together."""
        await self._changes.open()
        await migrations.migrate(self._changes, self._url)
        down = [line for line in self.all if not line.is_up]
        for outcome in await asyncio.gather(
            *(line.open() for line in down), return_exceptions=True
        ):
            if isinstance(outcome, BaseException):
                raise outcome

    async def aclose(self) -> None:
        """Close all lines."""
        for line in self.all:
            await line.aclose()

    @property
    def are_up(self) -> bool:
        """Whether all are connected, as far as is known."""
        return all(line.is_up for line in self.all)

    @property
    def standbys(self) -> str:
        """The server's `synchronous_standby_names`, as last seen."""
        return self._sessions[0].standbys

    def listen(self, listener: ConnectionListener) -> None:
        """Set the listener for hints; call this method before `open`."""
        self._listener = listener
        self._hints.on_return = listener.missed

    def rename(self, name: str) -> None:
        """Name all connections, also later ones, on the server."""
        name = f"{name} {self._url.schema}".rstrip()
        for session, line in zip(self._sessions, self.all, strict=True):
            session.application_name = name
            line.name_session(name)

    def break_off(self, older_than: float) -> None:
        """Break the connections whose statement has waited for `seconds`."""
        for line in self.all:
            line.break_off(older_than)

    def _line(self, name: str, statement_ms: int, *, hints: bool = False) -> DatabaseLine:
        session = LineSession(
            self._durability, shown=self._url.shown, statement_ms=statement_ms, hints_only=hints
        )
        prepare = partial(self._prepare_to_listen, session) if hints else session
        self._sessions.append(session)
        self.all.append(DatabaseLine(self._url, name, prepare=prepare))
        return self.all[-1]

    async def _prepare_to_listen(self, session: LineSession, connection: Connection) -> None:
        await session(connection)
        if self._listener is not None:
            await self._listener.listen(connection)
