"""SoakDatabase: a PostgreSQL server of the soak's own, with a standby if one is to be promoted."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import asyncpg

from tests.postgresql_server import PATIENCE, PostgresqlServer, run

NAME: Final = "soak"


class SoakDatabase:
    """One primary, and one standby to which every commit is sent before it is confirmed.

    After a failover the standby is the primary, and a new standby is made in place of the old
    primary. `ports` are those of both, in the order of a URL with two hosts.
    """

    def __init__(
        self, folder: Path, *, standby: bool, bytes: int | None = None, open_to: str | None = None
    ) -> None:
        """Make nothing yet; `open_to` is a network (CIDR) from which everybody may connect."""
        self._folder = folder
        self._open_to = open_to
        self._with_standby = standby
        self._bytes = bytes
        self._servers: list[PostgresqlServer] = []
        self._primary = 0
        self._lock = asyncio.Lock()
        self._line: tuple[str, Any] = ("", None)
        self.stopped_at = 0.0
        """When the primary was stopped the last time, by the monotonic clock."""

    @property
    def ports(self) -> list[int]:
        """The ports of all servers."""
        return [server.port for server in self._servers]

    @property
    def primary(self) -> PostgresqlServer:
        """The server that is written to."""
        return self._servers[self._primary]

    @property
    def url(self) -> str:
        """The URL of the primary's database."""
        return self.primary.url(NAME)

    def open(self) -> None:
        """Make the servers and start them."""
        if self._bytes is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            size = f"size={self._bytes}"
            mount = ["mount", "-t", "tmpfs", "-o", size, "soak", str(self._folder)]
            subprocess.run(mount, check=True)
        first = self._server("a")
        first.make()
        if self._open_to is not None:
            with (first.data / "pg_hba.conf").open("a") as file:
                file.write(f"host all all {self._open_to} trust\n")
        first.start()
        first.execute(f"CREATE DATABASE {NAME}")
        self._servers = [first]
        if self._with_standby:
            self._servers.append(self._server("b"))
            self._servers[1].make()
            self._follow()

    def aclose(self) -> None:
        """Stop the servers and remove their folders."""
        for server in self._servers:
            with suppress(RuntimeError):  # it was stopped before
                server.stop()
        if self._bytes is not None:
            subprocess.run(["umount", "-l", str(self._folder)], check=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def restart(self) -> None:
        """Stop the primary as a crash does, and start it."""
        self._crash()
        self.primary.start()

    def fail_over(self) -> None:
        """Stop the primary as a crash does and promote the standby."""
        self._crash()
        self._primary = 1 - self._primary
        run("pg_ctl", "-D", str(self.primary.data), *PATIENCE, "promote")

    def _crash(self) -> None:
        self.primary.stop("immediate")
        self.stopped_at = time.monotonic()

    def follow_again(self) -> None:
        """Make a new standby in place of the old primary."""
        self._follow()

    def fill(self) -> Path:
        """Fill the disk; return the file that does."""
        ballast = self._folder / "ballast"
        with ballast.open("wb") as file:
            try:
                while True:
                    file.write(bytes(65_536))
                    file.flush()
            except OSError:
                pass
        return ballast

    def ensure_up(self) -> None:
        """Start what has stopped by itself; a standby that does not start is made anew."""
        if not _is_up(self.primary):
            self.primary.start()
        for standby in self._servers:
            if standby is not self.primary and not _is_up(standby):
                self._follow()

    async def rows(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement at the primary, on a connection of the soak's own."""
        async with self._lock:
            url, connection = self._line
            if connection is None or connection.is_closed() or url != self.url:
                connection = await asyncpg.connect(self.url)
                self._line = (self.url, connection)
            return list(await connection.fetch(statement, *values))

    async def hang_up(self) -> None:
        """Close that connection."""
        if self._line[1] is not None:
            self._line[1].terminate()

    def _server(self, name: str) -> PostgresqlServer:
        settings = {"log_min_messages": "warning", "wal_retrieve_retry_interval": "500ms"}
        if self._open_to is not None:
            settings["listen_addresses"] = "*"
        return PostgresqlServer(self._folder / name, **settings)

    def _follow(self) -> None:
        standby = self._servers[1 - self._primary]
        self.primary.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
        self.primary.execute("SELECT pg_reload_conf()")
        shutil.rmtree(standby.data, ignore_errors=True)
        source = ["-h", "127.0.0.1", "-p", str(self.primary.port), "-U", "postgres"]
        run("pg_basebackup", "-D", str(standby.data), "-R", "-c", "fast", "--no-sync", *source)
        standby.start()
        self.primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
        self.primary.execute("SELECT pg_reload_conf()")


def _is_up(server: PostgresqlServer) -> bool:
    try:
        run("pg_ctl", "-D", str(server.data), "status")
    except RuntimeError:
        return False
    return True


async def in_thread(work: Any, *arguments: Any) -> Any:
    """Do what waits for another program in a thread."""
    return await asyncio.to_thread(work, *arguments)
