"""CommandConnector: a service that is a program in any language, asked in lines of JSON.

Each request is a line on its standard input (the native body), each reply a line on its standard
output, in the same order. Words of an unfinished reply may come before it, each as `{"delta":
TEXT}`; `{"error": TEXT}` in place of a reply is a failure.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Final

from msgspec import Meta

from prolocutor.bounds import Seconds, about
from prolocutor.contracts.connector import AgentOptions, Replies, Request
from prolocutor.dialog.plain import MAX_BYTES
from prolocutor.errors import ServiceError, ServiceUnreachable
from prolocutor.plugins.lines.line_calls import LineCall, LineCalls, is_late, write_line
from prolocutor.processes.line_process import LineProcess

log = logging.getLogger(__name__)

MAX_COPIES: Final = 64
MAX_LINE: Final = MAX_BYTES + 4096

_NAMED: Final = re.compile(r"(stdio|cmd|command|exec|run|shell):(?!//)")
_PROGRAM: Final = re.compile(r"(\.{0,2}/\S*|(node|python3?|bash|sh|go|ruby|perl|deno|bun) )")


class CommandConnector:
    """The way to a program, which keeps running between calls.

    It is started by the first call, and again when it has ended, with growing pauses. A call that
    times out ends the program, so that a late answer is never taken for another call's. A call
    cancelled before its time-out leaves the program to finish it. Its stderr goes to the log. It
    ends with this process.
    """

    def __init__(self, options: Command, *, name: str) -> None:
        self.name = name
        self._idle = [_Copy(options, name) for _ in range(options.copies)]
        self._copies = tuple(self._idle)
        self._free = asyncio.Semaphore(options.copies)

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Wait for the program to be free, write the requests and read the replies."""
        until = asyncio.get_running_loop().time() + requests[0].timeout
        async with self._free:
            copy = next((one for one in reversed(self._idle) if not one.is_busy), self._idle[-1])
            self._idle.remove(copy)
            try:
                return await copy.ask(requests, until)
            finally:
                self._idle.append(copy)

    async def aclose(self) -> None:
        """End the program."""
        await asyncio.gather(*(copy.aclose() for copy in self._copies))


class _Copy:
    """A process of the program, and its open calls."""

    def __init__(self, options: Command, name: str) -> None:
        self._name = name
        self._start_timeout = options.start_timeout
        self._patient_until: float | None = None
        self._calls = LineCalls()
        self._was_asked = False
        self._program = LineProcess(
            options.run,
            name=name,
            take=self._take,
            lost=self._lose,
            folder=options.folder,
            environment=options.environment or {},
            max_line=MAX_LINE,
        )

    @property
    def is_busy(self) -> bool:
        """Whether the answer to an abandoned call is still to come."""
        return len(self._calls) > 0

    async def ask(self, requests: Sequence[Request], until: float) -> Replies:
        """Write the requests and wait for the replies; `until`: the time at which they are late."""
        loop = asyncio.get_running_loop()
        timeout = requests[0].timeout
        await self._calls.idle()
        await self._program.start(max(0.0, until - loop.time()))
        if self._patient_until is None:
            self._patient_until = loop.time() + self._start_timeout
        calls: list[LineCall] = []
        try:
            for request in requests:
                self._program.write(write_line(request))
                calls.append(self._calls.add(request.deltas))
                self._was_asked = True
            await self._program.drain()
            return [await call.answer for call in calls]
        except asyncio.CancelledError:
            self._leave(calls, max(until, self._patient_until or 0.0), timeout)
            raise
        except ServiceError:
            self._program.kill("broke off")  # of several requests, some are written
            raise

    async def aclose(self) -> None:
        """End the process."""
        await self._program.aclose()

    def _leave(self, calls: list[LineCall], until: float, timeout: float) -> None:
        """Let the program finish abandoned calls until they are late; then end it."""
        for call in calls:
            call.answer.cancel()

        def end() -> None:
            if any(not call.is_settled for call in calls):
                self._program.kill("did not answer in time, and was ended")

        loop = asyncio.get_running_loop()
        if is_late(until, timeout):
            end()
        else:
            loop.call_at(until, end)

    def _take(self, line: bytes) -> None:
        if not (line := line.strip()):
            return
        if not self._was_asked:
            log.warning("%s: passed over a line before the first request", self._name)
            return
        self._patient_until = 0.0
        if (wrong := self._calls.take(line)) is not None:
            log.warning("%s: the program %s, and is ended", self._name, wrong)
            self._program.kill(wrong)

    def _lose(self, how: ServiceUnreachable) -> None:
        self._was_asked, self._patient_until = False, None
        if not self._program.is_closing:
            log.warning("%s: %s", self._name, how)
        self._calls.fail(how)


class Command(AgentOptions, frozen=True, kw_only=True):
    """A program that answers lines of JSON."""

    main: ClassVar[str] = "run"
    makes: ClassVar[Callable[..., Any]] = CommandConnector

    run: Annotated[
        str | Annotated[Sequence[str], Meta(min_length=1)],
        about(
            "The program and its arguments; `{python}` stands for the Python of the assistant.",
            what="a command: a line, or a list of words",
        ),
    ]
    environment: Annotated[
        dict[str, str] | None,
        about("Variables of the program, beside those of the assistant."),
    ] = None
    copies: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_COPIES)],
        about(
            "The number of processes of the program; a process is asked one request at "
            "a time, further requests wait."
        ),
    ] = 1
    start_timeout: Annotated[
        Seconds,
        about(
            "The longest time until the first answer of a new process, for programs "
            "that load much; after it the process is killed."
        ),
    ] = 0.0

    folder: Annotated[
        str | os.PathLike[str] | None, about("The folder in which the program runs.", hidden=True)
    ] = None

    @classmethod
    def guess(cls, call: object) -> str | None:
        """Return how a line for a shell is written."""
        if not isinstance(call, str):
            is_run = isinstance(call, list) or (isinstance(call, dict) and "run" in call)
            return "command (or mcp)" if is_run else None
        named = _NAMED.match(call)
        line = call[named.end() :] if named else call
        return f"command, call: {{run: {line!r}}}" if named or _PROGRAM.match(call) else None
