"""ParlaiChatConnector: a bot behind ParlAI's websocket chat service as a skill.

Source: ParlAI 1.7.2, `parlai/chat_service/services/websocket`. The client sends `{"text"}` and gets
`{"text", "quick_replies"}`. A session is a socket and lost with it, so each dialog has its own.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Final
from urllib.parse import urldefrag

import msgspec
from msgspec import Meta
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from prolocutor.bounds import Seconds, about
from prolocutor.connectors.parts.network_calls import each_alone
from prolocutor.connectors.parts.sockets import (
    SocketAddress,
    SocketOpener,
    closing_error,
    is_open,
)
from prolocutor.contracts.connector import AgentOptions, Confidence, Replies, Request
from prolocutor.dialog.plain import MAX_BYTES, Plain, check, encode
from prolocutor.errors import BadReply, ServiceError, ServiceLate

CONFIDENCE: Final = 0.5
QUIET: Final = 0.7
"""Seconds of silence after which the service has said all: its worlds look around every 0.5 s."""


class ParlaiChatConnector:
    """The way to a chat service: `ws://host:35496/websocket#begin,begin`.

    The messages behind `#`, separated by commas, are sent first in every session, to get through
    the overworld and the onboarding of the service; each is sent once the service is silent. The
    service's overworld ignores the first message, so leave out messages behind `#` only for a
    service without an overworld. The sessions of the latest `max_dialogs` dialogs stay open; a
    session that the service closed is opened again, without memory. The reply is the first text
    received after the utterance was sent; further texts are ignored.
    """

    def __init__(self, options: ParlaiChat, *, name: str) -> None:
        address, fragment = urldefrag(str(options.url))
        self.name = name
        self._opener = SocketOpener(SocketAddress(address), max_message=MAX_BYTES, ping=0)
        self._shown = self._opener.address.shown
        self._opening = [text for text in fragment.split(",") if text]
        self._most = options.max_dialogs
        self._confidence = options.confidence
        self._quiet = options.quiet
        self._sessions: OrderedDict[str, _ChatSession] = OrderedDict()

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Send the last utterance of each dialog and return the replies."""
        return await each_alone(self._ask, requests)

    async def aclose(self) -> None:
        """Close all sessions."""
        sessions, self._sessions = self._sessions, OrderedDict()
        for session in sessions.values():
            await session.aclose()

    async def _ask(self, request: Request) -> Plain:
        dialog, text = _last_text(request.value())
        session = self._sessions.pop(dialog, None)
        if session is not None and await session.is_lost():
            await session.aclose()
            session = None
        fresh = session is None
        session = session or _ChatSession(self._opener)
        try:
            async with asyncio.timeout(request.timeout):
                if fresh:
                    await session.open(self._opening, self._quiet)
                reply = await session.answer(text)
        except TimeoutError:
            await session.aclose()
            waited = f"for {request.timeout:g} s after {session.sent!r:.80}"
            raise ServiceLate(f"{self._shown} said nothing {waited}") from None
        except BaseException:
            await session.aclose()
            raise
        await self._keep(dialog, session)
        return check([{"text": reply, "confidence": self._confidence}] if reply else [])

    async def _keep(self, dialog: str, session: _ChatSession) -> None:
        lost = self._sessions.pop(dialog, None)
        self._sessions[dialog] = session
        if lost is None and len(self._sessions) > self._most:
            _, lost = self._sessions.popitem(last=False)
        if lost is not None:
            await lost.aclose()


class _ChatSession:
    """A socket to the service."""

    def __init__(self, opener: SocketOpener) -> None:
        self._opener = opener
        self._shown = opener.address.shown
        self._socket: ClientConnection | None = None
        self.sent = ""
        """The last text that was sent."""

    async def open(self, opening: Sequence[str], quiet: float) -> None:
        """Connect, and send the opening messages."""
        self._socket = await self._opener.open()
        for text in opening:
            await self.answer(text)
            await self._skip(quiet)

    async def answer(self, text: str) -> str:
        """Send a text and return the first text received after it; raise `ServiceError` if the
        socket closes.
        """
        assert self._socket is not None
        self.sent = text
        try:
            await self._socket.send(encode({"text": text}).decode())
        except ConnectionClosed:
            raise closing_error(self._socket, self._shown) from None
        return await self._receive()

    async def is_lost(self) -> bool:
        """Skip unasked texts, and return whether the service has closed the session."""
        try:
            await self._skip(0)
        except ServiceError:
            return True
        return self._socket is None or not is_open(self._socket)

    async def aclose(self) -> None:
        """Close the connection without waiting for the service."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def _skip(self, quiet: float) -> None:
        """Skip texts until the service is silent for `quiet` seconds; 0: only received texts."""
        with suppress(TimeoutError):
            while True:
                async with asyncio.timeout(quiet):
                    await self._receive()

    async def _receive(self) -> str:
        assert self._socket is not None
        try:
            message = await self._socket.recv(decode=False)
        except ConnectionClosed:
            raise closing_error(self._socket, self._shown) from None
        try:
            text = msgspec.json.decode(message)["text"]
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise BadReply(f"a message of a chat service has a text ({error!r})") from None
        if not isinstance(text, str):
            raise BadReply("a message of a chat service has a text")
        return text


def _last_text(state: Any) -> tuple[str, str]:
    """Return the id of the dialog and its last text, out of the agent state."""
    try:
        dialog, text = state["dialog_id"], state["utterances"][-1]["text"]
    except (KeyError, TypeError, IndexError) as error:
        raise BadReply(f"a bot needs the agent state, without a formatter ({error!r})") from None
    if not isinstance(dialog, str) or not isinstance(text, str):
        raise BadReply("a bot needs the agent state, without a formatter")
    return dialog, text


class ParlaiChat(AgentOptions, frozen=True, kw_only=True):
    """A chat service of ParlAI."""

    makes: ClassVar[Callable[..., Any]] = ParlaiChatConnector

    url: Annotated[str, about("Its address, ws://host:port/websocket.", what="a URL")]
    max_dialogs: Annotated[
        Annotated[int, Meta(ge=1)],
        about("The greatest number of dialogs with a connection of their own."),
    ] = 100
    confidence: Confidence = CONFIDENCE
    quiet: Annotated[Seconds, about("The silence after which an answer is complete.")] = QUIET
