"""ProcessConnector: a service as a Python function in a child process of its own.

For code that may never yield the interpreter, or crash it: a cancelled call kills the child, and
the next call starts another child. `parts/process_child.py` is the other end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.bounds import PositiveSeconds, about
from prolocutor.contracts.connector import AgentOptions, DeltaSink, Replies, Request, ServiceContext
from prolocutor.dialog.plain import MAX_BYTES, Plain, encode, parse
from prolocutor.errors import BadReply, ServiceError, ServiceRaised, ServiceUnreachable

START_SECONDS: Final = 60.0
KILL_SECONDS: Final = 5.0
LONGEST_LINE: Final = MAX_BYTES + 4096


class ProcessConnector:
    """The way to `module:function` in a child process, which handles calls in order.

    The child starts at the first call and imports the module; a call cancelled meanwhile does not
    stop the start, which may take `start_timeout` seconds. A call cancelled while the function
    works kills the child and all of its processes. The child ends with this process, also when this
    process is killed. The function's prints go to this process's stderr.
    """

    def __init__(
        self,
        dotted: str,
        *,
        name: str,
        batched: bool = False,
        start_timeout: float = START_SECONDS,
    ) -> None:
        self.name = name
        self._dotted = dotted
        self._batched = batched
        self._start_timeout = start_timeout
        self._turn = asyncio.Lock()
        self._child: Process | None = None
        self._tasks = BackgroundTasks("a child's start")
        self._starting: asyncio.Task[Process | ServiceError] | None = None
        self._killed: list[Process] = []

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Wait for the free child, ask it, and read an answer for each request."""
        async with self._turn:
            child = await self._ready_child()
            try:
                return await self._ask(child, requests)
            except BaseException:
                self._kill(child)
                raise

    async def aclose(self) -> None:
        """Kill the child and wait until it is gone."""
        await self._tasks.aclose()
        self._starting = None
        if self._child is not None:
            self._kill(self._child)
        with contextlib.suppress(TimeoutError):  # a process outside of the group holds its output
            async with asyncio.timeout(KILL_SECONDS):
                for child in self._killed:
                    await child.wait()
        self._killed.clear()

    async def _ask(self, child: Process, requests: Sequence[Request]) -> Replies:
        assert child.stdin is not None
        bodies = [_one_line(request) for request in requests]
        line = b"[%b]" % b",".join(bodies) if self._batched else bodies[0]
        deltas = None if self._batched else requests[0].deltas
        if deltas is not None:
            line = b"~" + line
        try:
            child.stdin.write(line + b"\n")
            await child.stdin.drain()
            return [await self._answer(child, deltas) for _ in requests]
        except (ConnectionError, EOFError):
            self._kill(child)
            raise ServiceRaised(_end(await child.wait())) from None

    async def _answer(
        self, child: Process, deltas: DeltaSink | None = None
    ) -> Plain | ServiceError:
        answer = await self._line(child)
        while answer.delta is not None:
            if deltas is not None:
                deltas.add(answer.delta, answer.confidence)
            answer = await self._line(child)
        if answer.failed is None:
            return parse(bytes(answer.reply))
        if answer.failed == "bad_reply":
            return BadReply(answer.text, path=answer.path)
        return ServiceRaised(answer.text)

    async def _line(self, child: Process) -> _ChildLine:
        assert child.stdout is not None
        try:
            line = await child.stdout.readline()
        except ValueError:
            raise BadReply(f"more than the {MAX_BYTES:,} bytes allowed") from None
        if not line:
            raise EOFError
        return _read_line(line)

    async def _ready_child(self) -> Process:
        if self._child is not None and self._child.returncode is None:
            return self._child
        if self._starting is None:
            self._starting = self._tasks.start(self._start(), awaited=True)
        started = await asyncio.shield(self._starting)
        self._starting = None
        if isinstance(started, ServiceError):
            raise started
        self._child = started
        return started

    async def _start(self) -> Process | ServiceError:
        """Start a child and wait until it has imported the function."""
        self._killed = [child for child in self._killed if child.returncode is None]
        try:
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "prolocutor.connectors.parts.process_child"),
                *(self._dotted, str(os.getpid()), "batched" if self._batched else "single"),
                stdin=PIPE,
                stdout=PIPE,
                env={**os.environ, "PYTHONPATH": _search_path()},
                limit=LONGEST_LINE,
                start_new_session=True,
            )
        except OSError as error:
            return ServiceUnreachable(f"no process for {self._dotted}: {error}", sent=False)
        try:
            async with asyncio.timeout(self._start_timeout):
                failure = await self._first_word(child)
        except TimeoutError:
            failure = ServiceUnreachable(
                f"{self._dotted} was not imported within {self._start_timeout:g} s"
            )
        except asyncio.CancelledError:
            self._kill(child)
            raise
        if failure is not None:
            self._kill(child)
            return failure
        return child

    async def _first_word(self, child: Process) -> ServiceError | None:
        try:
            word = await self._answer(child)
        except EOFError:
            self._kill(child)
            end = _end(await child.wait())
            return ServiceUnreachable(f"{self._dotted} cannot be imported: {end}", sent=False)
        except ServiceError as error:
            word = error
        if isinstance(word, ServiceError):
            return ServiceUnreachable(f"{self._dotted} cannot be imported: {word}", sent=False)
        return None

    def _kill(self, child: Process) -> None:
        """Kill the child and its processes, without waiting for their end."""
        if self._child is child:
            self._child = None
        if child.returncode is None and child not in self._killed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            self._killed.append(child)


class _ChildLine(msgspec.Struct):
    """A line of the child: words, a reply, or a failure."""

    delta: str | None = None
    confidence: float | None = None
    reply: msgspec.Raw = msgspec.Raw(b"null")
    failed: str | None = None
    text: str = ""
    path: str = "$"


_decode_line: Final[Any] = msgspec.json.Decoder(_ChildLine).decode


def _read_line(line: bytes) -> _ChildLine:
    try:
        answer: _ChildLine = _decode_line(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadReply(f"the child's line cannot be read: {error}") from None
    return answer


def _one_line(request: Request) -> bytes:
    body = request.body()
    return encode(request.value()) if b"\n" in body else body


def _search_path() -> str:
    """Let the child find modules where this process does."""
    return os.pathsep.join(entry or os.getcwd() for entry in sys.path)


def _end(status: int) -> str:
    if status >= 0:
        return f"its process ended with status {status}"
    with contextlib.suppress(ValueError):
        return f"its process was ended by {signal.Signals(-status).name}"
    return f"its process was ended by signal {-status}"


class FunctionProcess(AgentOptions, frozen=True, kw_only=True):
    """A function in a child process of its own, which is killed at its time-out."""

    main: ClassVar[str] = "function"

    function: Annotated[str, about("The function, as module:function.", what="module:function")]
    start_timeout: Annotated[
        PositiveSeconds, about("The longest time that the process may take to start.")
    ] = START_SECONDS

    def build(self, context: ServiceContext) -> ProcessConnector:
        """Make the connector; the process starts with the first request."""
        return ProcessConnector(
            self.function,
            name=context.name,
            batched=context.batched,
            start_timeout=self.start_timeout,
        )
