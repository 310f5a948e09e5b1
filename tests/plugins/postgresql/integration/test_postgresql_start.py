"""`prolocutor serve` starts while its database is away: live at once, ready when that is there."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import aiohttp
import asyncpg
import pytest

from tests.openid_provider import CLIENT, SECRET
from tests.postgresql_server import PostgresqlServer, found, quick_folder

PATIENCE = 60.0

# Every door, and every option by which something is read or begun at the start
FILE = """
name: Away
store: {store}
messages: nats://127.0.0.1:1
replica: {{lease: 1s}}
records: {{keep: 1d}}
handover: {{idle: 60}}
auth:
  keys: {{boss: k}}
  tokens: {{t: ann}}
  anonymous: true
  openid: {{issuer: "http://127.0.0.1:1", client_id: {client}, client_secret: "{secret}"}}
limits: {{person: {{turns: 100}}}}
doors:
  deeppavlov:
  almond:
  page:
  console:
  openai:
  a2a: {{push: ["http://127.0.0.1:1"]}}
  mcp:
  agui:
  parlai:
  telegram: {{token: "1:a", api: "http://127.0.0.1:1"}}
skills:
  echo: {{call: skills:echo}}
"""
SKILL = 'def echo(request):\n    return {"text": "hello"}\n'

Release = Callable[[], Awaitable[None]]


class Holder:
    """A port in front of a server where nobody answers, then the server does."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._let_through = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def let_through(self) -> None:
        self._let_through.set()

    async def close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        await self._let_through.wait()
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        await asyncio.gather(_carry(reader, back), _carry(there, writer))


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest.fixture
def few_slots() -> Iterator[PostgresqlServer]:
    found("initdb")
    server = PostgresqlServer(
        quick_folder(), max_connections="8", superuser_reserved_connections="0"
    )
    server.make()
    server.start()
    yield server
    with suppress(RuntimeError):
        server.stop()
    shutil.rmtree(server.folder)


@asynccontextmanager
async def away(server: PostgresqlServer, how: str) -> AsyncIterator[tuple[str, Release]]:
    """Return the URL of a database that is away, and what brings it back."""
    url = server.url("postgres")
    if how == "refused":
        server.stop()
        yield url, lambda: asyncio.to_thread(server.start)
    elif how == "mute":
        holder = Holder(server.port)
        port = await holder.open()
        yield url.replace(str(server.port), str(port)), holder.let_through
        await holder.close()
    else:
        free = {"no slot": 0, "three slots": 3}[how]
        taken = [await asyncpg.connect(url) for _ in range(8 - free)]

        async def let_go() -> None:
            for one in taken:
                await one.close()

        yield url, let_go
        await let_go()


@asynccontextmanager
async def serving(folder: Path, store: str) -> AsyncIterator[str]:
    """Start `prolocutor serve`; return its URL as soon as it says where it is."""
    (folder / "skills.py").write_text(SKILL)
    file = folder / "assistant.yaml"
    file.write_text(FILE.format(store=store, client=CLIENT, secret=SECRET))
    program = str(Path(sys.executable).with_name("prolocutor"))
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(program, "serve", str(file), "--port", "0"),
            env={**os.environ, "XDG_RUNTIME_DIR": str(folder)},
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        assert "127.0.0.1:" in line, (folder / "log").read_text()
        yield f"http://127.0.0.1:{line.partition('127.0.0.1:')[2].split()[0]}"
        process.terminate()
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize(
    "how",
    [
        "refused",
        *(pytest.param(one, marks=pytest.mark.long) for one in ("no slot", "three slots", "mute")),
    ],
)
async def test_a_replica_that_starts_while_the_database_is_away_waits_for_it(
    few_slots: PostgresqlServer, tmp_path: Path, how: str
) -> None:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        url, release = await stack.enter_async_context(away(few_slots, how))
        served = await stack.enter_async_context(serving(tmp_path, url))
        headers = {"Authorization": "Bearer k"}
        http = await stack.enter_async_context(aiohttp.ClientSession(served, headers=headers))

        async def status(method: str, path: str, **given: object) -> int:
            async with http.request(method, path, **given) as response:  # type: ignore[arg-type]
                return response.status

        stored_key = {"Authorization": "Bearer prolocutor_unknown_key"}
        before = {
            "live": await status("GET", "/health/live"),
            "ready": await status("GET", "/health/ready"),
            "metrics": await status("GET", "/metrics"),
            "key of the store": await status("GET", "/metrics", headers=stored_key),
            "turn": await status("POST", "/", json={"user_id": "ann", "payload": "a"}),
        }
        await release()
        while True:
            if await status("GET", "/health/ready") == 200:
                break
            await asyncio.sleep(0.05)
        after = {
            "key of the store": await status("GET", "/metrics", headers=stored_key),
            "turn": await status("POST", "/", json={"user_id": "ann", "payload": "a"}),
        }

    assert before == {
        "live": 200, "ready": 503, "metrics": 200, "key of the store": 503, "turn": 503,
    }  # fmt: skip
    assert after == {"key of the store": 401, "turn": 200}
