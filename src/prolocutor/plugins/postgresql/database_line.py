"""DatabaseLine: a connection to the database, reopened when it breaks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Final, Protocol

import asyncpg

from prolocutor.background import BackgroundTasks
from prolocutor.errors import (
    ConfigError,
    DeclaredDead,
    PersonMoved,
    StoreAway,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreMisused,
)
from prolocutor.plugins.postgresql.store_url import StoreUrl

log = logging.getLogger(__name__)

DECLARED_DEAD: Final = "PR001"
MOVED: Final = "PR002"
"""The error code by which our functions say that this replica was declared dead."""
FIRST_PAUSE: Final = 0.05
"""Seconds before the first new try to connect."""

LONGEST_PAUSE: Final = 1.0
"""Seconds between two tries to connect, at most."""

_AWAY: Final = frozenset(("57P01", "57P02", "57P03", "57P05", "25006", "53300"))
"""Error codes of a server that stops, starts, was demoted or has no place for another line."""


_UNPREPARED: Final = frozenset(("26000", "42P05"))
"""Error codes of a statement that was prepared on another connection to the server."""

POOLED: Final = (
    "between us and the server is a pooler that gives each transaction to another connection; "
    "set pool_mode = session (PgBouncer), or connect to the server itself: a replica has five "
    "connections, however many people talk"
)
PROBES: Final = 10

_STARTED: Final = "SELECT pg_postmaster_start_time(), pg_backend_pid()"
_NAME_SESSION: Final = "SELECT set_config('application_name', $1, false)"


class Row(Protocol):
    """A row of a result."""

    def __getitem__(self, key: int | str) -> Any:
        """Return a column by its name or its place."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the columns."""


class Connection(Protocol):
    """The methods of asyncpg's connection in use here."""

    async def fetch(self, statement: str, *args: Any) -> list[Row]:
        """Run a statement, prepared once, and return all rows."""

    async def execute(self, script: str) -> str:
        """Run a script of many statements."""

    async def close(self, *, timeout: float) -> None:
        """Close the connection in good order."""

    def get_server_pid(self) -> int:
        """Return the id of the server process, as the server or pooler reports it."""

    def terminate(self) -> None:
        """Break the connection off; a waiting statement fails at once."""

    def is_closed(self) -> bool:
        """Return whether the connection is closed."""

    def add_termination_listener(self, callback: Callable[[Any], None]) -> None:
        """Call `callback` when the connection is lost."""

    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None:
        """Call `callback` for each notification."""


class Session(Protocol):
    """The preparation of a line's connection, after each opening."""

    async def __call__(self, connection: Connection) -> None:
        """Prepare a connection."""


