"""A real nats-server and real workers as the other side of tests; skipped where there is none."""

import asyncio
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

PATIENCE = 120.0
PROGRAM = str(Path(sys.executable).with_name("prolocutor"))


def nats_program() -> str:
    """Return the path of nats-server; skip the test where there is none."""
    found = shutil.which("nats-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        pytest.skip("workers behind NATS (no nats-server)")
    return found


class NatsServer:
    """A nats-server on a port of its own, which can be killed and started again."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self.program = nats_program()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._options = options
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        self._process = await asyncio.create_subprocess_exec(
            self.program,
            *("-a", "127.0.0.1", "-p", str(self.port), *self._options),
            stderr=asyncio.subprocess.PIPE,
        )
        assert self._process.stderr is not None
        async with asyncio.timeout(PATIENCE):
            while b"Server is ready" not in (line := await self._process.stderr.readline()):
                assert line, "nats-server did not start"

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def kill(self) -> None:
        """End it without a word to its clients, as a power cut does."""
        if self._process is not None:
            self._process.kill()
            await self._process.communicate()
            self._process = None


@asynccontextmanager
async def nats_server(*options: str) -> AsyncIterator[NatsServer]:
    """Run a nats-server for as long as the block runs."""
    server = NatsServer(options)
    await server.start()
    try:
        yield server
    finally:
        await server.kill()


class WorkerProcess:
    """A running `prolocutor worker`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def until(self, words: str) -> str:
        """Wait for a line with these words on its standard output."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while words not in (line := (await self._process.stdout.readline()).decode()):
                assert line, f"it ended before it said {words!r}"
        return line

    async def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit status."""
        self.signal(number)
        async with asyncio.timeout(PATIENCE):
            return await self._process.wait()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()


@asynccontextmanager
async def worker_process(
    *words: str, folder: Path | None = None, environ: dict[str, str] | None = None
) -> AsyncIterator[WorkerProcess]:
    """Run `prolocutor worker`, and wait until it takes calls."""
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "worker", *words), cwd=folder, env=environ, stdout=asyncio.subprocess.PIPE
    )
    worker = WorkerProcess(process)
    try:
        await worker.until("takes calls on")
        yield worker
    finally:
        await worker.kill()
