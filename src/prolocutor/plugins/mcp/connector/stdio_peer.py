"""StdioPeer: an MCP server that is a program, over its stdin and stdout."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final

from msgspec import UNSET, Raw

from prolocutor.background import BackgroundTasks
from prolocutor.errors import BadReply, ServiceError, ServiceUnreachable
from prolocutor.json_rpc import (
    RpcFault,
    RpcMessage,
    read_batch,
    read_message,
    rpc_notification,
    rpc_request,
)
from prolocutor.plugins.mcp.connector.http_peer import MAX_RESULT
from prolocutor.plugins.mcp.connector.peer import NO_HEADERS, ServerAsks, read_result
from prolocutor.processes.line_process import LineProcess

log = logging.getLogger(__name__)

_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,15})')


class StdioPeer:
    """An MCP server that is a program: a message a line in both directions, many calls at a time.

    The first call starts it, as does the first call after its end. Lines that are not messages are
    logged and skipped; a line of more than 4 MB ends the program.
    """

    has_headers: ClassVar = False

    def __init__(
        self,
        run: str | Sequence[str],
        *,
        name: str,
        folder: str | os.PathLike[str] | None,
        environment: Mapping[str, str],
        asks: ServerAsks,
        tools_changed: Callable[[], None],
    ) -> None:
        self.version = ""
        self._name = name
        self._asks = asks
        self._tools_changed = tools_changed
        self._calls: dict[int, asyncio.Future[RpcMessage]] = {}
        self._tasks = BackgroundTasks(name)
        self._is_new = True
        self._program = LineProcess(
            run,
            name=name,
            take=self._take,
            lost=self._lose,
            folder=folder,
            environment=environment,
            max_line=MAX_RESULT,
        )

    async def open(self, patience: float) -> bool:
        """Start the program unless it runs; return whether it is a new process."""
        await self._program.start(patience)
        is_new, self._is_new = self._is_new, False
        if is_new:
            self.version = ""
        return is_new

    async def request(
        self, id_: int, method: str, params: Any, headers: Mapping[str, str] = NO_HEADERS
    ) -> Raw:
        """Write a request; wait for the line with its result."""
        del headers
        answer = asyncio.get_running_loop().create_future()
        self._calls[id_] = answer
        try:
            self._program.write(rpc_request(id_, method, params))
            await self._program.drain()
            return read_result(await answer)
        except asyncio.CancelledError:
            if method != "initialize":
                await self.notify("notifications/cancelled", {"requestId": id_})
            raise
        finally:
            del self._calls[id_]

    async def notify(self, method: str, params: Any) -> None:
        """Write a notification."""
        with suppress(ServiceError):
            self._program.write(rpc_notification(method, params))

    async def renew(self) -> None:
        """End the program; the next call starts it again."""
        self.version = ""
        await self._program.aclose()

    async def aclose(self) -> None:
        """End the program."""
        await self._tasks.aclose()
        await self._program.aclose()

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            for one in read_batch(line) or (Raw(line),):
                self._read(read_message(one))
        except RpcFault as fault:
            log.warning("%s: passed over a line that is not a message: %s", self._name, fault)
            call = self._calls.get(int(named[1])) if (named := _ID.search(line)) else None
            if call is not None and not call.done():
                call.set_exception(BadReply(f"a line that is not a message: {fault}"))

    def _read(self, message: RpcMessage) -> None:
        if message.is_request:
            self._tasks.start(self._answer_message(message))
        elif message.method == "notifications/tools/list_changed":
            self._tools_changed()
        elif message.method is UNSET and isinstance(message.id, int):
            call = self._calls.get(message.id)
            if call is not None and not call.done():
                call.set_result(message)

    async def _answer_message(self, message: RpcMessage) -> None:
        answer = await self._asks(message, None)
        with suppress(ServiceError):
            self._program.write(answer)

    def _lose(self, how: ServiceUnreachable) -> None:
        """Fail the waiting calls after the end of the program."""
        self._is_new = True
        if not self._program.is_closing:
            log.warning("%s: %s", self._name, how)
        for call in self._calls.values():
            if not call.done():
                call.set_exception(how)
