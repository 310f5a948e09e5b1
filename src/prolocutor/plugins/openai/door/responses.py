"""Responses: `POST /v1/responses`, whole or as a stream; stored responses are shown and hidden."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import HttpResponse, Visitor
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance
from prolocutor.dialog.ids import parse_time
from prolocutor.dialog.rendering import said_as_text
from prolocutor.errors import NotFound
from prolocutor.plugins.openai.door.answers import AnswerDetails, Answering, ChatAnswer
from prolocutor.plugins.openai.door.dialog_finder import (
    PREFIX,
    DialogFinder,
    FoundDialog,
    find_person,
)
from prolocutor.plugins.openai.door.models import ChatModels, error_object
from prolocutor.plugins.openai.door.requests import (
    CallerHeaders,
    ChatInput,
    ResponseRequest,
    chat_input,
    message_text,
)
from prolocutor.plugins.openai.door.tool_rounds import ToolRounds
from prolocutor.web.door_context import may_see
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import server_event
from prolocutor.web.operations import TypedRequest

DELETED: Final = "openai-deleted"

_ID: Final = re.compile(r"resp_([0-9a-f]{32})")


class ResponseText(msgspec.Struct, kw_only=True):
    """The text of an output message; links in it are cited."""

    text: str
    annotations: Sequence[dict[str, Any]] = ()
    type: Literal["output_text"] = "output_text"
    logprobs: Sequence[Any] = ()


class OutputMessage(msgspec.Struct, kw_only=True, tag_field="type", tag="message"):
    """The assistant's message."""

    id: str
    status: Literal["in_progress", "completed"] = "completed"
    content: Sequence[ResponseText] = ()
    role: Literal["assistant"] = "assistant"


class FunctionCall(msgspec.Struct, kw_only=True, tag_field="type", tag="function_call"):
    """The call of a tool of the client, whose result is waited for."""

    id: str
    call_id: str
    name: str
    arguments: str
    status: Literal["in_progress", "completed"] = "completed"


class ResponseUsage(msgspec.Struct):
    """The tokens read and written (an estimate)."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: dict[str, int]
    output_tokens_details: dict[str, int]


class ResponseObject(msgspec.Struct, kw_only=True):
    """A response."""

    id: str
    model: str
    created_at: float
    status: Literal["in_progress", "completed", "failed"] = "completed"
    completed_at: float | None = None
    output: Sequence[OutputMessage | FunctionCall] = ()
    instructions: str | None = None
    previous_response_id: str | None = None
    conversation: dict[str, str] | None = None
    metadata: dict[str, Any] = {}
    user: str | None = None
    usage: ResponseUsage | None = None
    error: dict[str, Any] | None = None
    incomplete_details: None = None
    max_output_tokens: None = None
    parallel_tool_calls: bool = False
    reasoning: None = None
    store: bool = True
    temperature: None = None
    text: dict[str, Any] = msgspec.field(default_factory=lambda: {"format": {"type": "text"}})
    tool_choice: Any = "auto"
    tools: Sequence[Any] = ()
    top_p: None = None
    truncation: str = "disabled"
    background: bool = False
    object: Literal["response"] = "response"
    prolocutor: AnswerDetails | UnsetType = UNSET


def complete_response(response: ResponseObject, answer: ChatAnswer) -> ResponseObject:
    """Return a response with its reply."""
    usage, details = answer.usage, answer.details
    calls = [_function_call(call) for call in answer.calls]
    said = output_message(details.utt_id, answer.text, details.messages)
    return msgspec.structs.replace(
        response,
        status="completed",
        completed_at=time.time(),
        output=[*([said] if answer.text or not calls else ()), *calls],
        usage=ResponseUsage(
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.total_tokens,
            {"cached_tokens": 0, "cache_write_tokens": 0},
            {"reasoning_tokens": 0},
        ),
        prolocutor=details,
    )


def _function_call(call: dict[str, Any]) -> FunctionCall:
    function, id_ = call["function"], str(call["id"])
    return FunctionCall(
        id=f"fc_{id_}", call_id=id_, name=function["name"], arguments=function["arguments"]
    )


def output_message(
    utt_id: str, text: str, messages: Sequence[dict[str, Any]] = ()
) -> OutputMessage:
    """Return the message of a reply."""
    return OutputMessage(
        id=f"msg_{utt_id}", content=[ResponseText(text=text, annotations=citations(text, messages))]
    )


def citations(text: str, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the annotations for the links and cards in a text."""
    found: list[dict[str, Any]] = []
    for message in messages:
        card = message.get("rdl") if isinstance(message.get("rdl"), dict) else {}
        url = (
            message.get("url") if message.get("type") == "link" else (card or {}).get("webCallback")
        )
        if not isinstance(url, str) or not url:
            continue
        start = text.find(url)
        if start >= 0:
            title = message.get("title") or (card or {}).get("displayTitle") or url
            found.append(
                {
                    "type": "url_citation",
                    "start_index": start,
                    "end_index": start + len(url),
                    "url": url,
                    "title": str(title),
                }
            )
    return found


