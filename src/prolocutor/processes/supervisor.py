"""Supervisor: starts the services' processes, watches and restarts them, and ends them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shlex
import signal
import socket
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.background import BackgroundTasks
from prolocutor.bounds import about
from prolocutor.errors import ConfigError

log = logging.getLogger(__name__)


MAX_LINE: Final = 2000
"""Characters of a line of output that are logged."""

LAUNCHER: Final = str(Path(__file__).with_name("launcher.py"))
OUTPUT_SECONDS: Final = 1.0

ProcessPhase = Literal["stopped", "starting", "up", "waiting"]


class ProcessOutput:
    """Passes the output of a process to the log, line by line; `last` is the last line.

    The pipe is our own: with asyncio's pipe a process counts as ended only when its output is
    closed, and its remaining processes may hold the output open for long.
    """

    def __init__(self, name: str) -> None:
        self.last = ""
        self._name = name
        self._lines = asyncio.StreamReader()
        self._writing: int | None = None
        self._transport: asyncio.ReadTransport | None = None

    async def open(self) -> int:
        """Make the pipe and return the end to write to."""
        reading, self._writing = os.pipe()
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._lines), os.fdopen(reading, "rb", 0)
        )
        return self._writing

    def hand_over(self) -> None:
        """Close our copy of the end to write to, which the process has now."""
        if self._writing is not None:
            os.close(self._writing)
            self._writing = None

    async def read(self) -> None:
        """Log the output until the pipe ends."""
        while True:
            try:
                line = await self._lines.readline()
            except ValueError:
                line = b"(a line too long to show)"
            if not line:
                return
            text = line.decode(errors="replace").rstrip()[:MAX_LINE]
            log.info("%s: %s", self._name, text)
            self.last = text or self.last

    def close(self) -> None:
        """Stop reading; nothing more is passed on."""
        self.hand_over()
        if self._transport is not None:
            self._transport.close()


class ProcessCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command to run, in which `{port}` and `{python}` are filled in.

    The process finds its port in the environment too, as PORT. Without `health` it is up when it
    accepts connections.
    """

    expected: ClassVar[str] = "a process ({run: ...})"

    run: Annotated[
        str | Annotated[Sequence[str], Meta(min_length=1)],
        about(
            "The command: a line, or a list of words; `{port}` and `{python}` are filled in.",
            what="a command: a line, or a list of words",
            item="a word of a command",
        ),
    ]
    port: Annotated[
        Annotated[int, Meta(ge=0, le=65_535)] | None,
        about("The port; by default, or for 0, a free port.", what="a port"),
    ] = None
    health: Annotated[
        Annotated[str, Meta(pattern=r"/\S*")] | None,
        about(
            "The path that answers 2xx once the process is ready.", what="a path that starts with /"
        ),
    ] = None


class ProcessState(msgspec.Struct, frozen=True):
    """The state of one process; `waiting` is the time before a restart in seconds, `last_end` the
    reason.
    """

    name: str
    url: str
    state: ProcessPhase
    pid: int | None
    restarts: int
    last_end: str | None


