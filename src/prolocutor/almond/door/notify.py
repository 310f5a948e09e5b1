"""The notify API: operators send a message to a person outside of turns."""

from __future__ import annotations

from typing import Any

from prolocutor.almond.door.commands import optional_text
from prolocutor.almond.door.speakers import PREFIX
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.notification import permission_request
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.errors import BadInput
from prolocutor.web.requests import json_object, json_response


class NotifyEndpoint:
    """Sends a person a message, or an ask on behalf of a skill."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def post(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /api/notify`: 200 if delivered, 202 if it waits for a round to end."""
        body = await json_object(request)
        messages, ask = _said(body)
        said = await self._assistant.notify(
            _user(body),
            messages,
            ask=ask,
            skill=optional_text(body, "skill") or "",
            dialog=optional_text(body, "conversationId"),
            key=request.header("idempotency-key") or optional_text(body, "key"),
            context=body.get("context"),
        )
        return json_response({"queued": not said}, 200 if said else 202)


def _said(body: dict[str, Any]) -> tuple[Any, str | None]:
    """Return messages and ask; `permission` `{person, what}` stands for a question with buttons."""
    permission = body.get("permission")
    if permission is None:
        messages = body.get("messages")
        if not isinstance(messages, str | dict | list):
            raise BadInput("messages is a text, a message or a list of those", field="messages")
        return messages, optional_text(body, "ask")
    if not isinstance(permission, dict):
        raise BadInput("permission is an object, {person, what}", field="permission")
    person, what = (optional_text(permission, key) for key in ("person", "what"))
    if not person or not what:
        raise BadInput("person and what are needed, as texts", field="permission")
    return permission_request(person, what), "generic"


def _user(body: dict[str, Any]) -> str:
    user = optional_text(body, "user")
    if not user:
        raise BadInput("user is needed", field="user")
    return PREFIX + user.removeprefix(PREFIX)