class ResponseWriter:
    """Writes the events of a response (`AnswerWriter`).

    `may_call`: there may be calls of tools in place of words, which then begin with the first.
    """

    def __init__(self, response: ResponseObject, *, may_call: bool = False) -> None:
        self._response = response
        self._may_call = may_call
        self._number = -1
        self._place: dict[str, Any] = {}
        self._is_open = False

    def start(self, utt_id: str) -> bytes:
        """Write the start of the response, its message and its text."""
        response = self._response
        response.id, item = f"resp_{utt_id}", f"msg_{utt_id}"
        self._place = {"item_id": item, "output_index": 0, "content_index": 0}
        begun = msgspec.Raw(plain.encode(response))
        created = self._event("response.created", response=begun)
        created += self._event("response.in_progress", response=begun)
        return created if self._may_call else created + self._begin_message()

    def words(self, text: str) -> bytes:
        """Write words."""
        return self._begin_message() + self._text_event(
            "response.output_text.delta", delta=text, logprobs=[]
        )

    def _begin_message(self) -> bytes:
        """Write the start of the message and its text, once."""
        if self._is_open:
            return b""
        self._is_open = True
        empty = OutputMessage(id=self._place["item_id"], status="in_progress")
        added = self._event("response.output_item.added", output_index=0, item=empty)
        return added + self._text_event("response.content_part.added", part=ResponseText(text=""))

    def end(self, answer: ChatAnswer) -> bytes:
        """Write the last words, the calls of tools, and the completion."""
        pieces = [self.words(answer.rest) if answer.rest else b""]
        whole = complete_response(self._response, answer)
        for index, item in enumerate(whole.output):
            if isinstance(item, OutputMessage):
                pieces += [self._begin_message(), *self._end_message(item)]
            else:
                pieces += self._write_call(item, index)
        pieces.append(self._event("response.completed", response=whole))
        return b"".join(pieces)

    def _end_message(self, message: OutputMessage) -> Iterator[bytes]:
        """Write the end of the text and its message."""
        (part,) = message.content
        for number, note in enumerate(part.annotations):
            kind = "response.output_text.annotation.added"
            yield self._text_event(kind, annotation_index=number, annotation=note)
        yield self._text_event("response.output_text.done", text=part.text, logprobs=[])
        yield self._text_event("response.content_part.done", part=part)
        yield self._event("response.output_item.done", output_index=0, item=message)

    def _write_call(self, call: FunctionCall, index: int) -> Iterator[bytes]:
        """Write a call of a tool."""
        begun = msgspec.structs.replace(call, arguments="", status="in_progress")
        place = {"item_id": call.id, "output_index": index}
        kind = "response.function_call_arguments"
        yield self._event("response.output_item.added", output_index=index, item=begun)
        yield self._event(f"{kind}.delta", **place, delta=call.arguments)
        yield self._event(f"{kind}.done", **place, name=call.name, arguments=call.arguments)
        yield self._event("response.output_item.done", output_index=index, item=call)

    def failure(self, error: Exception) -> bytes:
        """Write the failure of the response."""
        told = error_object(error_response(error))
        failure = {"code": "server_error", "message": told.message}
        failed = msgspec.structs.replace(self._response, status="failed", error=failure)
        return self._event("response.failed", response=failed)

    def _text_event(self, type_: str, **fields: Any) -> bytes:
        """Write an event of the text."""
        return self._event(type_, **self._place, **fields)

    def _event(self, type_: str, **fields: Any) -> bytes:
        self._number += 1
        data = plain.encode({"type": type_, "sequence_number": self._number, **fields})
        return server_event(data, type_.encode())


class ResponsePath(CallerHeaders, frozen=True, kw_only=True):
    """The parameters of a request about a response."""

    response_id: str


class DeletedResponse(msgspec.Struct, kw_only=True):
    """A response that is no longer shown."""

    id: str
    object: Literal["response"] = "response"
    deleted: bool = True


