"""AlmondConnector: another Almond (or Genie) as a skill, over its WebSocket of conversations.

Source: the Almond Dialog API; both generations of its wire are understood (`almond_conversation`).
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Final

from msgspec import Meta

from prolocutor.bounds import Seconds, about
from prolocutor.connectors.parts.asking import PeerQuestion, make_hypothesis, read_question
from prolocutor.connectors.parts.network_calls import each_alone
from prolocutor.connectors.parts.sockets import PING_SECONDS, SocketAddress, SocketOpener
from prolocutor.connectors.parts.url import Url
from prolocutor.contracts.connector import (
    AgentOptions,
    BearerKey,
    Confidence,
    Headers,
    Replies,
    Request,
)
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import MAX_BYTES, JsonObject, Plain, check
from prolocutor.plugins.almond.connector.conversation import AlmondConversation

CONVERSATION: Final = "/api/conversation"
CONVERSATION_KEY: Final = "almond_conversation:"
"""The bot's attribute with the conversation id that an Almond gave; its service's name is added."""

DEFAULT_CONFIDENCE: Final = 0.5
MAX_CONNECTIONS: Final = 64
IDLE_SECONDS: Final = 300.0
"""Seconds after which an idle connection may be closed."""


class AlmondConnector:
    """The way to `ws://host/api/conversation` (the path of an address without a path).

    A dialog is a conversation of the peer, named by the dialog's id (or by `?id=` of the address,
    for all dialogs), with a connection of its own. Of more than `connections` connections the
    longest idle is closed, like any connection idle for `idle` seconds; it is opened again when
    needed. All messages until `askSpecial` are one hypothesis of `confidence`; the peer's ask
    becomes our ask, and the answer goes back as a value. `key` is sent as a bearer token.
    """

    def __init__(self, options: AlmondServer, *, name: str) -> None:
        self.name = name
        address = SocketAddress(options.url, key=options.key, headers=options.headers)
        self._url = address.url
        if self._url.path in ("", "/"):
            self._url = self._url.replace_path(CONVERSATION)
        scheme = "https" if self._url.is_secure else "http"
        self._home = Url(scheme=scheme, host=self._url.host, port=self._url.port)
        self._parameters = self._url.parameters
        self._opener = SocketOpener(address, max_message=MAX_BYTES, ping=options.ping)
        self._confidence = options.confidence
        self._connections = options.connections
        self._idle = options.idle
        self._conversations: OrderedDict[str, AlmondConversation] = OrderedDict()

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Say each request in its conversation."""
        return await each_alone(self._ask, requests)

    async def aclose(self) -> None:
        """Close the connections."""
        conversations = [*self._conversations.values()]
        self._conversations.clear()
        await asyncio.gather(*(conversation.aclose() for conversation in conversations))

    async def _ask(self, request: Request) -> Plain:
        asked = read_question(request)
        if not asked.text.strip() and asked.parsed is None:
            return check([])  # of which an Almond takes no notice
        given = self._parameters.get("id") or self._parameters.get("conversationId")
        kept = asked.kept.get(CONVERSATION_KEY + self.name)
        id_ = given or (kept if isinstance(kept, str) else asked.dialog_id)
        conversation = self._conversation(given or asked.dialog_id, id_)
        said = await conversation.say(_frame(asked), request.timeout)
        found = make_hypothesis("", said.messages, said.ask, self._confidence, self._home)
        if found is None:
            return check([])
        if conversation.id not in (given, asked.dialog_id):
            found["bot_attributes"] = {CONVERSATION_KEY + self.name: conversation.id}
        return check([found])

    def _conversation(self, key: str, id_: str) -> AlmondConversation:
        """Return the conversation of a dialog, and close idle conversations."""
        now = asyncio.get_running_loop().time()
        found = self._conversations.get(key)
        if found is None:
            found = AlmondConversation(self._opener, self._url, id_)
            self._conversations[key] = found
        self._conversations.move_to_end(key)
        found.last_used = now
        for other, conversation in [*self._conversations.items()]:
            rested = now - conversation.last_used > self._idle
            if not rested and len(self._conversations) <= self._connections:
                break
            if conversation is not found and not conversation.is_busy:
                del self._conversations[other]
                conversation.close()
        return found


def _frame(asked: PeerQuestion) -> JsonObject:
    """Return a client's frame: the text, or its parsed form with the text as title."""
    if asked.parsed is None:
        return {"type": "command", "text": asked.text}
    frame: dict[str, Any] = {"type": "parsed", "json": asked.parsed}
    return {**frame, "title": asked.text} if asked.text else frame


class AlmondServer(AgentOptions, frozen=True, kw_only=True):
    """An Almond or Genie, by its WebSocket."""

    makes: ClassVar[Callable[..., Any]] = AlmondConnector

    url: Annotated[str, about("Its address.", what="a URL")]
    key: BearerKey = None
    headers: Headers = None
    confidence: Confidence = DEFAULT_CONFIDENCE
    connections: Annotated[
        Annotated[int, Meta(ge=1)],
        about(
            "The greatest number of open connections; beyond it the connection that was "
            "idle longest is closed."
        ),
    ] = MAX_CONNECTIONS
    idle: Annotated[Seconds, about("The time after which an idle connection may be closed.")] = (
        IDLE_SECONDS
    )
    ping: Annotated[Seconds, about("The time between pings; 0 for no pings.")] = PING_SECONDS

    @classmethod
    def guess(cls, call: object) -> str | None:
        """Return how the address of a conversation is written."""
        if not isinstance(call, str):
            return None
        is_one = re.match(r"genie:|wss?://[^?]*/(conversation|anonymous)/?(\?|$)", call)
        return f"almond, call: {call.removeprefix('genie:')}" if is_one else None

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Open a conversation, in which an Almond speaks first."""
        is_named = probe.path.endswith("/conversation")
        is_socket = probe.url.startswith("ws")
        url = probe.base() if is_named or is_socket else probe.base() + CONVERSATION
        url = url if is_socket else f"ws{url.removeprefix('http')}"
        quiet = f"id=probe-{new_id()}&hide_welcome=1&skip_history=1"
        frame = (await probe.greet(f"{url}?{quiet}")).json()
        if not isinstance(frame, dict) or frame.get("type") not in ("id", "askSpecial", "text"):
            return None
        return FoundService(what="an Almond", call=url, certainty=1.0 if is_named else 0.5)