class DatabaseLine:
    """A connection for its user's statements, one at a time.

    While it is down, `fetch` fails at once with `StoreAway`, and the connection is reopened in the
    background. A statement beyond its time limit breaks the connection, because a frozen
    server looks like a slow server.
    """

    def __init__(self, url: StoreUrl, name: str, *, prepare: Session) -> None:
        self._url = url
        self._name = name
        self._prepare = prepare
        self._connection: Connection | None = None
        self._making = BackgroundTasks("connection")
        self._fault: StoreError = StoreAway(f"{url.shown}: not connected yet")
        self._asked_at: float | None = None
        self._closed = False
        self._first = 0
        self._new_name: str | None = None
        self._server: tuple[int, object] | None = None
        self.misuses = 0
        """Wrong uses of this line, which are faults of Prolocutor."""
        self.since = 0.0
        """When this server was first connected to since it was started, by the monotonic clock."""
        self.on_return: Callable[[], None] = _nothing
        """Called when the line is back after it was lost."""

    async def open(self) -> None:
        """Connect, also after `aclose`; raise an error with a remedy."""
        self._closed = False
        await self._connect()

    async def aclose(self) -> None:
        """Close the connection."""
        self._closed = True
        self._making.cancel()
        connection, self._connection = self._connection, None
        if connection is not None and not connection.is_closed():
            try:
                async with asyncio.timeout(2.0):
                    await connection.close(timeout=2.0)
            except Exception:
                connection.terminate()
        self._fault = StoreError("the store is closed")

    @property
    def is_up(self) -> bool:
        """Whether the connection is open, as far as is known."""
        return self._connection is not None and not self._connection.is_closed()

    def break_off(self, older_than: float = 0.0) -> None:
        """Break the connection if a statement has waited for `seconds`."""
        waits = self._asked_at is not None and monotonic() - self._asked_at >= older_than
        if waits and self._connection is not None:
            self._connection.terminate()

    async def back(self, patience: float) -> bool:
        """Wait for a lost connection to be reopened; return whether it is open."""
        if not self.is_up and not self._closed:
            self._lost(StoreAway(f"{self._url.shown}: the connection was lost"))
            await self._making.wait_until_ended(patience)
        return self.is_up

    def name_session(self, name: str) -> None:
        """Name the connection on the server before its next statement."""
        self._new_name = name

    async def fetch(self, statement: str, *args: Any, within: float) -> list[Row]:
        """Run a statement; raise `StoreAway` if its outcome is unknown."""
        connection = self._connection
        if connection is None or connection.is_closed():
            raise self._lost(None)
        if self._new_name is not None:
            name, self._new_name = self._new_name, None
            await self.fetch(_NAME_SESSION, name, within=within)
        with self._asking():
            timer = asyncio.get_running_loop().call_later(within, connection.terminate)
            try:
                return await connection.fetch(statement, *args)
            finally:
                timer.cancel()

    async def execute(self, script: str) -> None:
        """Run a script of many statements, without a time limit."""
        connection = self._connection
        if connection is None or connection.is_closed():
            raise self._lost(None)
        with self._asking():
            await connection.execute(script)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        if self._asked_at is not None:
            raise self._misuse("it is in use by somebody else")
        self._asked_at = monotonic()
        try:
            yield
        except Exception as error:
            raise self.translate(error) from error
        finally:
            self._asked_at = None

    def _misuse(self, what: str) -> StoreMisused:
        self.misuses += 1
        error = StoreMisused(f"{self._url.shown}: the connection '{self._name}': {what}")
        if self.misuses == 1:
            log.error("%s; this is a fault of Prolocutor, please report it", error, stack_info=True)
        return error

    def translate(self, error: Exception) -> Exception:
        """Return the `StoreError` for an error of the database or the connection."""
        if isinstance(error, StoreError | ConfigError):
            return error
        ours = isinstance(error, asyncpg.InterfaceError) and not isinstance(error, ValueError)
        if ours and self.is_up:
            return self._misuse(str(error))
        found = _translate_error(error, self._url)
        if isinstance(found, ConfigError):  # the connection is checked when it is made anew
            found = StoreAway(str(found))
        if found is error and not self.is_up:
            # asyncpg raises AttributeError and the like where the line is lost within a statement.
            found = StoreAway(f"{self._url.shown}: the connection was lost")
        if isinstance(found, StoreAway):
            if self._connection is not None:
                self._connection.terminate()
            self._lost(found)
        return found

    def _lost(self, fault: StoreAway | None) -> StoreError:
        """Begin to reopen the connection; return its error."""
        if self._closed:
            return StoreError("the store is closed")
        if fault is not None:
            self._fault = fault
        self._connection = None
        if not self._making:
            self._making.start(self._make_anew())
        return self._fault

    async def _make_anew(self) -> None:
        pause = FIRST_PAUSE
        while not self._closed:
            try:
                await self._connect()
            except (StoreError, ConfigError) as error:
                self._fault = error if isinstance(error, StoreError) else StoreAway(str(error))
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE, 2 * pause)
            else:
                break
        if self.is_up:
            log.warning("%s: the connection '%s' is back", self._url.shown, self._name)
            self.on_return()

    async def _connect(self) -> None:
        """Try each host once, beginning with the last host that served."""
        servers = self._url.servers
        fault: Exception = StoreAway(f"{self._url.shown}: names no host")
        for step in range(len(servers)):
            place = (self._first + step) % len(servers)
            try:
                self._connection, started = await self._connect_to(servers[place])
            except (StoreError, ConfigError) as error:
                fault = error
                continue
            self._first = place
            if self._server != (place, started):
                self._server, self.since = (place, started), monotonic()
            return
        raise fault

    async def _connect_to(self, server: str) -> tuple[Connection, object]:
        """Return a prepared connection, and the start time of its server."""
        made: Connection | None = None
        try:
            async with asyncio.timeout(self._url.connect_timeout):
                made = await asyncpg.connect(server, timeout=self._url.connect_timeout)
                await self._prepare(made)
                ((started, process),) = await made.fetch(_STARTED)
                if process != made.get_server_pid():
                    await self._check_pooler(made, server)
                made.add_termination_listener(self._note_end)
                return made, started
        except BaseException as error:
            if made is not None:
                made.terminate()
            if isinstance(error, Exception):
                raise _translate_error(error, self._url) from error
            raise

    async def _check_pooler(self, connection: Connection, server: str) -> None:
        """Raise `ConfigError` if a pooler changes the server process between our statements.

        The test: a second connection takes the free server process, and the first connection then
        gets another.
        """
        other = await asyncpg.connect(server, statement_cache_size=0)
        try:
            for _ in range(PROBES):
                ((_, before),) = await connection.fetch(_STARTED)
                async with other.transaction():
                    await other.fetch(_STARTED)
                    ((_, after),) = await connection.fetch(_STARTED)
                if after != before:
                    raise ConfigError(f"{self._url.shown}: {POOLED}", key="store")
        finally:
            other.terminate()

    def _note_end(self, connection: Connection) -> None:
        with suppress(RuntimeError):  # the loop is closed
            if connection is self._connection and not self._closed:
                self._lost(StoreAway(f"{self._url.shown}: the connection was lost"))


