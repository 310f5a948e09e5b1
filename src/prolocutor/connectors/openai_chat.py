"""OpenAiChatConnector: any server of OpenAI's chat completions as a skill.

Source: OpenAI's API, `POST {base}/chat/completions`, and what servers of that kind are known to
send. Unknown keys are left alone. A stream only shortens waiting: what is said is the whole text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import aiohttp
import msgspec

from prolocutor.connectors.parts.line import headers_of, whole
from prolocutor.connectors.parts.openai_endpoint import OpenAiEndpoint, error_text
from prolocutor.contracts.connector import Replies, Request
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
    formatter, what the formatter gives: a text, a list of messages, or a whole body. `key` is sent
    as a bearer token (or stands in the URL as `https://:KEY@host/v1`). `confidence` is given to
    every hypothesis, for a model tells none. `parameters` are further keys of the body
    (`temperature`, `max_tokens`, ...). `model`, `system`, `confidence` and `stream` may stand in
    the URL's query as well. A refusal, an empty text or a call of a tool is no hypothesis.
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
        self._stream = stream if stream is not None else query.get("stream") == "true"
        self._body = {"model": endpoint.model, **(parameters or {})}
        if self._stream:
            self._body["stream"] = True
        self._headers, self._line = endpoint.headers, endpoint.line

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Ask the model once for each request."""
        if len(requests) == 1:
            return (await self._ask(requests[0]),)
        return await asyncio.gather(*map(self._ask_alone, requests))

    async def complete(self, request: Request) -> str:
        """Return the text that the model says to a request; "" where it says none."""
        body = encode({**self._body, **_asked(request.value(), self._system)})
        headers = headers_of((request,), self._headers)
        return (await self._line.post(body, headers, MAX_BYTES, _read)).decode()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._line.aclose()

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
    """Return the part of the body that says what is asked."""
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


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Return the text of a reply, which may come as a stream though none was asked for."""
    if response.content_type == "text/event-stream":
        return await _read_stream(response, most)
    completion = _completion(await whole(response, most))
    if not completion.choices or completion.choices[0].message is None:
        raise BadReply("a completion without a message", path="$.choices")
    option = completion.choices[0]
    return _checked(option.message or _ChatMessage(), option.finish_reason).encode()


async def _read_stream(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Join the pieces of a server-sent stream; `ServiceUnreachable` if it ends in the middle."""
    said, refused, left = "", "", most
    finish: str | None = None
    async for line in _lines(response, most):
        left -= len(line)
        if left < 0:
            raise BadReply(f"more than the {most:,} bytes allowed")
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        if data == b"[DONE]":
            break
        for option in _completion(data).choices[:1]:
            if option.delta is not None:
                said += option.delta.content or ""
                refused += option.delta.refusal or ""
            finish = option.finish_reason or finish
        if finish is not None:
            break
    else:
        raise ServiceUnreachable("the stream broke off in the middle of the reply")
    return _checked(_ChatMessage(content=said, refusal=refused or None), finish).encode()


async def _lines(response: aiohttp.ClientResponse, most: int) -> Any:
    rest = b""
    async for piece in response.content.iter_any():
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > most:
            raise BadReply(f"more than the {most:,} bytes allowed")
        for line in lines:
            yield line.strip()
    if rest:
        yield rest.strip()


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
