"""The system of `deploy/compose/` by hand: a database, NATS, replicas, workers and a proxy."""

import asyncio
import os
import random
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.nats_server import PATIENCE, PROGRAM, NatsServer, WorkerProcess, worker_process
from tests.postgresql_server import PostgresqlServer, postgresql  # noqa: F401 - a fixture

ROOT = Path(__file__).parents[2]
ASSISTANT = ROOT / "deploy" / "compose" / "assistant"


class Proxy:
    """Hands each connection to any of the replicas that take it, as a load balancer does."""

    def __init__(self, ports: list[int]) -> None:
        self.ports = ports
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for port in random.sample(self.ports, len(self.ports)):
            try:
                there = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
            ways = (_pump(reader, there[1]), _pump(there[0], writer))
            await asyncio.gather(*ways, return_exceptions=True)
            there[1].close()
            break
        writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


class Replica:
    """A running `prolocutor serve`."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process, self.port = process, port

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.communicate()


@asynccontextmanager
async def replica(file: Path, environ: dict[str, str]) -> AsyncIterator[Replica]:
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "serve", str(file), "--host", "127.0.0.1", "--port", "0"),
        env=environ,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        line = (await process.stdout.readline()).decode()
    found = Replica(process, int(line.partition("127.0.0.1:")[2].split()[0]))
    try:
        yield found
    finally:
        await found.kill()


class System:
    """All of it; `ask` goes through the proxy."""

    def __init__(self, environ: dict[str, str], nats: NatsServer) -> None:
        self.environ, self.nats = environ, nats
        self.replicas: list[Replica] = []
        self.workers: list[WorkerProcess] = []
        self.url = ""

    async def ask(self, user: str, text: str, key: str | None = None) -> tuple[int, Any]:
        headers = {"Authorization": "Bearer k", "Connection": "close"}
        if key is not None:
            headers["Idempotency-Key"] = key
        said = {"user_id": user, "payload": text}
        timeout = aiohttp.ClientTimeout(total=PATIENCE)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(self.url, json=said, headers=headers) as response,
        ):
            return response.status, await response.json()

    async def ask_until_answered(self, user: str, text: str, key: str) -> str:
        """Ask as clients should: again with the same key where a connection is lost."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    status, answer = await self.ask(user, text, key)
                except aiohttp.ClientError:
                    status = 0
                if status == 200:
                    reply: str = answer["response"]
                    return reply
                await asyncio.sleep(0.05)


@pytest.fixture
async def system(
    postgresql: PostgresqlServer,  # noqa: F811
    tmp_path: Path,
) -> AsyncIterator[System]:
    file = Path(shutil.copytree(ASSISTANT, tmp_path / "assistant")) / "assistant.yaml"
    # A breaker that leaves a service alone for ten seconds would make the test as long.
    file.write_text(
        file.read_text().replace("retries: 1", "retries: 1\n    breaker: {cooldown: 0}")
    )
    nats = NatsServer()
    await nats.start()
    name = f"scaled_{os.getpid()}"
    postgresql.execute(f"CREATE DATABASE {name}")
    environ = {
        **os.environ,
        "DATABASE_URL": postgresql.url(name),
        "NATS_URL": nats.url,
        "PROLOCUTOR_MESSAGES": nats.url,
        "OPERATOR_KEY": "k",
    }
    made = System(environ, nats)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(nats.kill)
        words = [str(file), "weather", "chat"]
        starting = [stack.enter_async_context(replica(file, environ)) for _ in range(3)]
        working = [stack.enter_async_context(worker_process(*words, environ=environ)) for _ in "ab"]
        made.replicas = list(await asyncio.gather(*starting))
        made.workers = list(await asyncio.gather(*working))
        proxy = Proxy([one.port for one in made.replicas])
        made.url = await proxy.start()
        stack.push_async_callback(proxy.close)
        yield made


async def test_anything_can_be_killed_under_load_and_every_word_is_answered_once(
    system: System,
) -> None:
    async def talk(user: str) -> list[str]:
        said = [f"how is the weather in {user}{n}?" for n in range(6)]
        return [
            await system.ask_until_answered(user, text, f"{user}-{n}")
            for n, text in enumerate(said)
        ]

    talks = [asyncio.create_task(talk(user)) for user in ("Bonn", "Ulm", "Rom", "Oslo")]
    await system.ask_until_answered("eve", "hello", "eve-0")
    system.workers[0].signal(signal.SIGKILL)
    await system.ask_until_answered("eve", "hello", "eve-1")
    await system.replicas[0].kill()
    await system.ask_until_answered("eve", "hello", "eve-2")
    await system.nats.kill()
    during = await system.ask_until_answered("eve", "hello?", "eve-3")
    await system.nats.start()
    replies = dict(zip(("Bonn", "Ulm", "Rom", "Oslo"), await asyncio.gather(*talks), strict=True))
    async with asyncio.timeout(PATIENCE):
        after, number = "", 4
        while not after.startswith("You said"):
            after = await system.ask_until_answered("eve", "are you there", f"eve-{number}")
            number += 1
    again = await system.ask_until_answered("Bonn", "how is the weather in Bonn0?", "Bonn-0")

    fallback = "Sorry, I have no answer to that."
    for user, heard in replies.items():
        for n, reply in enumerate(heard):
            assert reply in (f"It is sunny in {user}{n}.", fallback) or reply.startswith("You said")
    assert during
    assert after.startswith("You said: are you there")
    assert again == replies["Bonn"][0]