def _translate_error(error: Exception, url: StoreUrl) -> Exception:
    shown = url.shown
    code = getattr(error, "sqlstate", None)
    if code == DECLARED_DEAD:
        return DeclaredDead(str(error))
    if code == MOVED:
        return PersonMoved(f"{error}; send it again")
    if code in ("28P01", "28000"):
        return ConfigError(
            f"{shown}: the server refuses the user or the password ({error}); give the password in "
            "the URL, in PGPASSWORD or in ~/.pgpass",
            key="store",
        )
    if code in _UNPREPARED:
        return ConfigError(f"{shown}: {POOLED}", key="store")
    if code == "3D000":
        return ConfigError(f"{shown}: {error}; make it: createdb {url.database}", key="store")
    if code is not None and (code.startswith("08") or code in _AWAY):
        return StoreAway(f"{shown}: {error}")
    if code == "53100":
        return StoreFull(f"{shown}: the database's disk is full; free some space, send it again")
    if code is not None and code.startswith("XX"):
        return StoreCorrupt(f"{shown}: {error}; put back a copy of the database")
    if isinstance(error, asyncpg.ClientConfigurationError):
        return ConfigError(f"{shown}: {error}", key="store")
    if isinstance(error, ValueError):
        return StoreError(f"{shown}: cannot store this: {error}")
    if isinstance(error, TimeoutError):
        return StoreAway(f"{shown}: no answer in time")
    if isinstance(error, OSError | asyncpg.InterfaceError | asyncpg.InternalClientError):
        what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return StoreAway(f"{shown}: {what or 'the connection was lost'}")
    if isinstance(error, asyncpg.PostgresError):
        return StoreError(f"{shown}: {error}")
    return error


def first_column(rows: Sequence[Row]) -> list[Any]:
    """Return the first column of all rows."""
    return [row[0] for row in rows]


def _nothing() -> None:
    """Do nothing."""
