"""Servers that can be killed: `prolocutor serve`, or the same forked by the fork server."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, Protocol

FORK_SERVER: Final = Path(__file__).with_name("fork_server.py")
PROGRAM: Final = Path(sys.executable).with_name("prolocutor")
PATIENCE: Final = 120.0
"""Seconds that a server may take to end; then it is killed."""

_URL: Final = re.compile(rb"http://[\w.]+:\d+")
_ENDED: Final = re.compile(rb"ended (-?\d+)$")


class Server(Protocol):
    """One server after the other. `kill` and `stop` give the exit status, minus the signal."""

    async def start(self) -> None:
        """Begin the life of the next server."""

    async def ready(self) -> str:
        """Wait until it takes requests and give its URL; may be cancelled."""

    async def kill(self) -> int:
        """Send SIGKILL and wait for the end."""

    async def stop(self) -> int:
        """Send SIGTERM and wait for the end; SIGKILL if it does not come."""


class Command:
    """The command itself, started anew for every life."""

    def __init__(self, words: Sequence[str], environ: Mapping[str, str], log: IO[bytes]) -> None:
        self._words = words
        self._environ = {**os.environ, **environ}
        self._log = log
        self._process: Process | None = None

    @property
    def pid(self) -> int:
        """The process of this life."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            PROGRAM, *self._words, stdout=PIPE, stderr=self._log, env=self._environ
        )

    async def ready(self) -> str:
        assert self._process is not None
        return (await _line(self._process, _URL))[0].decode()

    async def kill(self) -> int:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        return await self._process.wait()

    async def stop(self) -> int:
        assert self._process is not None
        self._process.terminate()
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._process.wait()
        except TimeoutError:
            return await self.kill()


class ForkServer:
    """Servers forked by one process that has imported everything."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def opened(
        cls,
        words: Sequence[str],
        environ: Mapping[str, str],
        log: IO[bytes],
        before: Sequence[str] = (),
    ) -> ForkServer:
        """Start the process that forks them; the words `before` run it elsewhere."""
        process = await asyncio.create_subprocess_exec(
            *before, sys.executable, FORK_SERVER, *words,
            stdin=PIPE, stdout=PIPE, stderr=log, env={**os.environ, **environ},
        )  # fmt: skip
        return cls(process)

    async def aclose(self) -> None:
        """End it, and with it the server that may be alive."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()

    async def start(self) -> None:
        self._tell("live")

    async def ready(self) -> str:
        return (await _line(self._process, _URL))[0].decode()

    async def kill(self) -> int:
        return await self._end("kill")

    async def stop(self) -> int:
        return await self._end("stop")

    def pause(self) -> None:
        """Send SIGSTOP."""
        self._tell("pause")

    def go_on(self) -> None:
        """Send SIGCONT."""
        self._tell("go-on")

    async def _end(self, word: str) -> int:
        self._tell(word)
        return int((await _line(self._process, _ENDED))[1])

    def _tell(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n".encode())


async def _line(process: Process, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
    """Read lines up to one in which the pattern is found."""
    assert process.stdout is not None
    async for line in process.stdout:
        if found := pattern.search(line.rstrip()):
            return found
    raise EOFError(f"the server ended with {await process.wait()}")
