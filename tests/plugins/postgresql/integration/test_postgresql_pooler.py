"""PgBouncer between a store and its database: session mode works, transaction mode is refused."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from prolocutor.errors import ConfigError
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.testing.sample_turns import talk
from prolocutor.testing.store_fixtures import open_for_test, texts
from tests.postgresql_server import PostgresqlServer, quick_folder

SETTINGS = """
[databases]
* = host=127.0.0.1 port={server} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 20
ignore_startup_parameters = extra_float_digits
"""


@contextmanager
def pooler(server: PostgresqlServer, mode: str) -> Iterator[int]:
    """Run PgBouncer in front of a server; return its port."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip('PgBouncer (not installed; Debian, Ubuntu: "apt install pgbouncer")')
    folder: Path = quick_folder()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    settings = folder / "pgbouncer.ini"
    settings.write_text(SETTINGS.format(server=server.port, port=port, mode=mode))
    user = None
    if os.geteuid() == 0:  # it refuses to run as root
        user = "nobody"
        shutil.chown(folder, user)
    with subprocess.Popen(
        [program, "-q", str(settings)],
        user=user,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            until = time.monotonic() + 30.0
            while True:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None
                assert time.monotonic() < until
            yield port
        finally:
            process.terminate()
    shutil.rmtree(folder)


async def test_transaction_mode_is_refused_with_what_to_do(
    database: str, postgresql: PostgresqlServer
) -> None:
    with pooler(postgresql, "transaction") as port:
        url = database.replace(str(postgresql.port), str(port))
        for _ in range(5):
            with pytest.raises(ConfigError, match="pool_mode = session"):
                await PostgresqlStore(url).open()


async def test_session_mode_works(database: str, postgresql: PostgresqlServer) -> None:
    with pooler(postgresql, "session") as port:
        url = database.replace(str(postgresql.port), str(port))
        async with open_for_test(lambda: PostgresqlStore(url, durability="relaxed")) as store:
            assert isinstance(store, PostgresqlStore)
            await store.join(30.0)
            await talk(store, "ann", "a")
            (last,) = await talk(store, "ann", "b")
            assert await store.beat()

    assert texts(last) == ["a", "re: a"]
