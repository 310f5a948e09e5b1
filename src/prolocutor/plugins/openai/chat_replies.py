"""Answers of OpenAI-like endpoints: completions and responses, whole or in pieces.

Source: OpenAI's API reference for chat completions and responses. Unknown keys and events are
ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.connector import DeltaSink
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import MAX_BYTES, JsonObject
from prolocutor.errors import BadReply
from prolocutor.plugins.openai.endpoint import error_text

_NO_TEXT: Final = {
    "tool_calls": "it wants to call a tool, of which there is none",
    "function_call": "it wants to call a function, of which there is none",
    "content_filter": "its content filter stopped it",
}

_NOT_READ: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class StrippedWords:
    """A `DeltaSink` before a `DeltaSink`, for replies whose text is stripped in the end."""

    def __init__(self, sink: DeltaSink) -> None:
        self._sink = sink
        self._space = ""
        self._has_begun = False

    def add(self, text: str, confidence: float | None = None) -> None:
        """Hand words on, and white space once other words follow it."""
        if not self._has_begun:
            text = text.lstrip()
            self._has_begun = bool(text)
        words = text.rstrip()
        if words:
            self._sink.add(self._space + words, confidence)
            self._space = text[len(words) :]
        else:
            self._space += text

    def restart(self) -> None:
        """Take back all words so far."""
        self._space, self._has_begun = "", False
        self._sink.restart()


class TokenUsage(msgspec.Struct, frozen=True):
    """The numbers of read and written tokens."""

    read: int
    written: int


class ModelReply(msgspec.Struct, frozen=True):
    """The text of a reply, its usage, and the model's calls of tools."""

    text: str
    usage: TokenUsage | None = None
    calls: Sequence[JsonObject] = ()


