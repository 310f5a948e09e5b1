"""A server of OpenAI's chat completions, as faithful as its reference says, on a real socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web


class ChatPeer:
    """Where it listens (`url`, with /v1), what it was asked, and what it says next.

    A reply is a text, an exception to answer with (`Refused`), or a whole completion.
    """

    def __init__(self, *replies: Any, key: str | None = None) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.broken_after: int | None = None
        self._replies = replies
        self._key = key

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one POST of /v1/chat/completions."""
        if self._key and request.headers.get("Authorization") != f"Bearer {self._key}":
            return _error(401, "Incorrect API key provided", "invalid_api_key")
        body = await request.json()
        if not isinstance(body.get("messages"), list) or not body.get("model"):
            return _error(400, "you must provide a model and messages", None)
        self.asked.append(body)
        reply = self._replies[min(len(self.asked), len(self._replies)) - 1]
        if isinstance(reply, Refused):
            return _error(reply.status, reply.what, reply.code)
        message = reply if isinstance(reply, dict) else {"content": reply}
        if body.get("stream"):
            return await self._stream(request, message)
        return web.json_response(_completion(body["model"], message))

    async def _stream(self, request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        words = (message.get("content") or "").split(" ")
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": word if not n else f" {word}"} for n, word in enumerate(words)]
        for n, call in enumerate(message.get("tool_calls") or ()):
            arguments, place = call["function"]["arguments"], {"index": n}
            first = {**call, **place, "function": {**call["function"], "arguments": ""}}
            rest = {**place, "function": {"arguments": arguments}}
            deltas += [{"tool_calls": [first]}, {"tool_calls": [rest]}]
        for n, delta in enumerate(deltas):
            if n == self.broken_after:
                return response
            await _say(response, {"choices": [{"index": 0, "delta": delta}], "obfuscation": "x"})
        finish = message.get("finish_reason", "stop")
        await _say(response, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        await _say(response, {"choices": [], "usage": {"total_tokens": len(words)}})
        await response.write(b"data: [DONE]\n\n")
        return response


class Refused:
    """An answer with an error status."""

    def __init__(self, status: int, what: str, code: str | None = None) -> None:
        self.status = status
        self.what = what
        self.code = code


@asynccontextmanager
async def chat_peer(*replies: Any, key: str | None = None) -> AsyncIterator[ChatPeer]:
    """Run a peer on loopback; the last reply serves all further requests."""
    peer = ChatPeer(*replies, key=key)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", peer.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    peer.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield peer
    finally:
        await runner.cleanup()


def _completion(model: str, message: dict[str, Any]) -> dict[str, Any]:
    said = {"role": "assistant", "content": None, "refusal": None, **message}
    finish = said.pop("finish_reason", "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": said, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "service_tier": "default",
    }


def _error(status: int, what: str, code: str | None) -> web.Response:
    error = {"message": what, "type": "error", "param": None, "code": code}
    return web.json_response({"error": error}, status=status)


async def _say(response: web.StreamResponse, chunk: dict[str, Any]) -> None:
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", **chunk}
    await response.write(f": a comment\ndata: {json.dumps(chunk)}\n\n".encode())
