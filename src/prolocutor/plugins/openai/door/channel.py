"""OpenAi: the door for clients of OpenAI's API, at `/v1`.

Source: OpenAI's API reference for models, chat completions, responses and conversations. The
assistant is a model, and each skill is a model of its own.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import DoorPlace, ErrorForm, Method, Route
from prolocutor.contracts.http import HttpResponse
from prolocutor.dialog import plain
from prolocutor.errors import ConfigError, Conflict, NotFound
from prolocutor.names import suggest
from prolocutor.plugins.openai.door.answers import (
    AnswerDetails,
    Answering,
    ChatAnswer,
)
from prolocutor.plugins.openai.door.conversation_endpoints import ConversationEndpoints
from prolocutor.plugins.openai.door.dialog_finder import PREFIX, DialogFinder
from prolocutor.plugins.openai.door.models import (
    ApiErrorBody,
    ChatModels,
    error_object,
    write_error,
)
from prolocutor.plugins.openai.door.requests import CallerHeaders, CompletionRequest, chat_input
from prolocutor.plugins.openai.door.responses import ResponseObject, Responses
from prolocutor.plugins.openai.door.side_tasks import find_side_task
from prolocutor.web.door_context import DoorContext
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import EVENT_STREAM, server_event
from prolocutor.web.operations import Operation, TypedRequest

Handler = Callable[[TypedRequest[Any, Any]], Awaitable[object]]


class AssistantMessage(msgspec.Struct, kw_only=True):
    """The assistant's message."""

    content: str | None
    role: Literal["assistant"] = "assistant"
    refusal: None = None
    tool_calls: Sequence[dict[str, Any]] | UnsetType = UNSET


class CompletionChoice(msgspec.Struct, kw_only=True):
    """The single choice: the reply."""

    message: AssistantMessage
    index: int = 0
    finish_reason: Literal["stop", "tool_calls"] = "stop"
    logprobs: None = None


class CompletionUsage(msgspec.Struct):
    """The tokens read and written (an estimate)."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(msgspec.Struct, kw_only=True):
    """A chat completion."""

    id: str
    created: int
    model: str
    choices: Sequence[CompletionChoice]
    usage: CompletionUsage
    prolocutor: AnswerDetails
    object: Literal["chat.completion"] = "chat.completion"


class Completions:
    """The endpoint of chat completions."""

    def __init__(self, models: ChatModels, finder: DialogFinder, answering: Answering) -> None:
        self._models = models
        self._finder = finder
        self._answering = answering

    async def create_completion(
        self, request: TypedRequest[CallerHeaders, CompletionRequest]
    ) -> HttpResponse:
        """Reply to the last message of a conversation."""
        body, visitor = request.body, request.visitor
        skill = self._models.find_skill(body.model)
        given = chat_input(
            body.messages,
            field="messages",
            metadata=body.metadata,
            attributes=body.attributes,
            parsed=body.parsed,
        )
        if skill is None and (task := find_side_task(given)) is not None:
            done = await self._answering.do_side_task(given, task)
            if body.stream:
                writer = CompletionWriter(done.turn_id, body.model, usage=False)
                pieces = writer.start(done.turn_id) + writer.end(done)
                return HttpResponse(pieces, content_type=EVENT_STREAM)
            return _whole(done, body.model)
        given.wishes = body.wishes(given)
        self._answering.check_loop(request.params.turns)
        found = await self._finder.find(
            visitor,
            request.params,
            given,
            user=body.user,
            conversation=_conversation_id(body.metadata),
        )
        operator = visitor.kind == "operator"
        if body.stream:
            usage = body.stream_options is not None and bool(body.stream_options.include_usage)
            return await self._answering.stream(
                found,
                given,
                skill,
                lambda turn_id: CompletionWriter(turn_id, body.model, usage),
                operator=operator,
            )
        answer = await self._answering.whole(found, given, skill, operator=operator)
        return _whole(answer, body.model)


def _whole(answer: ChatAnswer, model: str) -> HttpResponse:
    completion = ChatCompletion(
        id=f"chatcmpl-{answer.turn_id}",
        created=int(time.time()),
        model=model,
        choices=[_choice(answer)],
        usage=_usage(answer),
        prolocutor=answer.details,
    )
    return HttpResponse(plain.encode(completion), headers={"X-Request-Id": answer.turn_id})


def _choice(answer: ChatAnswer) -> CompletionChoice:
    if not answer.calls:
        return CompletionChoice(message=AssistantMessage(content=answer.text))
    message = AssistantMessage(content=answer.text or None, tool_calls=answer.calls)
    return CompletionChoice(message=message, finish_reason="tool_calls")


def _conversation_id(metadata: dict[str, Any] | None) -> str | None:
    found = (metadata or {}).get("conversation_id")
    return found if isinstance(found, str) and found else None


def _usage(answer: ChatAnswer) -> CompletionUsage:
    usage = answer.usage
    return CompletionUsage(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)


class CompletionWriter:
    """Writes the chunks of a chat completion (`AnswerWriter`)."""

    def __init__(self, turn_id: str, model: str, usage: bool) -> None:
        head = {
            "id": f"chatcmpl-{turn_id}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self._head = b"data: %b" % plain.encode(head)[:-1]
        self._usage = usage
        self._tail = b',"usage":null}\n\n' if usage else b"}\n\n"

    def start(self, utt_id: str) -> bytes:
        """Write the chunk with the role."""
        return self._chunk(b'{"role":"assistant","content":"","refusal":null}')

    def words(self, text: str) -> bytes:
        """Write a chunk with words."""
        return self._chunk(b'{"content":%b}' % plain.encode(text))

    def end(self, answer: ChatAnswer) -> bytes:
        """Write the last words, the end, and the usage if it is wanted."""
        rest = self.words(answer.rest) if answer.rest else b""
        finish = b'"stop"'
        if answer.calls:
            calls = [{"index": number, **call} for number, call in enumerate(answer.calls)]
            rest += self._chunk(b'{"tool_calls":%b}' % plain.encode(calls))
            finish = b'"tool_calls"'
        details = b',"prolocutor":%b' % plain.encode(answer.details)
        usage = b""
        if self._usage:
            told = plain.encode(_usage(answer))
            usage = b'%b,"choices":[],"usage":%b}\n\n' % (self._head, told)
        return b"%b%b%bdata: [DONE]\n\n" % (
            rest,
            self._chunk(b"{}", finish, details),
            usage,
        )

    def failure(self, error: Exception) -> bytes:
        """Write an error, which clients raise."""
        return server_event(plain.encode({"error": error_object(error_response(error))}))

    def _chunk(self, delta: bytes, finish: bytes = b"null", extra: bytes = b"") -> bytes:
        return b'%b,"choices":[{"index":0,"delta":%b,"logprobs":null,"finish_reason":%b}]%b%b' % (
            self._head,
            delta,
            finish,
            extra,
            self._tail,
        )


class OpenAiDoor(msgspec.Struct, frozen=True, kw_only=True):
    """OpenAI's API at `/v1`: chat completions, responses and conversations."""

    is_usual: ClassVar[bool] = True

    tasks: Annotated[
        str | None,
        Meta(
            description="The skill, a chat model, that writes the titles, tags and follow-ups that"
            " Open WebUI asks for; without one a rule does."
        ),
    ] = None

    def check(self, place: DoorPlace) -> None:
        """Raise `ConfigError` for an unknown skill."""
        if self.tasks is not None and self.tasks not in place.skills:
            what = f"no skill is called {self.tasks!r}; {suggest(self.tasks, place.skills)}"
            raise ConfigError(what, key="doors.openai.tasks")

    def build(self, context: DoorContext) -> OpenAi:
        """Return the door."""
        return OpenAi(context.assistant, tasks=self.tasks)


