"""OpenCalls: calls that run, and those that wait for a person's answer between two turns.

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
    params_as,
    rpc_failure,
    rpc_result,
)
from prolocutor.plugins.mcp.connector.elicited import CANCELLED, Form
from prolocutor.plugins.mcp.connector.peer import refuse
from prolocutor.plugins.mcp.wire.tools import ToolResult

ANSWER_SECONDS: Final = 600.0
MAX_WAITING: Final = 1_000


class OpenCall:
    """One call of a tool, and what the server wants to know before it goes on."""

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
        """Wait for the result; None once the server asks. If it is cancelled, so is the call."""
        try:
            await self._stop
        except asyncio.CancelledError:
            await self.cancel()
            raise
        return self._task.result() if self._task.done() else None

    async def ask(self, form: Form) -> JsonObject:
        """Have the person asked; return the answer for the server."""
        self.form = form
        answer: asyncio.Future[JsonObject] = self._loop.create_future()
        self._answer = answer
        self._go_on(None)
        return await answer

    def answer(self, value: JsonObject) -> None:
        """Let the server have the answer, and be ready for its next question."""
        waiting, self._answer = self._answer, None
        self.form, self._stop = None, self._loop.create_future()
        self.keep()
        if waiting is not None and not waiting.done():
            waiting.set_result(value)
        if self._task.done():
            self._go_on(None)

    def keep(self, seconds: float | None = None) -> None:
        """Cancel the call in so many seconds; without a number, not any more."""
        if self._expiry is not None:
            self._expiry.cancel()
        later = self._loop.call_later
        self._expiry = None if seconds is None else later(seconds, self._task.cancel)

    async def cancel(self) -> None:
        """Cancel the call, and have the server told."""
        self.keep()
        self._task.cancel()
        with suppress(asyncio.CancelledError, ServiceError):
            await self._task

    def _go_on(self, _: object) -> None:
        """Wake the turn that waits for an outcome."""
        if not self._stop.done():
            self._stop.set_result(None)

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes of it."""
        return self._task.done()


class OpenCalls:
    """The calls of one connector: by their id while they run, by dialog while they wait."""

    def __init__(self) -> None:
        self._running: dict[int, OpenCall] = {}
        self._waiting: dict[str, OpenCall] = {}

    def start(self, id_: int, calling: Coroutine[Any, Any, ToolResult]) -> OpenCall:
        """Begin a call."""
        call = self._running[id_] = OpenCall(id_, calling)
        return call

    def end(self, call: OpenCall) -> None:
        """Forget a call that has ended."""
        self._running.pop(call.id, None)

    def park(self, call: OpenCall, dialog_id: str) -> None:
        """Keep a call until its dialog goes on; the oldest gives way where there are too many."""
        for key, one in list(self._waiting.items()):
            if one.has_ended or len(self._waiting) >= MAX_WAITING:
                del self._waiting[key]
                one.keep(0)
        if (before := self._waiting.pop(dialog_id, None)) is not None:
            before.keep(0)
        self._waiting[dialog_id] = call
        call.keep(ANSWER_SECONDS)

    def take(self, dialog_id: str) -> OpenCall | None:
        """Return the call that waits for an answer in this dialog."""
        call = self._waiting.pop(dialog_id, None)
        return None if call is None or call.has_ended else call

    async def asked(self, message: RpcMessage, within: int | None) -> bytes:
        """Answer a request of the server (`ServerAsks`)."""
        call = self._only() if within is None else self._running.get(within)
        if message.method != "elicitation/create" or message.id is UNSET:
            return await refuse(message)
        if call is None:
            return rpc_result(message.id, CANCELLED)
        try:
            form = Form.of(params_as(JsonObject, message))
        except RpcFault as fault:
            return rpc_failure(message.id, fault)
        except msgspec.ValidationError as error:
            return rpc_failure(message.id, RpcFault(INVALID_PARAMS, str(error)))
        return rpc_result(message.id, await call.ask(form))

    def _only(self) -> OpenCall | None:
        """Return the only call that runs; None where a server may mean another one."""
        running = [call for call in self._running.values() if call.form is None]
        return running[0] if len(running) == 1 else None

    async def aclose(self) -> None:
        """Cancel all."""
        for call in list(self._running.values()):
            await call.cancel()
        self._running.clear()
        self._waiting.clear()


def dialog_of(request: Request) -> str | None:
    """Return the dialog that a request belongs to; None where a formatter leaves it out."""
    value = request.value()
    found = value.get("dialog_id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None
