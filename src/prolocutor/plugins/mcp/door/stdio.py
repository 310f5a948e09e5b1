"""The door over standard input and output: a JSON-RPC message a line in both directions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import BinaryIO

from msgspec import UNSET, Raw

from prolocutor.assistant.assistant import Assistant
from prolocutor.background import BackgroundTasks
from prolocutor.cli.stdio_lines import StdioLines
from prolocutor.json_rpc import (
    INVALID_REQUEST,
    RpcFault,
    RpcMessage,
    read_batch,
    read_message,
    rpc_failure,
    rpc_result,
)
from prolocutor.plugins.mcp.door.client import PREFIX, McpClient, elicits
from prolocutor.plugins.mcp.door.server import McpServer, check_envelope, read_envelope, request_id
from prolocutor.plugins.mcp.door.sessions import ClientSession, SessionBack
from prolocutor.plugins.mcp.wire.protocol import HANDSHAKE_VERSIONS
from prolocutor.web.door_context import LOCAL, DoorSpeaker


class StdioDoor:
    """A client at the other end of a pair of pipes; `user` is its person."""

    def __init__(
        self,
        assistant: Assistant,
        *,
        skills: bool = False,
        user: str = LOCAL,
        starters: Sequence[str] = (),
    ) -> None:
        self._server = McpServer(assistant, skills, starters)
        self._speaker = DoorSpeaker(PREFIX + user)
        self._session = ClientSession(HANDSHAKE_VERSIONS[-1], None, elicits=False)
        self._lines = StdioLines()
        self._tasks = BackgroundTasks("MCP over stdio")

    async def serve(self, read: BinaryIO, write: BinaryIO) -> None:
        """Answer lines until the input ends, then finish the running requests."""
        await self._lines.serve(read, write, self._take, self._finish)

    async def _finish(self) -> None:
        self._session.end()
        await self._tasks.wait_until_ended()

    def _take(self, line: bytes | None) -> None:
        if line is None:
            self._lines.send(rpc_failure(None, RpcFault(INVALID_REQUEST, "the line is too long")))
            return
        try:
            for one in read_batch(line) or (Raw(line),):
                self._take_message(read_message(one))
        except RpcFault as fault:
            self._lines.send(rpc_failure(fault.id, fault))

    def _take_message(self, message: RpcMessage) -> None:
        if not message.is_request:
            self._session.take(message)
            return
        task = self._tasks.start(self._answer(message))
        if message.id is not UNSET:
            self._session.begin(message.id, task)
        task.add_done_callback(self._send_answer)

    async def _answer(self, message: RpcMessage) -> bytes:
        try:
            if message.method == "initialize" and read_envelope(message) is None:
                hello, version, result = self._server.welcome(message)
                self._session.version = version
                self._session.elicits = elicits(hello.capabilities)
                return rpc_result(request_id(message), result)
            return await self._server.respond(message, self._client(message))
        except RpcFault as fault:
            return rpc_failure(request_id(message), fault)

    def _client(self, message: RpcMessage) -> McpClient:
        session = self._session
        meta = read_envelope(message)
        back = SessionBack(session, self._lines.send)
        if meta is None:
            return McpClient(
                version=session.version, speaker=self._speaker, elicits=session.elicits, back=back
            )
        version, capabilities = check_envelope(meta)
        return McpClient(
            version=version,
            speaker=self._speaker,
            elicits=elicits(capabilities),
            back=back,
            is_stateless=True,
        )

    def _send_answer(self, task: asyncio.Task[bytes]) -> None:
        """Send an answer, but for a cancelled request."""
        if not task.cancelled():
            self._lines.send(task.result())