class OpenAi:
    """The door compatible with OpenAI's API; `tasks` is the skill for side tasks of Open WebUI."""

    name: Final = "openai"
    prefix: Final = PREFIX

    def __init__(self, assistant: Assistant, *, tasks: str | None = None) -> None:
        models, finder = ChatModels(assistant), DialogFinder(assistant)
        answering = Answering(assistant, finder, tasks)
        completions = Completions(models, finder, answering)
        responses = Responses(assistant, models, finder, answering)
        threads = ConversationEndpoints(assistant, finder)
        failing = partial(Operation, errors=[NotFound])
        create_completion = Operation(
            completions.create_completion, returns=ChatCompletion, errors=[NotFound, Conflict]
        )
        create_response = Operation(
            responses.create_response, returns=ResponseObject, errors=[NotFound, Conflict]
        )
        response, conversation = (
            "/v1/responses/{response_id}",
            "/v1/conversations/{conversation_id}",
        )
        self.routes: list[Route | ErrorForm] = [
            ErrorForm("/v1/", write_error, ApiErrorBody),
            _route("GET", "/v1/models", Operation(models.list_models)),
            _route("GET", "/v1/models/{model:path}", failing(models.show_model)),
            _route("POST", "/v1/chat/completions", create_completion),
            _route("POST", "/v1/responses", create_response),
            _route("GET", response, failing(responses.show_response)),
            _route("DELETE", response, failing(responses.delete_response)),
            _route("GET", f"{response}/input_items", failing(responses.list_input_items)),
            _route("POST", "/v1/conversations", Operation(threads.create_conversation)),
            _route("GET", conversation, failing(threads.show_conversation)),
            _route("POST", conversation, failing(threads.change_conversation)),
            _route("DELETE", conversation, failing(threads.delete_conversation)),
            _route("GET", f"{conversation}/items", failing(threads.list_items)),
        ]


def _route(method: Method, path: str, operation: Operation) -> Route:
    """Return a route; its clients always send a key, even if no keys are configured."""
    return Route(method, path, operation, any_secret=True)
