"""Parlai: the door for clients of ParlAI's websocket chat service, at `/websocket`.

Source: ParlAI 1.7.2, `parlai/chat_service/services/websocket`. The client sends `{"text",
"payload"?}` and gets `{"text", "quick_replies"}`. Better than there: the first message is answered
as well, each person has a dialog of their own, and an error does not end the session.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import WebSocketRoute
from prolocutor.contracts.http import Visitor, WebSocket
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.rendering import said_as_text
from prolocutor.errors import BadInput
from prolocutor.web.door_context import DoorContext, DoorPersons
from prolocutor.web.error_table import error_response
from prolocutor.web.operations import JsonReader

EXIT: Final = "EXIT"
ENDINGS: Final = {
    "[DONE]": "The dialog is over. What you say next begins a new one.",
    "[RESET]": "All that was said is left aside; we begin anew.",
    EXIT: "Goodbye.",
}
"""The texts that end a dialog, by the conventions of ParlAI's chatbot worlds, and the replies."""

_NO_TEXT: Final = "text is needed, as a text"
_NAMES: Final = DoorPersons("", unnamed=None)
_SESSION: Final = re.compile(r"session-[0-9a-f]{32}")
_BUTTONS: Final = ("button", "choice")


class ParlaiMessage(msgspec.Struct, frozen=True):
    """A client's message; without a text it needs a payload, which becomes an attribute."""

    text: Annotated[str | None, Meta(extra={"error": _NO_TEXT})] = None
    payload: Any = None


class ParlaiReply(msgspec.Struct, frozen=True):
    """A message to the client; an error has `error`, `code` and `field` too."""

    text: str
    quick_replies: list[str] | None = None
    user: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    field: str | UnsetType | None = UNSET


class ParlaiDoor(msgspec.Struct, frozen=True, kw_only=True):
    """ParlAI's websocket chat service at `/websocket`."""

    def build(self, context: DoorContext) -> Parlai:
        """Return the door."""
        return Parlai(context.assistant)


class Parlai:
    """The door compatible with ParlAI's websocket chat service.

    The owner of a token is that person and goes on with their dialog. An operator is a new user
    with each socket, or the user named by `/websocket?user=NAME`. An anonymous visitor is a new
    user too, and goes on later by the name in `user` of a reply, which cannot be guessed.
    """

    name: Final = "parlai"
    prefix: Final = "parlai:"

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.routes = [
            WebSocketRoute("/websocket", self.chat, receives=ParlaiMessage, sends=ParlaiReply)
        ]

    async def chat(self, socket: WebSocket) -> None:
        """Get a reply to each message; errors do not close the socket."""
        user = speaker(socket.visitor, socket.query("user"))
        async for message in socket:
            text = ""
            try:
                said = _MESSAGES.read(message)
                text = _text(said)
                answer = await self._answer(user, text, said.payload)
            except Exception as error:
                refused = error_response(error)
                answer = ParlaiReply(
                    refused.error, error=refused.error, code=refused.code, field=refused.field
                )
            socket.send(plain.encode(answer).decode())
            if text == EXIT:
                return

    async def _answer(self, user: str, text: str, payload: Any) -> ParlaiReply:
        if text in ENDINGS:
            await self._assistant.archive.close(self.prefix + user)
            return ParlaiReply(ENDINGS[text], user=user)
        attributes = {} if payload is None else {"payload": payload}
        input = TurnInput(text, self.prefix + user, attributes=attributes, channel="parlai")
        result = await self._assistant.turn(input)
        said = result.spoken
        text = said_as_text(said.text, said.attributes, without=_BUTTONS)
        return ParlaiReply(text, quick_replies(said.attributes), user)


def speaker(visitor: Visitor, given: str | None) -> str:
    """Return the user of a socket; raise `Forbidden` for another user than the visitor may be."""
    if visitor.kind == "anonymous" and given is not None and _SESSION.fullmatch(given):
        return given
    return _NAMES.find(visitor, given) or f"session-{new_id()}"


def quick_replies(attributes: dict[str, Any]) -> list[str] | None:
    """Return the titles of a reply's buttons and choices; None if it has neither."""
    messages = attributes.get("messages")
    titles = [
        one["title"]
        for one in (messages if isinstance(messages, list) else ())
        if isinstance(one, dict)
        and one.get("type") in _BUTTONS
        and isinstance(one.get("title"), str)
    ]
    return titles or None


def _text(said: ParlaiMessage) -> str:
    if said.text is None and said.payload is None:
        raise BadInput(_NO_TEXT, field="text")
    return said.text or ""


_MESSAGES: Final = JsonReader(ParlaiMessage)
