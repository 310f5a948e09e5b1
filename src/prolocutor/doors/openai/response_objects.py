"""Responses as OpenAI's API has them, and the events of a stream of one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from prolocutor.dialog import plain
from prolocutor.doors.openai.answers import AnswerDetails, ChatAnswer
from prolocutor.doors.openai.errors import error_object
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import server_event


class ResponseText(msgspec.Struct, kw_only=True):
    """The text of an output message; links in it are cited."""

    text: str
    annotations: Sequence[dict[str, Any]] = ()
    type: Literal["output_text"] = "output_text"
    logprobs: Sequence[Any] = ()


class OutputMessage(msgspec.Struct, kw_only=True):
    """What the assistant said."""

    id: str
    status: Literal["in_progress", "completed"] = "completed"
    content: Sequence[ResponseText] = ()
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"


class ResponseUsage(msgspec.Struct):
    """How much was read and written, in tokens (an estimate)."""

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
    output: Sequence[OutputMessage] = ()
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
    text: dict[str, dict[str, str]] = msgspec.field(
        default_factory=lambda: {"format": {"type": "text"}}
    )
    tool_choice: str = "auto"
    tools: Sequence[Any] = ()
    top_p: None = None
    truncation: str = "disabled"
    background: bool = False
    object: Literal["response"] = "response"
    prolocutor: AnswerDetails | UnsetType = UNSET


def completed(response: ResponseObject, answer: ChatAnswer) -> ResponseObject:
    """Return a response with its reply."""
    usage, details = answer.usage, answer.details
    return msgspec.structs.replace(
        response,
        status="completed",
        completed_at=time.time(),
        output=[output_message(details.utt_id, answer.text, details.messages)],
        usage=ResponseUsage(
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.total_tokens,
            {"cached_tokens": 0, "cache_write_tokens": 0},
            {"reasoning_tokens": 0},
        ),
        prolocutor=details,
    )


def output_message(
    utt_id: str, text: str, messages: Sequence[dict[str, Any]] = ()
) -> OutputMessage:
    """Return the message of a reply."""
    return OutputMessage(
        id=f"msg_{utt_id}", content=[ResponseText(text=text, annotations=citations(text, messages))]
    )


def citations(text: str, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the annotations for the links and cards that stand in a text."""
    found: list[dict[str, Any]] = []
    for one in messages:
        card = one.get("rdl") if isinstance(one.get("rdl"), dict) else {}
        url = one.get("url") if one.get("type") == "link" else (card or {}).get("webCallback")
        if not isinstance(url, str) or not url:
            continue
        start = text.find(url)
        if start >= 0:
            title = one.get("title") or (card or {}).get("displayTitle") or url
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
    """Writes the events of a response (`AnswerWriter`)."""

    def __init__(self, response: ResponseObject) -> None:
        self._response = response
        self._number = -1
        self._place: dict[str, Any] = {}

    def start(self, utt_id: str) -> bytes:
        """Write that the response, its message and its text begin."""
        response = self._response
        response.id, item = f"resp_{utt_id}", f"msg_{utt_id}"
        self._place = {"item_id": item, "output_index": 0, "content_index": 0}
        empty = OutputMessage(id=item, status="in_progress")
        begun = msgspec.Raw(plain.encode(response))
        return b"".join(
            [
                self._event("response.created", response=begun),
                self._event("response.in_progress", response=begun),
                self._event("response.output_item.added", output_index=0, item=empty),
                self._at("response.content_part.added", part=ResponseText(text="")),
            ]
        )

    def words(self, text: str) -> bytes:
        """Write words."""
        return self._at("response.output_text.delta", delta=text, logprobs=[])

    def end(self, answer: ChatAnswer) -> bytes:
        """Write the last words, and that the text, its message and the response are complete."""
        rest = self.words(answer.rest) if answer.rest else b""
        whole = completed(self._response, answer)
        (message,) = whole.output
        (part,) = message.content
        notes = [
            self._at(
                "response.output_text.annotation.added", annotation_index=number, annotation=note
            )
            for number, note in enumerate(part.annotations)
        ]
        return b"".join(
            [
                rest,
                *notes,
                self._at("response.output_text.done", text=part.text, logprobs=[]),
                self._at("response.content_part.done", part=part),
                self._event("response.output_item.done", output_index=0, item=message),
                self._event("response.completed", response=whole),
            ]
        )

    def failure(self, error: Exception) -> bytes:
        """Write that the response has failed, and why."""
        told = error_object(error_response(error))
        failure = {"code": "server_error", "message": told.message}
        failed = msgspec.structs.replace(self._response, status="failed", error=failure)
        return self._event("response.failed", response=failed)

    def _at(self, type_: str, **fields: Any) -> bytes:
        """Write an event of the text."""
        return self._event(type_, **self._place, **fields)

    def _event(self, type_: str, **fields: Any) -> bytes:
        self._number += 1
        data = plain.encode({"type": type_, "sequence_number": self._number, **fields})
        return server_event(data, type_.encode())
