"""The notify API: operators send a message to a person outside of turns."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from prolocutor.assistant.agenda import permission_request
from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import BadInput
from prolocutor.plugins.almond.door.speakers import PREFIX
from prolocutor.web.operations import TypedRequest
from prolocutor.web.requests import json_response


class NotifyParams(msgspec.Struct, frozen=True):
    """The parameters of a notification."""

    idempotency_key: Annotated[
        str | None,
        Meta(description="The same key says the same thing once.", extra={"in": "header"}),
    ] = msgspec.field(default=None, name="Idempotency-Key")


class PermissionRequest(msgspec.Struct, frozen=True):
    """A request for permission: the person and the action."""

    person: Annotated[str, Meta(min_length=1)]
    what: Annotated[str, Meta(min_length=1)]


class AlmondNotification(msgspec.Struct, frozen=True, rename="camel"):
    """A message to a person, or an ask on behalf of a skill."""

    user: Annotated[str, Meta(min_length=1, description="A user of this door.")]
    messages: Annotated[
        str | dict[str, Any] | list[Any] | None,
        Meta(extra={"error": "messages is a text, a message or a list of those"}),
    ] = None
    permission: Annotated[
        PermissionRequest | None,
        Meta(
            description="Instead of messages: a question with buttons.",
            extra={"error": "person and what are needed, as texts"},
        ),
    ] = None
    ask: Annotated[str | None, Meta(description="What is asked for.")] = None
    skill: Annotated[str | None, Meta(description="The skill that gets the answer.")] = None
    conversation_id: Annotated[str | None, Meta(description="The dialog; `main`.")] = None
    key: Annotated[str | None, Meta(description="As the header `Idempotency-Key`.")] = None
    context: Annotated[Any, Meta(description="What the skill finds in its answer.")] = None


class NotificationStatus(msgspec.Struct, frozen=True):
    """Whether a notification waits until nothing is asked any more."""

    queued: bool


class NotifyEndpoint:
    """Sends a person a message, or an ask on behalf of a skill."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def notify(self, request: TypedRequest[NotifyParams, AlmondNotification]) -> HttpResponse:
        """Send a person a message, now or when nothing is asked any more (operators)."""
        body = request.body
        messages, ask = _read_notification(body)
        said = await self._assistant.notify(
            PREFIX + body.user.removeprefix(PREFIX),
            messages,
            ask=ask,
            skill=body.skill or "",
            dialog=body.conversation_id,
            key=request.params.idempotency_key or body.key,
            context=body.context,
        )
        return json_response(NotificationStatus(queued=not said), 200 if said else 202)


def _read_notification(body: AlmondNotification) -> tuple[Any, str | None]:
    """Return messages and ask; a permission becomes a question with buttons."""
    if body.permission is not None:
        return permission_request(body.permission.person, body.permission.what), "generic"
    if body.messages is None:
        raise BadInput("messages is a text, a message or a list of those", field="messages")
    return body.messages, body.ask
