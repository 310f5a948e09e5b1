"""Chat completions: `POST /v1/chat/completions`, whole or as a stream."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, Literal

import msgspec

from prolocutor.channels.openai.answers import (
    AnswerDetails,
    Answering,
    AnswerPiece,
    AnswerStart,
    ChatAnswer,
)
from prolocutor.channels.openai.dialog_finder import DialogFinder
from prolocutor.channels.openai.errors import error_object
from prolocutor.channels.openai.models import ChatModels
from prolocutor.channels.openai.requests import CallerHeaders, CompletionRequest, chat_input
from prolocutor.contracts.http import HttpResponse
from prolocutor.dialog import plain
from prolocutor.web.error_table import error_response
from prolocutor.web.operations import TypedRequest

EVENT_STREAM: Final = "text/event-stream"
STREAM_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class AssistantMessage(msgspec.Struct, kw_only=True):
    """What the assistant said."""

    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None


class CompletionChoice(msgspec.Struct, kw_only=True):
    """The reply; there is one."""

    message: AssistantMessage
    index: int = 0
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class CompletionUsage(msgspec.Struct):
    """How much was read and written, in tokens (an estimate)."""

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
        skill = self._models.skill_of(body.model)
        given = chat_input(
            body.messages,
            field="messages",
            metadata=body.metadata,
            attributes=body.attributes,
        )
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
            pieces = self._answering.pieces(found, given, skill, operator=operator)
            start = await anext(pieces)
            assert isinstance(start, AnswerStart)
            stream = _chunks(pieces, start.turn_id, body.model, usage)
            return event_stream(stream, start)
        answer = await self._answering.whole(found, given, skill, operator=operator)
        completion = ChatCompletion(
            id=f"chatcmpl-{answer.turn_id}",
            created=int(time.time()),
            model=body.model,
            choices=[CompletionChoice(message=AssistantMessage(content=answer.text))],
            usage=_usage(answer),
            prolocutor=answer.details,
        )
        return HttpResponse(plain.encode(completion), headers={"X-Request-Id": answer.turn_id})


def event_stream(stream: AsyncIterator[bytes], start: AnswerStart) -> HttpResponse:
    """Return a response that is sent as server-sent events."""
    headers = {**STREAM_HEADERS, "X-Request-Id": start.turn_id}
    return HttpResponse(stream, content_type=EVENT_STREAM, headers=headers)


def _conversation_id(metadata: dict[str, Any] | None) -> str | None:
    found = (metadata or {}).get("conversation_id")
    return found if isinstance(found, str) and found else None


def _usage(answer: ChatAnswer) -> CompletionUsage:
    usage = answer.usage
    return CompletionUsage(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)


async def _chunks(
    pieces: AsyncIterator[AnswerStart | AnswerPiece | ChatAnswer],
    turn_id: str,
    model: str,
    usage: bool,
) -> AsyncIterator[bytes]:
    """Write a stream: the role, the pieces of the text, the end, the usage where it is wanted."""
    head = plain.encode(
        {
            "id": f"chatcmpl-{turn_id}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
    )[:-1]
    tail = b',"usage":null}' if usage else b"}"
    choice = b',"choices":[{"index":0,"delta":%b,"logprobs":null,"finish_reason":%b}]'

    def chunk(delta: bytes, finish: bytes = b"null", extra: bytes = b"") -> bytes:
        return b"data: %b%b%b%b\n\n" % (head, choice % (delta, finish), extra, tail)

    yield chunk(b'{"role":"assistant","content":"","refusal":null}')
    try:
        async for piece in pieces:
            if isinstance(piece, AnswerPiece):
                yield chunk(b'{"content":%b}' % plain.encode(piece.text))
            elif isinstance(piece, ChatAnswer):
                rest = b'{"content":%b}' % plain.encode(piece.rest)
                last = [chunk(rest)] if piece.rest else []
                details = b',"prolocutor":%b' % plain.encode(piece.details)
                last.append(chunk(b"{}", b'"stop"', details))
                if usage:
                    used = plain.encode(_usage(piece))
                    last.append(b'data: %b,"choices":[],"usage":%b}\n\n' % (head, used))
                yield b"".join([*last, b"data: [DONE]\n\n"])
    except Exception as error:
        yield b"data: %b\n\n" % plain.encode({"error": error_object(error_response(error))})