class _CalledFunction(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _ToolCall(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _CalledFunction | None = None


class _ChatMessage(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _CompletionChoice(msgspec.Struct):
    message: _ChatMessage | None = None
    delta: _ChatMessage | None = None
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_CompletionChoice] = []
    error: Any = None
    usage: Any = None


class _Part(msgspec.Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    content: list[_Part] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None


class _IncompleteDetails(msgspec.Struct):
    reason: str | None = None


class _ModelResponse(msgspec.Struct):
    status: str | None = None
    output: list[_Item] | None = None
    error: Any = None
    incomplete_details: _IncompleteDetails | None = None
    usage: Any = None


class _ResponseEvent(msgspec.Struct):
    type: str = ""
    delta: Any = None
    response: _ModelResponse | None = None
    message: Any = None


_decode_completion: Final = msgspec.json.Decoder(_Completion).decode
_decode_response: Final = msgspec.json.Decoder(_ModelResponse).decode
_decode_event: Final = msgspec.json.Decoder(_ResponseEvent).decode


def read_completion(body: bytes) -> ModelReply:
    """Read a whole completion."""
    completion = _completion(body)
    if not completion.choices or completion.choices[0].message is None:
        raise BadReply("a completion without a message", path="$.choices")
    choice = completion.choices[0]
    said = choice.message or _ChatMessage()
    calls = _GatheredCalls()
    calls.add(said.tool_calls)
    text = _check_message(said, choice.finish_reason, calls.found)
    return ModelReply(text, _usage(completion.usage), calls.found)


def read_response(body: bytes) -> ModelReply:
    """Read a whole response."""
    try:
        response = _decode_response(body)
    except _NOT_READ as error:
        raise BadReply(f"this is not a response: {error}") from None
    return _read_reply(response)


class StreamedCompletion:
    """A completion that comes piece by piece, even without a request for a stream.

    `counts`: the usage is waited for, which comes after the text.
    """

    def __init__(self, deltas: DeltaSink | None, confidence: float, *, counts: bool) -> None:
        self.is_whole = False
        self._words = _ModelWords(deltas, confidence)
        self._refusals = _ModelWords(None, confidence)
        self._calls = _GatheredCalls()
        self._finish: str | None = None
        self._usage: TokenUsage | None = None
        self._counts = counts

    def take(self, data: bytes) -> bool:
        """Add the data of an event, and return whether it was the last."""
        if data == b"[DONE]":
            self.is_whole = True
            return True
        completion = _completion(data)
        self._usage = _usage(completion.usage) or self._usage
        for choice in completion.choices[:1]:
            if choice.delta is not None:
                self._words.add(choice.delta.content)
                self._refusals.add(choice.delta.refusal)
                self._calls.add(choice.delta.tool_calls)
            self.is_whole = choice.finish_reason is not None
            self._finish = choice.finish_reason
        return self.is_whole and (self._usage is not None or not self._counts)

    def reply(self) -> ModelReply:
        """Return the whole reply."""
        said, calls = _ChatMessage(self._words.text, self._refusals.text or None), self._calls.found
        return ModelReply(_check_message(said, self._finish, calls), self._usage, calls)


class StreamedResponse:
    """A response in events."""

    def __init__(self, deltas: DeltaSink | None, confidence: float) -> None:
        self.is_whole = False
        self._words = _ModelWords(deltas, confidence)
        self._response = _ModelResponse()

    def take(self, data: bytes) -> bool:
        """Add the data of an event, and return whether it was the last."""
        try:
            event = _decode_event(data)
        except _NOT_READ as error:
            raise BadReply(f"this is not an event of a response: {error}") from None
        if event.type == "response.output_text.delta" and isinstance(event.delta, str):
            self._words.add(event.delta)
        elif event.type == "error":
            raise BadReply(error_text(event.message))
        elif event.type in ("response.completed", "response.incomplete", "response.failed"):
            self._response = event.response or _ModelResponse()
            self.is_whole = True
        return self.is_whole

    def reply(self) -> ModelReply:
        """Return the whole reply; its text is the last event's, if present."""
        reply = _read_reply(self._response)
        text = reply.text or self._words.text.strip()
        return ModelReply(text, reply.usage, reply.calls)


class _GatheredCalls:
    """Calls of tools, whole or in pieces; pieces of a call have its index."""

    def __init__(self) -> None:
        self._calls: dict[int, list[str]] = {}
        self._left = MAX_BYTES

    @property
    def found(self) -> list[JsonObject]:
        """All calls, in the form of completions."""
        return [_call(*parts) for parts in self._calls.values()]

    def add(self, pieces: list[_ToolCall] | None) -> None:
        """Add calls, or pieces of calls; raise `BadReply` if there are too many."""
        for number, piece in enumerate(pieces or ()):
            place = number if piece.index is None else piece.index
            parts = self._calls.setdefault(place, ["", "", ""])
            told = piece.function or _CalledFunction()
            parts[0] = piece.id or parts[0]
            parts[1] = told.name or parts[1]
            parts[2] += told.arguments or ""
            self._left -= len(told.arguments or "") + 1
            if self._left < 0:
                raise BadReply(f"more than the {MAX_BYTES:,} bytes allowed")


def _call(id_: str, name: str, arguments: str) -> JsonObject:
    function = {"name": name, "arguments": arguments}
    return {"id": id_ or f"call_{new_id()}", "type": "function", "function": function}


class _ModelWords:
    """The words of a reply, within its bounds."""

    def __init__(self, deltas: DeltaSink | None, confidence: float) -> None:
        self._deltas = deltas
        self._confidence = confidence
        self._pieces: list[str] = []
        self._left = MAX_BYTES

    @property
    def text(self) -> str:
        """All words."""
        return "".join(self._pieces)

    def add(self, piece: str | None) -> None:
        """Add words; raise `BadReply` if there are too many."""
        if piece:
            self._left -= len(piece)
            if self._left < 0:
                raise BadReply(f"more than the {MAX_BYTES:,} bytes allowed")
            self._pieces.append(piece)
            if self._deltas is not None:
                self._deltas.add(piece, self._confidence)


def _completion(data: bytes) -> _Completion:
    try:
        completion = _decode_completion(data)
    except _NOT_READ as error:
        raise BadReply(f"this is not a chat completion: {error}") from None
    if completion.error:
        raise BadReply(error_text(completion.error))
    return completion


def _check_message(message: _ChatMessage, finish: str | None, calls: Sequence[JsonObject]) -> str:
    if message.refusal:
        raise BadReply(f"it refuses: {message.refusal:.200}")
    if calls and finish != "content_filter":
        return (message.content or "").strip()
    if finish in _NO_TEXT and (finish == "content_filter" or not message.content):
        raise BadReply(_NO_TEXT[finish])
    return (message.content or "").strip()


def _read_reply(response: _ModelResponse) -> ModelReply:
    if response.error or response.status == "failed":
        raise BadReply(error_text(response.error or "the response failed"))
    parts = [part for item in response.output or () for part in item.content or ()]
    refusals = [part.refusal for part in parts if part.type == "refusal" and part.refusal]
    text = "".join(part.text or "" for part in parts if part.type == "output_text")
    cut = response.incomplete_details
    finish = "content_filter" if cut is not None and cut.reason == "content_filter" else None
    calls = [
        _call(item.call_id or "", item.name or "", item.arguments or "")
        for item in response.output or ()
        if item.type == "function_call"
    ]
    message = _ChatMessage(text, "".join(refusals) or None)
    return ModelReply(_check_message(message, finish, calls), _usage(response.usage), calls)


def _usage(told: Any) -> TokenUsage | None:
    """Return the usage by either API's names; None if the endpoint does not count."""
    if not isinstance(told, dict):
        return None
    read = told.get("prompt_tokens", told.get("input_tokens"))
    written = told.get("completion_tokens", told.get("output_tokens"))
    if not isinstance(read, int) or not isinstance(written, int):
        return None
    return TokenUsage(read, written)
