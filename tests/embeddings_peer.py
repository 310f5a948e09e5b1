"""A server of OpenAI's embeddings, as faithful as its reference says, on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

MOST_TEXTS = 2048


class EmbeddingsPeer:
    """Where it listens (`url`, with /v1) and what it was asked; `change` alters what it replies.

    While `silent` is not set it does not answer.
    """

    def __init__(self, key: str | None = None, **change: Any) -> None:
        self.url = ""
        self.silent: asyncio.Event | None = None
        self.asked: list[dict[str, Any]] = []
        self._key, self._change = key, change

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one POST of /v1/embeddings: each text has its length and 1 as its vector."""
        if self._key and request.headers.get("Authorization") != f"Bearer {self._key}":
            return _error(401, "Incorrect API key provided")
        body = await request.json()
        texts = [body["input"]] if isinstance(body.get("input"), str) else body.get("input")
        if not texts or not body.get("model") or len(texts) > MOST_TEXTS or not all(texts):
            return _error(400, "'$.input' is invalid")
        self.asked.append(body)
        if self.silent is not None:
            await self.silent.wait()
        data = [
            {"object": "embedding", "index": place, "embedding": [float(len(text)), 1.0]}
            for place, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        reply = {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}
        return web.json_response({**reply, **self._change})


@asynccontextmanager
async def embeddings_peer(key: str | None = None, **change: Any) -> AsyncIterator[EmbeddingsPeer]:
    """Run a peer on loopback; `change` are keys of its replies that are otherwise."""
    peer = EmbeddingsPeer(key, **change)
    app = web.Application()
    app.router.add_post("/v1/embeddings", peer.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    peer.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield peer
    finally:
        await runner.cleanup()


def _error(status: int, what: str) -> web.Response:
    error = {"message": what, "type": "invalid_request_error", "param": None, "code": None}
    return web.json_response({"error": error}, status=status)
