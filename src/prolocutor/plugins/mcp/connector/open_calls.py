"""OpenCalls: running calls, and calls that wait for a person's answer between two turns.

Up to 2025-11-25 a server asks while the call runs, so the call is kept open until the next turn of
the same dialog brings the answer, `ANSWER_SECONDS` at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import UNSET

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.connector import Request
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ServiceError
from prolocutor.json_rpc import (
    INVALID_PARAMS,
    RpcFault,
    RpcMessage,
    read_params,
    rpc_failure,
    rpc_result,
)
from prolocutor.plugins.mcp.connector.elicited import CANCELLED, Form
from prolocutor.plugins.mcp.connector.peer import refuse
from prolocutor.plugins.mcp.wire.tools import ToolResult

ANSWER_SECONDS: Final = 600.0
MAX_WAITING: Final = 1_000


class OpenCall:
    """A call of a tool, and the server's question that holds it up."""

    def __init__(self, id_: int, calling: Coroutine[Any, Any, ToolResult]) -> None:
        self.id = id_
        self.form: Form | None = None
        self._loop = asyncio.get_running_loop()
        self._task = BackgroundTasks("call of a tool").start(calling, awaited=True)
        self._task.add_done_callback(self._go_on)
        self._stop: asyncio.Future[None] = self._loop.create_future()
        self._answer: asyncio.Future[JsonObject] | None = None
        self._expiry: asyncio.TimerHandle | None = None

    async def outcome(self) -> ToolResult | None:
        """Wait for the result; return None when the server asks. Cancelling cancels the call."""
        try:
            await self._stop
        except asyncio.CancelledError:
            await self.cancel()
            raise
        return self._task.result() if self._task.done() else None

    async def ask(self, form: Form) -> JsonObject:
        """Ask the person; return the answer for the server."""
        self.form = form
        answer: asyncio.Future[JsonObject] = self._loop.create_future()
        self._answer = answer
        self._go_on(None)
        return await answer

    def answer(self, value: JsonObject) -> None:
        """Send the answer to the server; the call may ask again."""
        waiting, self._answer = self._answer, None
        self.form, self._stop = None, self._loop.create_future()
        self.keep()
        if waiting is not None and not waiting.done():
            waiting.set_result(value)
        if self._task.done():
            self._go_on(None)

    def keep(self, seconds: float | None = None) -> None:
        """Schedule the cancellation of the call in `seconds`; None removes the schedule."""
        if self._expiry is not None:
            self._expiry.cancel()
        later = self._loop.call_later
        self._expiry = None if seconds is None else later(seconds, self._task.cancel)

    async def cancel(self) -> None:
        """Cancel the call and tell the server."""
        self.keep()
        self._task.cancel()
        with suppress(asyncio.CancelledError, ServiceError):
            await self._task

    def _go_on(self, _: object) -> None:
        """Wake the turn that waits for the call's outcome."""
        if not self._stop.done():
            self._stop.set_result(None)

    @property
    def has_ended(self) -> bool:
        """Whether the call is over."""
        return self._task.done()


class OpenCalls:
    """The calls of a connector: by id while they run, by dialog while they wait."""

    def __init__(self) -> None:
        self._running: dict[int, OpenCall] = {}
        self._waiting: dict[str, OpenCall] = {}

    def start(self, id_: int, calling: Coroutine[Any, Any, ToolResult]) -> OpenCall:
        """Begin a call."""
        call = self._running[id_] = OpenCall(id_, calling)
        return call

    def end(self, call: OpenCall) -> None:
        """Remove a call that has ended."""
        self._running.pop(call.id, None)

    def park(self, call: OpenCall, dialog_id: str) -> None:
        """Keep a call until its dialog continues; cancel the oldest call if there are too many."""
        for key, one in list(self._waiting.items()):
            if one.has_ended or len(self._waiting) >= MAX_WAITING:
                del self._waiting[key]
                one.keep(0)
        if (before := self._waiting.pop(dialog_id, None)) is not None:
            before.keep(0)
        self._waiting[dialog_id] = call
        call.keep(ANSWER_SECONDS)

    def take(self, dialog_id: str) -> OpenCall | None:
        """Remove and return the call that waits for an answer in a dialog."""
        call = self._waiting.pop(dialog_id, None)
        return None if call is None or call.has_ended else call

    async def answer_server(self, message: RpcMessage, within: int | None) -> bytes:
        """Answer a request of the server (contract `ServerAsks`)."""
        call = self._only() if within is None else self._running.get(within)
        if message.method != "elicitation/create" or message.id is UNSET:
            return await refuse(message)
        if call is None:
            return rpc_result(message.id, CANCELLED)
        try:
            form = Form.read_form(read_params(JsonObject, message))
        except RpcFault as fault:
            return rpc_failure(message.id, fault)
        except msgspec.ValidationError as error:
            return rpc_failure(message.id, RpcFault(INVALID_PARAMS, str(error)))
        return rpc_result(message.id, await call.ask(form))

    def _only(self) -> OpenCall | None:
        """Return the running call; None if several run and the server's request is ambiguous."""
        running = [call for call in self._running.values() if call.form is None]
        return running[0] if len(running) == 1 else None

    async def aclose(self) -> None:
        """Cancel all calls."""
        for call in list(self._running.values()):
            await call.cancel()
        self._running.clear()
        self._waiting.clear()


def request_dialog(request: Request) -> str | None:
    """Return the id of a request's dialog; None if a formatter left it out."""
    value = request.value()
    found = value.get("dialog_id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None
