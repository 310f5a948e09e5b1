"""Parlai: the door for clients of ParlAI's websocket chat service, at `/websocket`.

Source: ParlAI 1.7.2, `parlai/chat_service/services/websocket`. The client sends `{"text",
"payload"?}` and gets `{"text", "quick_replies"}`. Better than there: the first message is answered
as well, one person's dialog is not another's, an error is told and does not end the session.
"""

from __future__ import annotations

import re
from typing import Any, Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route, Visitor, WebSocket, WebSocketRoute
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.rendering import said_as_text
from prolocutor.errors import BadInput, Forbidden
from prolocutor.web.error_table import error_response
from prolocutor.web.requests import parse_object

EXIT: Final = "EXIT"
ENDINGS: Final = {
    "[DONE]": "The dialog is over. What you say next begins a new one.",
    "[RESET]": "All that was said is left aside; we begin anew.",
    EXIT: "Goodbye.",
}
"""What ends a dialog instead of being answered, by the conventions of ParlAI's chatbot worlds."""

_SESSION: Final = re.compile(r"session-[0-9a-f]{32}")
_BUTTONS: Final = ("button", "choice")


class Parlai:
    """The door compatible with ParlAI's websocket chat service.

    Who comes with a token is that person and finds the dialog of before. An operator is somebody
    new with each socket, or whom `/websocket?user=NAME` says; so is an anonymous visitor, who goes
    on later by giving the name in `user` of a reply, which nobody can guess.
    """

    name = "parlai"
    prefix = "parlai:"

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.routes: list[Route | WebSocketRoute] = [WebSocketRoute("/websocket", self._chat)]

    def openapi(self) -> dict[str, Any]:
        """Describe the HTTP routes: there are none."""
        return {"paths": {}, "components": {}}

    async def open(self) -> None:
        """Do nothing: there is nothing to get ready."""

    async def close(self) -> None:
        """Do nothing: a turn that runs is the assistant's."""

    async def _chat(self, socket: WebSocket) -> None:
        """Answer one message of a socket after the other; errors do not close it."""
        user = speaker(socket.visitor, socket.query("user"))
        async for message in socket:
            text = ""
            try:
                said = parse_object(message)
                text = _text(said)
                answer = await self._answer(user, text, said.get("payload"))
            except Exception as error:
                refused = error_response(error).body()
                answer = {"text": refused["error"], "quick_replies": None, **refused}
            socket.send(plain.encode(answer).decode())
            if text == EXIT:
                return

    async def _answer(self, user: str, text: str, payload: Any) -> dict[str, Any]:
        if text in ENDINGS:
            await self._assistant.close_dialog(self.prefix + user)
            return {"text": ENDINGS[text], "quick_replies": None, "user": user}
        attributes = {} if payload is None else {"payload": payload}
        result = await self._assistant.turn(
            text, user=self.prefix + user, attributes=attributes, channel="parlai"
        )
        state = result.state
        text = said_as_text(state, without=_BUTTONS)
        return {"text": text, "quick_replies": quick_replies(state), "user": user}


def speaker(visitor: Visitor, given: str | None) -> str:
    """Tell who speaks through a socket; `Forbidden` for one who gives himself out for another."""
    if visitor.kind == "person" and visitor.user is not None:
        if given not in (None, visitor.user):
            raise Forbidden("this token is for another user; leave it out", field="user")
        return visitor.user
    if visitor.kind == "anonymous" and given is not None and not _SESSION.fullmatch(given):
        raise Forbidden("without a token leave user out at first", field="user")
    return given or f"session-{new_id()}"


def quick_replies(state: dict[str, Any]) -> list[str] | None:
    """Return the titles of the buttons and choices that a reply offers; None if it offers none."""
    messages = state["attributes"].get("messages")
    titles = [
        one["title"]
        for one in (messages if isinstance(messages, list) else ())
        if isinstance(one, dict)
        and one.get("type") in _BUTTONS
        and isinstance(one.get("title"), str)
    ]
    return titles or None


def _text(said: dict[str, Any]) -> str:
    text = said.get("text")
    if text is None and said.get("payload") is not None:
        return ""
    if not isinstance(text, str):
        raise BadInput("text is needed, as a text", field="text")
    return text
