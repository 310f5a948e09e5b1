"""Responses: `POST /v1/responses`, whole or as a stream; stored ones are shown and hidden."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import HttpResponse, Visitor
from prolocutor.dialog import plain
from prolocutor.dialog.ids import parse_time
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance
from prolocutor.doors.openai.answers import Answering
from prolocutor.doors.openai.dialog_finder import (
    PREFIX,
    DialogFinder,
    FoundDialog,
    person_of,
)
from prolocutor.doors.openai.models import ChatModels
from prolocutor.doors.openai.requests import (
    CallerHeaders,
    ChatInput,
    ResponseRequest,
    chat_input,
    text_of,
)
from prolocutor.doors.openai.response_objects import (
    ResponseObject,
    ResponseWriter,
    completed,
    output_message,
)
from prolocutor.errors import NotFound
from prolocutor.web.operations import TypedRequest
from prolocutor.web.speaking import may_see

DELETED: Final = "openai-deleted"

_ID: Final = re.compile(r"resp_([0-9a-f]{32})")


class ResponsePath(CallerHeaders, frozen=True, kw_only=True):
    """The parameters of a request about a response."""

    response_id: str


class DeletedResponse(msgspec.Struct, kw_only=True):
    """A response that is not shown any more."""

    id: str
    object: Literal["response"] = "response"
    deleted: bool = True


class InputItems(msgspec.Struct, kw_only=True):
    """What was said to get a response."""

    data: Sequence[dict[str, Any]]
    first_id: str
    last_id: str
    has_more: bool = False
    object: Literal["list"] = "list"


class BegunResponse(NamedTuple):
    """A response whose turn was begun, and its user."""

    user: str
    response: ResponseObject


class Responses:
    """The endpoints of responses. The id of one is that of its reply in the store."""

    def __init__(
        self,
        assistant: Assistant,
        models: ChatModels,
        finder: DialogFinder,
        answering: Answering,
    ) -> None:
        self._assistant = assistant
        self._store = assistant.store
        self._models = models
        self._finder = finder
        self._answering = answering
        self._begun: dict[str, BegunResponse] = {}

    async def create_response(
        self, request: TypedRequest[CallerHeaders, ResponseRequest]
    ) -> HttpResponse:
        """Reply to an input."""
        body, visitor = request.body, request.visitor
        model = body.model or self._models.name
        skill = self._models.skill_of(model)
        given = chat_input(
            body.messages(),
            field="input",
            instructions=_instructions(body.instructions),
            metadata=body.metadata,
            attributes=body.attributes,
            store=body.store is not False,
        )
        found = await self._find(visitor, request.params, body, given)
        found.has_responses = True
        operator = visitor.kind == "operator"
        response = ResponseObject(
            id="",
            model=model,
            created_at=time.time(),
            status="in_progress",
            instructions=_instructions(body.instructions),
            previous_response_id=body.previous_response_id,
            conversation={"id": found.id} if body.conversation is not None else None,
            metadata=body.metadata or {},
            user=body.user,
            store=body.store is not False,
        )
        if body.stream:
            begin = partial(self._begin, found.user, response)
            return await self._answering.stream(found, given, skill, begin, operator=operator)
        answer = await self._answering.whole(found, given, skill, operator=operator)
        response.id = f"resp_{answer.details.utt_id}"
        return HttpResponse(
            plain.encode(completed(response, answer)), headers={"X-Request-Id": answer.turn_id}
        )

    async def show_response(self, request: TypedRequest[ResponsePath, None]) -> ResponseObject:
        """Return a stored response."""
        id_ = request.params.response_id
        running = self._running_response(request.visitor, id_)
        try:
            asked, reply, _ = await self._stored(request.visitor, id_)
        except NotFound:
            if running is None:
                raise
            return running
        extra = asked.attributes.get("openai", {})
        created = parse_time(reply.date_time)
        messages = reply.attributes.get("messages") or []
        text = said_as_text(reply.text, reply.attributes)
        return ResponseObject(
            id=f"resp_{reply.utt_id}",
            model=self._models.name,
            created_at=created,
            completed_at=created,
            output=[output_message(reply.utt_id, text, messages)],
            instructions=extra.get("instructions"),
            metadata=extra.get("metadata", {}),
        )

    async def delete_response(self, request: TypedRequest[ResponsePath, None]) -> DeletedResponse:
        """Show a response no more; what was said stays until the person is deleted."""
        _, reply, owner = await self._stored(request.visitor, request.params.response_id)
        await self._store.put_record(owner, DELETED + reply.utt_id, "", b"{}")
        return DeletedResponse(id=f"resp_{reply.utt_id}")

    async def list_input_items(self, request: TypedRequest[ResponsePath, None]) -> InputItems:
        """List what was said to get a response."""
        asked, _, _ = await self._stored(request.visitor, request.params.response_id)
        id_ = f"msg_{asked.utt_id}"
        content = [{"type": "input_text", "text": asked.text}]
        content += asked.attributes.get("openai", {}).get("parts", [])
        item = {
            "id": id_,
            "type": "message",
            "role": "user",
            "status": "completed",
            "content": content,
        }
        return InputItems(data=[item], first_id=id_, last_id=id_)

    async def _find(
        self,
        visitor: Visitor,
        headers: CallerHeaders,
        body: ResponseRequest,
        given: ChatInput,
    ) -> FoundDialog:
        before = body.previous_response_id
        if before is None:
            told = body.conversation_id or (body.metadata or {}).get("conversation_id")
            return await self._finder.find(
                visitor,
                headers,
                given,
                user=body.user,
                conversation=told if isinstance(told, str) else None,
            )
        _, reply, owner = await self._stored(visitor, before, "previous_response_id")
        person = person_of(visitor, body.user)
        found = None
        if person in (None, owner):
            found = await self._finder.after_response(owner, reply.utt_id, headers.idempotency_key)
            if found is not None:
                await self._finder.check_is_kept(found)
        if found is None:
            raise _unknown(before, "previous_response_id")
        return found

    def _begin(self, user: str, response: ResponseObject, turn_id: str) -> ResponseWriter:
        """Return the writer of a stream, and keep the response for as long as its turn runs."""
        for id_ in [id_ for id_ in self._begun if not self._assistant.turns.is_running(id_)]:
            del self._begun[id_]
        self._begun[turn_id] = BegunResponse(user, response)
        return ResponseWriter(response)

    def _running_response(self, visitor: Visitor, id_: str) -> ResponseObject | None:
        """Return a response whose turn runs in this process, if the visitor may see it."""
        for turn_id, one in self._begun.items():
            if one.response.id == id_ and self._assistant.turns.is_running(turn_id):
                return one.response if _may_see(visitor, one.user) else None
        return None

    async def _stored(
        self, visitor: Visitor, id_: str, field: str = "response_id"
    ) -> tuple[HumanUtterance, BotUtterance, str]:
        """Return a turn and its user; raise `NotFound` for another person's as for none.

        What was said without a user's name can be seen by its id, which cannot be guessed.
        """
        match = _ID.fullmatch(id_)
        owner = await self._store.owner_of(match[1]) if match else None
        if match is None or owner is None or not _may_see(visitor, owner):
            raise _unknown(id_, field)
        if await self._store.records(owner, DELETED + match[1]):
            raise _unknown(id_, field)
        turn = await self._store.turn(match[1])
        if len(turn) != 2:
            raise _unknown(id_, field)
        asked, reply = turn
        assert isinstance(asked, HumanUtterance)
        assert isinstance(reply, BotUtterance)
        if asked.attributes.get("openai", {}).get("store") is False:
            raise _unknown(id_, field)
        return asked, reply, owner


def _may_see(visitor: Visitor, owner: str) -> bool:
    return may_see(visitor, owner) or owner.startswith(f"{PREFIX}conversation-")


def _instructions(given: str | list[Any] | None) -> str | None:
    if isinstance(given, list):
        items = [one for one in given if isinstance(one, dict)]
        return "\n".join(text_of(one.get("content"), "instructions") for one in items)
    return given


def _unknown(id_: str, field: str) -> NotFound:
    return NotFound(f"there is no response {id_!r:.80}", field=field)
