"""OpenAiChatConnector: any server of OpenAI's chat completions as a skill.

Source: OpenAI's API, `POST {base}/chat/completions`, and what servers of that kind are known to
send. Unknown keys are left alone. The words of a
stream are handed on as they come; the reply is the whole text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.connectors.parts.call_headers import call_headers
from prolocutor.connectors.parts.event_stream import EventStream
from prolocutor.connectors.parts.openai_endpoint import OpenAiEndpoint, error_text
from prolocutor.connectors.parts.stripped_words import StrippedWords
from prolocutor.contracts.connector import DeltaSink, Replies, Request
from prolocutor.dialog.plain import MAX_BYTES, Plain, check, encode
from prolocutor.errors import BadReply, ConfigError, ServiceError, ServiceUnreachable

PATH: Final = "/chat/completions"
CONFIDENCE: Final = 0.5

_NO_TEXT: Final = {
    "tool_calls": "it wants to call a tool, of which there is none",
    "function_call": "it wants to call a function, of which there is none",
    "content_filter": "its content filter stopped it",
}


class OpenAiChatConnector:
    """The way to a model behind `{url}/chat/completions`.

    It is shown the dialog's window as messages of user and assistant, after `system`; with a
    formatter, the formatter's result: a text, a list of messages, or a whole body. `key` is sent
    as a bearer token (or stands in the URL as `https://:KEY@host/v1`). Every hypothesis gets
    `confidence`, because a model gives none. `parameters` are further keys of the body
    (`temperature`, `max_tokens`, ...). `stream`: whether it is asked for a stream (None: where the
    words can be shown as they come). `model`, `system`, `confidence` and `stream` may stand in the
    URL's query as well. A refusal, an empty text or a call of a tool is no hypothesis.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        batched: bool = False,
        model: str | None = None,
        key: str | None = None,
        system: str | None = None,
        confidence: float | None = None,
        stream: bool | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        del batched  # several requests are several calls
        self.name = name
        endpoint = OpenAiEndpoint(url, PATH, model=model, key=key)
        query = endpoint.query
        self._system = system or query.get("system")
        self._confidence = _number(confidence, query.get("confidence"))
        written = query.get("stream")
        self._stream = written == "true" if stream is None and written is not None else stream
        self._body = {"model": endpoint.model, **(parameters or {})}
        self._client = endpoint.client

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Ask the model once for each request."""
        if len(requests) == 1:
            return (await self._ask(requests[0]),)
        return await asyncio.gather(*map(self._ask_alone, requests))

    async def complete(self, request: Request) -> str:
        """Return the text of the model's reply; "" where it has none."""
        deltas = request.deltas
        asked = {**self._body, **_asked(request.value(), self._system)}
        if self._stream or (self._stream is None and deltas is not None):
            asked["stream"] = True
        body = encode(asked)
        streamed = _StreamedReply(deltas and StrippedWords(deltas), self._confidence)
        events = EventStream(streamed.take)
        reply = await self._client.post(
            body, call_headers((request,)), max_bytes=MAX_BYTES, stream=events
        )
        if not reply.is_streamed:
            return _text(reply.body)
        if not streamed.is_whole and not events.end():
            raise ServiceUnreachable("the stream broke off in the middle of the reply")
        return streamed.text()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _ask(self, request: Request) -> Plain:
        text = await self.complete(request)
        return check([{"text": text, "confidence": self._confidence}] if text else [])

    async def _ask_alone(self, request: Request) -> Plain | ServiceError:
        try:
            return await self._ask(request)
        except ServiceError as error:
            return error


def _number(given: float | None, written: str | None) -> float:
    try:
        return float(given if given is not None else written or CONFIDENCE)
    except (TypeError, ValueError):
        raise ConfigError(f"expected a number as confidence, found {written!r}") from None


def _asked(value: Any, system: str | None) -> dict[str, Any]:
    """Return the part of the body with the messages."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return value
    if isinstance(value, list):
        messages = value
    elif isinstance(value, str):
        messages = [{"role": "user", "content": value}]
    else:
        messages = _window(value)
    front = [{"role": "system", "content": system}] if system else []
    return {"messages": [*front, *messages]}


def _window(state: Any) -> list[dict[str, str]]:
    try:
        return [
            {"role": "assistant" if "active_skill" in one else "user", "content": one["text"]}
            for one in state["utterances"]
        ]
    except (KeyError, TypeError) as error:
        raise BadReply(f"a model needs the agent state, or messages ({error!r})") from None


# -- what comes back ------------------------------------------------------------------------


class _ChatMessage(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _CompletionChoice(msgspec.Struct):
    message: _ChatMessage | None = None
    delta: _ChatMessage | None = None
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_CompletionChoice] = []
    error: Any = None


_decode: Final = msgspec.json.Decoder(_Completion).decode


def _text(body: bytes) -> str:
    """Return the text of a completion that came in one."""
    completion = _completion(body)
    if not completion.choices or completion.choices[0].message is None:
        raise BadReply("a completion without a message", path="$.choices")
    choice = completion.choices[0]
    return _checked(choice.message or _ChatMessage(), choice.finish_reason)


class _StreamedReply:
    """A completion that comes piece by piece, also where no stream was asked for."""

    def __init__(self, deltas: DeltaSink | None, confidence: float) -> None:
        self.is_whole = False
        self._deltas = deltas
        self._confidence = confidence
        self._pieces: list[str] = []
        self._refusals: list[str] = []
        self._finish: str | None = None
        self._left = MAX_BYTES

    def take(self, data: bytes) -> bool:
        """Add the data of one event, and return whether it was the last."""
        if data == b"[DONE]":
            self.is_whole = True
            return True
        for choice in _completion(data).choices[:1]:
            if choice.delta is not None:
                words = choice.delta.content
                self._add(self._pieces, words)
                self._add(self._refusals, choice.delta.refusal)
                if words and self._deltas is not None:
                    self._deltas.add(words, self._confidence)
            self.is_whole = choice.finish_reason is not None
            self._finish = choice.finish_reason
        return self.is_whole

    def text(self) -> str:
        """Return the whole text."""
        refusal = "".join(self._refusals) or None
        return _checked(_ChatMessage("".join(self._pieces), refusal), self._finish)

    def _add(self, pieces: list[str], piece: str | None) -> None:
        if piece:
            self._left -= len(piece)
            if self._left < 0:
                raise BadReply(f"more than the {MAX_BYTES:,} bytes allowed")
            pieces.append(piece)


def _completion(data: bytes) -> _Completion:
    try:
        completion = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReply(f"no chat completion: {error}") from None
    if completion.error:
        raise BadReply(error_text(completion.error))
    return completion


def _checked(said: _ChatMessage, finish: str | None) -> str:
    if said.refusal:
        raise BadReply(f"it refuses: {said.refusal:.200}")
    if finish in _NO_TEXT and (finish == "content_filter" or not said.content):
        raise BadReply(_NO_TEXT[finish])
    return (said.content or "").strip()
