"""The door for other commands of the same user: whole turns, ratings and deletion, operators only.

`prolocutor serve` has its store to itself; `ask`, `chat` and `dialogs` come in here meanwhile.
Everything is a POST of a JSON object: `/owner/turn {user, text}`, `/owner/close {user}`,
`/owner/rate {id, rating}`, `/owner/delete {user} or {before}`. Users are named in full, with the
prefix of the door that they came in by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.store_access import rate
from prolocutor.cli.turn_output import turn_output
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.errors import BadInput
from prolocutor.web.requests import json_object, json_response

TURN: Final = "/owner/turn"
CLOSE: Final = "/owner/close"
RATE: Final = "/owner/rate"
DELETE: Final = "/owner/delete"


class OwnerChannel:
    """The routes by which other commands use the store through its owner."""

    name: Final = "owner"
    prefix: Final = "owner:"

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.routes: Sequence[Route] = [
            Route("POST", TURN, self._turn, "operators"),
            Route("POST", CLOSE, self._close, "operators"),
            Route("POST", RATE, self._rate, "operators"),
            Route("POST", DELETE, self._delete, "operators"),
        ]

    async def open(self) -> None:
        """Need nothing."""

    async def close(self) -> None:
        """Hold nothing."""

    async def _turn(self, request: HttpRequest) -> HttpResponse:
        body = await json_object(request)
        text = _text(body, "text")
        result = await self._assistant.turn(text, user=_text(body, "user"), channel="cmd_client")
        return json_response(turn_output(text, result))

    async def _close(self, request: HttpRequest) -> HttpResponse:
        user = _text(await json_object(request), "user")
        return json_response({"dialog_id": await self._assistant.close_dialog(user)})

    async def _rate(self, request: HttpRequest) -> HttpResponse:
        body = await json_object(request)
        assistant = self._assistant
        what = await rate(assistant.store, _text(body, "id"), body.get("rating"), assistant)
        return json_response({"rated": what})

    async def _delete(self, request: HttpRequest) -> HttpResponse:
        body = await json_object(request)
        if "before" in body:
            number = await self._assistant.store.delete_older(_text(body, "before"))
            return json_response({"deleted": number})
        return json_response({"deleted": await self._assistant.delete_person(_text(body, "user"))})


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str):
        raise BadInput(f"expected a text as {key!r}", field=key)
    return value
