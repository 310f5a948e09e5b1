"""LineProcess: a program that is talked to in lines, over its standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from prolocutor.background import BackgroundTasks
from prolocutor.errors import ConfigError, ServiceUnreachable
from prolocutor.processes.supervisor import LAUNCHER, ProcessOutput, end_of_process

GRACE_SECONDS: Final = 2.0
"""Seconds for a program to end by itself."""

STEADY_SECONDS: Final = 60.0
"""Seconds of life after which waits before a restart start over."""

BACKOFF: Final = (0.5, 30.0)
MAX_LINE: Final = 16_000_000
MAX_BLANK: Final = 10_000
"""The number of successive blank lines after which a program is ended."""

_AT_ONCE: Final = 500
"""The number of lines read before the event loop runs other tasks."""


class LineProcess:
    """One program, started at its first use and again after it has ended.

    `take` gets each non-blank line of the output, `lost` the error at its end; `is_closing` says
    that the end was requested. Its stderr goes to the log. A restart soon after an end waits;
    `backoff` is the first and the longest wait in seconds, doubling in between and starting over
    after `STEADY_SECONDS` of life; after a `kill` the restart is immediate. A line of more than
    `max_line` bytes ends the program, as does the end of this process.
    """

    def __init__(
        self,
        run: str | Sequence[str],
        *,
        name: str,
        take: Callable[[bytes], None],
        lost: Callable[[ServiceUnreachable], None],
        folder: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
        max_line: int = MAX_LINE,
        backoff: tuple[float, float] = BACKOFF,
    ) -> None:
        words = shlex.split(run) if isinstance(run, str) else list(run)
        if not words:
            raise ConfigError(f"the program of {name!r} has no command", key="run")
        self._words = [word.replace("{python}", sys.executable) for word in words]
        self._name = name
        self._take = take
        self._lost = lost
        self._folder = folder
        self._environment = environment or {}
        self._max_line = max_line
        self._backoff = backoff
        self.is_closing = False
        self._wait = 0.0
        self._not_before = 0.0
        self._last = ServiceUnreachable(f"{self.shown} was not started")
        self._child: Process | None = None
        self._starting = asyncio.Lock()
        self._tasks = BackgroundTasks(f"program {self._name}")
        self._reading: asyncio.Task[None] | None = None
        self._killed = ""

    @property
    def shown(self) -> str:
        """The program's name for messages."""
        return Path(self._words[0]).name

    async def start(self, patience: float) -> None:
        """Start the program unless it runs; raise `ServiceUnreachable` on failure or after
        `patience` seconds.
        """
        async with self._starting:
            if self._killed and self._reading is not None:
                await self._gone(self._reading)
            if self._child is not None:
                return
            loop = asyncio.get_running_loop()
            rest = self._not_before - loop.time()
            if rest > patience:
                what = f"{self._last}; it is started again in {rest:.1f} s"
                raise ServiceUnreachable(what, sent=False)
            if rest > 0:
                await asyncio.sleep(rest)
            # A cancelled caller leaves no half-started program behind.
            launching = self._tasks.start(self._launch(), awaited=True)
            try:
                await asyncio.shield(launching)
            except asyncio.CancelledError:
                await asyncio.wait([launching])
                raise

    def write(self, line: bytes) -> None:
        """Send one line, without its line break; raise `ServiceUnreachable` if the program is not
        running.
        """
        child = self._child
        if child is None or child.stdin is None or child.stdin.is_closing():
            raise self._last
        child.stdin.write(line + b"\n")

    async def drain(self) -> None:
        """Wait until the program has read enough of the written lines."""
        child = self._child
        if child is not None and child.stdin is not None:
            with contextlib.suppress(ConnectionError):
                await child.stdin.drain()

    def kill(self, why: str = "was ended") -> None:
        """Kill the program and all of its processes; `why` follows its name in messages."""
        if self._child is not None and not self._killed:
            self._killed = why
            _end(self._child)
            if self._reading is not None:  # processes outside of the group may hold its output open
                asyncio.get_running_loop().call_later(2 * GRACE_SECONDS, self._reading.cancel)

    async def aclose(self) -> None:
        """Close its input, wait a moment for its end, then end it; return when it is gone."""
        child, reading = self._child, self._reading
        if child is None or reading is None:
            return
        self.is_closing = True
        if child.stdin is not None:
            child.stdin.close()
        await asyncio.wait([reading], timeout=GRACE_SECONDS)
        if not reading.done():
            _end(child)
        await self._gone(reading)
        self.is_closing = False
        self._wait = self._not_before = 0.0

    async def _gone(self, reading: asyncio.Task[None]) -> None:
        """Wait for the end of a program that was ended; something may hold its output open."""
        await asyncio.wait([reading], timeout=2 * GRACE_SECONDS)
        if not reading.done():
            self._killed = self._killed or "was ended"
            reading.cancel()
            await asyncio.wait([reading])

    async def _launch(self) -> None:
        loop = asyncio.get_running_loop()
        self._killed = ""
        output = ProcessOutput(self._name)
        errors = await output.open()
        try:
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", LAUNCHER, str(os.getpid()), "--stdin", *self._words),
                stdin=PIPE,
                stdout=PIPE,
                stderr=errors,
                cwd=self._folder,
                env={**os.environ, **self._environment},
                limit=self._max_line,
                start_new_session=True,
            )
        except OSError as error:
            output.close()
            self._rest(loop.time())
            self._last = ServiceUnreachable(f"{self.shown} cannot be started: {error}", sent=False)
            raise self._last from None
        output.hand_over()
        self._child = child
        self._reading = self._tasks.start(self._serve(child, output))

    async def _serve(self, child: Process, output: ProcessOutput) -> None:
        """Read until the program ends; then note how it ended."""
        loop = asyncio.get_running_loop()
        born = loop.time()
        logging = self._tasks.start(output.read())
        what, status = "", 0
        try:
            what = await self._read(child)
            _end(child)
            status, _ = await asyncio.gather(child.wait(), _drop_output(child))
            _kill_group(child)  # the program's remaining processes
            await asyncio.wait([logging], timeout=1.0)
        except asyncio.CancelledError:
            if not self._killed:
                raise
        finally:
            logging.cancel()
            output.close()
            self._child = None
        if loop.time() - born > STEADY_SECONDS:
            self._wait = 0.0
        if not self._killed:
            self._rest(loop.time())
        said = f" ({output.last})" if output.last else ""
        how = self._killed or what or end_of_process(status)
        self._last = ServiceUnreachable(f"{self.shown} {how}{said}")
        self._lost(self._last)

    async def _read(self, child: Process) -> str:
        """Hand over lines until the output ends; return the fault, "" without a fault."""
        assert child.stdout is not None
        blank = number = 0
        while True:
            number += 1
            if not number % _AT_ONCE:
                await asyncio.sleep(0)  # buffered lines are read without waiting
            try:
                line = await child.stdout.readline()
            except ValueError:
                return f"wrote a line of more than {self._max_line:,} bytes, and was ended"
            if not line:
                # A program that closes its output but runs on is given time to end by itself.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(GRACE_SECONDS):
                        await child.wait()
                return ""
            blank = blank + 1 if line.isspace() else 0
            if blank > MAX_BLANK:
                return f"wrote more than {MAX_BLANK:,} blank lines, and was ended"
            if not blank:
                self._take(line)

    def _rest(self, now: float) -> None:
        """Note when it may be started again: at once the first time, then later and later."""
        first, longest = self._backoff
        self._not_before = now + self._wait
        self._wait = min(2 * self._wait, longest) if self._wait else first


async def _drop_output(process: Process) -> None:
    """Read and drop output: asyncio notes the end of a process only after its output's end."""
    assert process.stdout is not None
    while await process.stdout.read(65_536):
        pass


def _end(process: Process) -> None:
    """End a program and all of its processes; its launcher reaps it, so no zombie stays."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGUSR2)
    asyncio.get_running_loop().call_later(GRACE_SECONDS, _kill_lasting, process)


def _kill_lasting(process: Process) -> None:
    if process.returncode is None:
        _kill_group(process)


def _kill_group(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
