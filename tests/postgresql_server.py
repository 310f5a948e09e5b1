"""A PostgreSQL server of the tests' own: one for a test session, which all workers share.

The binaries are Debian's or those on the PATH; as root the server runs as another user, since it
refuses root. Tests that need it are skipped where it is not installed.
"""

import fcntl
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore

FOLDER = "PROLOCUTOR_TEST_POSTGRESQL"
"""The environment variable with the folder of the session's server, set for all workers."""

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "300",
    "shared_buffers": "32MB",
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "log_min_messages": "fatal",
}

PATIENCE = ("-w", "-t", "600")
"""Words that let pg_ctl wait for so many seconds, on a machine however slow."""


class PostgresqlServer:
    """A server in a folder; `settings` are added to those of the tests."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._settings = {**SETTINGS, **settings}

    @property
    def port(self) -> int:
        return int((self.folder / "port").read_text())

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def make(self) -> None:
        """Make the data folder; a port is chosen once."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self.folder, _unprivileged())
        arguments = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        run("initdb", "-D", str(self.data), *arguments)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            (self.folder / "port").write_text(str(free.getsockname()[1]))

    def start(self) -> None:
        options = [f"-c {name}={value}" for name, value in self._settings.items()]
        options += [f"-k {self.folder}", f"-p {self.port}"]
        log = str(self.folder / "log")
        run("pg_ctl", "-D", str(self.data), "-o", " ".join(options), "-l", log, *PATIENCE, "start")

    def stop(self, how: str = "immediate") -> None:
        run("pg_ctl", "-D", str(self.data), "-m", how, *PATIENCE, "stop")

    def execute(self, statement: str, database: str = "postgres") -> str:
        """Run a statement; return what it prints."""
        return run("psql", "-qAt", "-d", self.url(database), "-c", statement)


def run(program: str, *arguments: str) -> str:
    """Run one of PostgreSQL's programs; raise with what it says if it fails."""
    command = [found(program), *arguments]
    user = _unprivileged() if os.geteuid() == 0 else None
    group = pwd.getpwnam(user).pw_gid if user else None
    # a file, not a pipe: the server that pg_ctl starts would keep a pipe open
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.STDOUT, cwd="/", user=user, group=group,
            check=False,
        )  # fmt: skip
        output.seek(0)
        text = output.read().decode()
    if done.returncode:
        raise RuntimeError(f"{program}: {text}")
    return text.strip()


def found(program: str) -> str:
    """Return the path of one of PostgreSQL's programs, the newest; skip the test without it."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), reverse=True)
    path = str(places[0]) if places else shutil.which(program)
    if path is None:
        pytest.skip('PostgreSQL (not installed; Debian, Ubuntu: "apt install postgresql")')
    return path


def _unprivileged() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def quick_folder() -> Path:
    """Return a new folder in memory, where there is such a place."""
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="prolocutor-pg-", dir=place))


def begin_session() -> None:
    """Name the folder of this session's server; called before workers start."""
    os.environ[FOLDER] = os.path.join(tempfile.gettempdir(), f"prolocutor-pg-{os.getpid()}")


def end_session() -> None:
    """Stop the session's server, if a test started it."""
    place = Path(os.environ.pop(FOLDER, ""))
    if (place / "server").is_symlink():
        folder = (place / "server").resolve()
        PostgresqlServer(folder).stop()
        shutil.rmtree(folder)
        shutil.rmtree(place)


@pytest.fixture(scope="session")
def postgresql() -> PostgresqlServer:
    """Return the session's server; the first worker that needs it starts it."""
    found("initdb")
    place = Path(os.environ[FOLDER])
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        link = place / "server"
        if not link.is_symlink():
            folder = quick_folder()
            server = PostgresqlServer(folder)
            server.make()
            server.start()
            link.symlink_to(folder)
        return PostgresqlServer(link.resolve())


@pytest.fixture(scope="session")
def worker_database(postgresql: PostgresqlServer) -> Iterator[str]:
    """Return the URL of this worker's database."""
    name = f"worker_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    postgresql.execute(f"CREATE DATABASE {name}")
    yield postgresql.url(name)
    postgresql.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest_asyncio.fixture
async def database(worker_database: str) -> AsyncIterator[str]:
    """Return the URL of a database that has all tables and no rows."""
    await emptied(worker_database)
    yield worker_database


async def emptied(url: str) -> None:
    """Make the tables where there are none; delete all rows. Numbers go on."""
    store = PostgresqlStore(url, durability="relaxed")
    await store.open()
    await store.aclose()
    connection = await asyncpg.connect(url)
    tables = ("people", "dialogs", "dialog_names", "spoke", "utterances", "versions", "feed",
              "open_turns", "waiting", "holds", "requests", "ratings", "agenda", "records",
              "amounts", "replicas", "quota_counters", "quota_open", "hours",
              "agent_sums")  # fmt: skip
    script = "".join(f"DELETE FROM {table};" for table in tables)
    await connection.execute(f"{script} UPDATE counters SET value = 0")
    await connection.close()


async def query(url: str, statement: str, *values: object) -> list[asyncpg.Record]:
    """Run a statement on a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        rows: list[asyncpg.Record] = await connection.fetch(statement, *values)
        return rows
    finally:
        await connection.close()