class InputItems(msgspec.Struct, kw_only=True):
    """The input of a response."""

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
    """The endpoints of responses. The id of a response is its reply's in the store."""

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
        self._tools = ToolRounds(assistant.store)
        self._begun: dict[str, BegunResponse] = {}

    async def create_response(
        self, request: TypedRequest[CallerHeaders, ResponseRequest]
    ) -> HttpResponse:
        """Reply to an input."""
        body, visitor = request.body, request.visitor
        model = body.model or self._models.name
        skill = self._models.find_skill(model)
        given = chat_input(
            body.messages(),
            field="input",
            instructions=_instructions(body.instructions),
            metadata=body.metadata,
            attributes=body.attributes,
            store=body.store is not False,
        )
        given.wishes = body.wishes(given)
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
            text=body.text or {"format": {"type": "text"}},
            tools=body.tools or (),
            tool_choice=body.tool_choice or "auto",
        )
        if body.stream:
            may_call = given.wishes is not None and bool(given.wishes.tools)
            begin = partial(self._begin, found.user, response, may_call)
            return await self._answering.stream(found, given, skill, begin, operator=operator)
        answer = await self._answering.whole(found, given, skill, operator=operator)
        response.id = f"resp_{answer.details.utt_id}"
        return HttpResponse(
            plain.encode(complete_response(response, answer)),
            headers={"X-Request-Id": answer.turn_id},
        )

    async def show_response(self, request: TypedRequest[ResponsePath, None]) -> ResponseObject:
        """Return a stored response."""
        id_ = request.params.response_id
        running = self._running_response(request.visitor, id_)
        try:
            asked, reply, owner = await self._load_turn(request.visitor, id_)
        except NotFound:
            if running is None:
                raise
            return running
        extra = asked.attributes.get("openai", {})
        created = parse_time(reply.date_time)
        messages = reply.attributes.get("messages") or []
        text = said_as_text(reply.text, reply.attributes)
        output: list[OutputMessage | FunctionCall] = []
        if (called := await self._tools.find_round(owner, reply.utt_id)) is not None:
            text, output = called.text, [_function_call(call) for call in called.calls]
        if text or not output:
            output.insert(0, output_message(reply.utt_id, text, messages))
        return ResponseObject(
            id=f"resp_{reply.utt_id}",
            model=self._models.name,
            created_at=created,
            completed_at=created,
            output=output,
            instructions=extra.get("instructions"),
            metadata=extra.get("metadata", {}),
        )

    async def delete_response(self, request: TypedRequest[ResponsePath, None]) -> DeletedResponse:
        """Hide a response; its messages stay until the person is deleted."""
        _, reply, owner = await self._load_turn(request.visitor, request.params.response_id)
        await self._store.put_record(owner, DELETED + reply.utt_id, "", b"{}")
        return DeletedResponse(id=f"resp_{reply.utt_id}")

    async def list_input_items(self, request: TypedRequest[ResponsePath, None]) -> InputItems:
        """List the input of a response."""
        asked, _, _ = await self._load_turn(request.visitor, request.params.response_id)
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
        _, reply, owner = await self._load_turn(visitor, before, "previous_response_id")
        person = find_person(visitor, body.user)
        found = None
        if person in (None, owner):
            found = await self._finder.find_by_response(
                owner, reply.utt_id, headers.idempotency_key
            )
            if found is not None:
                await self._finder.check_is_kept(found)
        if found is None:
            raise _unknown_response(before, "previous_response_id")
        return found

    def _begin(
        self, user: str, response: ResponseObject, may_call: bool, turn_id: str
    ) -> ResponseWriter:
        """Return the writer of a stream, and keep the response for as long as its turn runs."""
        for id_ in [id_ for id_ in self._begun if not self._assistant.turns.is_running(id_)]:
            del self._begun[id_]
        self._begun[turn_id] = BegunResponse(user, response)
        return ResponseWriter(response, may_call=may_call)

    def _running_response(self, visitor: Visitor, id_: str) -> ResponseObject | None:
        """Return a response whose turn runs in this process, if the visitor may see it."""
        for turn_id, one in self._begun.items():
            if one.response.id == id_ and self._assistant.turns.is_running(turn_id):
                return one.response if _may_see(visitor, one.user) else None
        return None

    async def _load_turn(
        self, visitor: Visitor, id_: str, field: str = "response_id"
    ) -> tuple[HumanUtterance, BotUtterance, str]:
        """Return a turn and its user; raise `NotFound` for another person's as for none.

        A response to a request without a user's name is found by its id, which cannot be guessed.
        """
        match = _ID.fullmatch(id_)
        owner = await self._store.find_owner(match[1]) if match else None
        if match is None or owner is None or not _may_see(visitor, owner):
            raise _unknown_response(id_, field)
        if await self._store.records(owner, DELETED + match[1]):
            raise _unknown_response(id_, field)
        turn = await self._store.turn(match[1])
        if len(turn) != 2:
            raise _unknown_response(id_, field)
        asked, reply = turn
        assert isinstance(asked, HumanUtterance)
        assert isinstance(reply, BotUtterance)
        if asked.attributes.get("openai", {}).get("store") is False:
            raise _unknown_response(id_, field)
        return asked, reply, owner


def _may_see(visitor: Visitor, owner: str) -> bool:
    return may_see(visitor, owner) or owner.startswith(f"{PREFIX}conversation-")


def _instructions(given: str | list[Any] | None) -> str | None:
    if isinstance(given, list):
        items = [one for one in given if isinstance(one, dict)]
        return "\n".join(message_text(item.get("content"), "instructions") for item in items)
    return given


def _unknown_response(id_: str, field: str) -> NotFound:
    return NotFound(f"there is no response {id_!r:.80}", field=field)