class Supervisor:
    """The processes of an assistant: each on a loopback port, restarted when it ends.

    `folder`: the working directory. `start_timeout`: seconds until a process has to be up, else it
    is restarted. `backoff`: the first and the longest wait before a restart, doubling in between
    and starting over after `steady` seconds of life. `grace`: seconds between asking a process to
    end and ending it.
    """

    def __init__(
        self,
        commands: Mapping[str, ProcessCommand],
        *,
        folder: str | os.PathLike[str] | None = None,
        start_timeout: float = 30.0,
        backoff: tuple[float, float] = (0.5, 30.0),
        steady: float = 60.0,
        grace: float = 5.0,
    ) -> None:
        self._folder = folder
        self._start_timeout = start_timeout
        self._backoff = backoff
        self._steady = steady
        self._grace = grace
        ports = _free_ports(sum(not command.port for command in commands.values()))
        self._processes = {
            name: _SupervisedProcess(name, command, command.port or ports.pop())
            for name, command in commands.items()
        }
        self._tasks = BackgroundTasks("process")

    def url(self, name: str) -> str:
        """Return the address of a process, `http://127.0.0.1:PORT`, the same for all its lives."""
        if name not in self._processes:
            known = ", ".join(self._processes) or "none"
            raise ConfigError(f"there is no process {name!r} (there is {known})")
        return self._processes[name].url

    def states(self) -> list[ProcessState]:
        """Return the states of the processes, in declared order."""
        return [process.snapshot() for process in self._processes.values()]

    async def start(self) -> None:
        """Start all and wait until each is up, or has failed once; failures are logged."""
        for process in self._processes.values():
            process.tried.clear()
            self._tasks.start(self._supervise(process))
        await asyncio.gather(*(process.tried.wait() for process in self._processes.values()))

    async def wait_for_phase(self, name: str, state: ProcessPhase) -> None:
        """Wait until the process is in this phase."""
        process = self._processes[name]
        while process.state != state:
            await process.changed.wait()

    async def aclose(self) -> None:
        """End all and wait until they are gone."""
        await self._tasks.aclose()

    async def _supervise(self, process: _SupervisedProcess) -> None:
        loop = asyncio.get_running_loop()
        first, longest = self._backoff
        wait = first
        try:
            while True:
                born = loop.time()
                process.last_end = await self._run_once(process)
                process.tried.set()
                if loop.time() - born > self._steady:
                    wait = first
                log.warning("process %s %s; again in %g s", process.name, process.last_end, wait)
                process.set_phase("waiting")
                await asyncio.sleep(wait)
                wait = min(2 * wait, longest)
                process.restarts += 1
        finally:
            process.set_phase("stopped")
            process.tried.set()

    async def _run_once(self, process: _SupervisedProcess) -> str:
        """Start the process, wait until it is up, then until it ends; return the reason of its
        end.
        """
        process.set_phase("starting")
        if await _answers(process.port, None):
            return f"cannot start: another process listens on port {process.port}"
        output = ProcessOutput(process.name)
        try:
            launched = await self._launch(process, await output.open())
            output.hand_over()
            return await self._watch(process, launched, output)
        except OSError as error:
            return f"cannot start: {error}"
        finally:
            output.close()

    async def _watch(
        self, process: _SupervisedProcess, launched: Process, output: ProcessOutput
    ) -> str:
        watching = BackgroundTasks(f"process {process.name}")
        reading = watching.start(output.read())
        ended = watching.start(launched.wait())
        process.pid = launched.pid
        try:
            late = not await self._comes_up(process, ended)
            if not late and not ended.done():
                log.info("process %s is up at %s", process.name, process.url)
                process.set_phase("up")
                process.tried.set()
                await asyncio.wait([ended])
        finally:
            process.pid = None
            await self._end(launched, ended)
            await asyncio.wait([reading], timeout=OUTPUT_SECONDS)
            reading.cancel()
        if late:
            return f"was not up after {self._start_timeout:g} s"
        return f"{end_of_process(ended.result())} ({output.last or 'it printed nothing'})"

    async def _launch(self, process: _SupervisedProcess, output: int) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", LAUNCHER, str(os.getpid()), *process.command_line()),
            stdin=PIPE,
            stdout=output,
            stderr=STDOUT,
            cwd=self._folder,
            env=_environment(process.port),
            start_new_session=True,
        )

    async def _comes_up(self, process: _SupervisedProcess, ended: asyncio.Task[int]) -> bool:
        """Wait until the process is up or has ended; False after the time-out."""
        try:
            async with asyncio.timeout(self._start_timeout):
                pause = 0.01
                while not ended.done() and not await _answers(process.port, process.health):
                    await asyncio.wait([ended], timeout=pause)
                    pause = min(1.5 * pause, 0.25)
        except TimeoutError:
            return False
        return True

    async def _end(self, launched: Process, ended: asyncio.Task[int]) -> None:
        """Ask the process group to end, then kill all that is left of it."""
        if not ended.done():
            _signal(launched, signal.SIGTERM)
            await asyncio.wait([ended], timeout=self._grace)
        _signal(launched, signal.SIGKILL)
        await asyncio.wait([ended])


class _SupervisedProcess:
    """One process, restarted whenever it ends."""

    def __init__(self, name: str, command: ProcessCommand, port: int) -> None:
        self.name = name
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.health = command.health
        self.state: ProcessPhase = "stopped"
        self.pid: int | None = None
        self.restarts = 0
        self.last_end: str | None = None
        self.changed = asyncio.Event()
        self.tried = asyncio.Event()
        self._run = shlex.split(command.run) if isinstance(command.run, str) else command.run
        if not self._run:
            raise ConfigError(f"the process {name!r} has no command", key=f"processes.{name}.run")

    def command_line(self) -> list[str]:
        filled = (word.replace("{python}", sys.executable) for word in self._run)
        return [word.replace("{port}", str(self.port)) for word in filled]

    def set_phase(self, state: ProcessPhase) -> None:
        self.state = state
        self.changed.set()
        self.changed = asyncio.Event()

    def snapshot(self) -> ProcessState:
        return ProcessState(self.name, self.url, self.state, self.pid, self.restarts, self.last_end)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _environment(port: int) -> dict[str, str]:
    """Return ours with the port; folders of modules stay right where it runs elsewhere."""
    environment = {**os.environ, "PORT": str(port), "PYTHONUNBUFFERED": "1"}
    if path := environment.get("PYTHONPATH"):
        entries = path.split(os.pathsep)
        environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(entry) for entry in entries)
    return environment


async def _answers(port: int, health: str | None) -> bool:
    """Return whether the port accepts connections and, if asked for, `health` answers 2xx."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    try:
        if health is None:
            return True
        writer.write(f"GET {health} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        status = (await reader.readline()).split()
        return len(status) > 1 and status[1].startswith(b"2")
    except (OSError, ValueError):
        return False
    finally:
        writer.close()


def _signal(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def end_of_process(status: int) -> str:
    """Return how a launched command ended, in words."""
    if status > 128:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(status - 128).name}"
    return f"ended with status {status}"
