"""A bot behind Rasa's REST channel and HTTP API, as its source has them, on a real socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

STORY: dict[str, list[dict[str, Any]]] = {
    "hello": [{"text": "Hey!"}, {"text": "How are you?"}],
    "pizza": [
        {"text": "Which one?", "image": "https://example.org/menu.png"},
        {
            "buttons": [
                {"title": "Margherita", "payload": '/order{"kind": "margherita"}'},
                {"title": "Site", "payload": "https://example.org", "type": "web_url"},
            ]
        },
    ],
    '/order{"kind": "margherita"}': [{"text": "A margherita it is."}],
    "film": [
        {"attachment": {"type": "video", "payload": {"src": "https://h/v.mp4", "title": "Film"}}},
        {"attachment": "https://example.org/paper.pdf"},
    ],
    "data": [{"custom": {"temperature": 21}}],
    "own": [{"custom": {"type": "link", "title": "Docs", "url": "https://example.org"}}],
    "silence": [],
}


class RasaPeer:
    """Where it listens, and what it was asked; it keeps a conversation for each sender."""

    def __init__(self, token: str | None) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.streams = 0
        self._token = token
        self._counts: dict[str, int] = {}

    async def webhook(self, request: web.Request) -> web.StreamResponse:
        """Answer `POST /webhooks/rest/webhook`."""
        if self._token and request.query.get("token") != self._token:
            failure = {"status": "failure", "reason": "NotAuthenticated"}
            return web.json_response(failure, status=401)
        body = await request.json()
        self.asked.append(body)
        sender = body["sender"]
        number = self._counts[sender] = self._counts.get(sender, 0) + 1
        said = STORY.get(body["message"], [{"text": f"{number}: {body['message']}"}])
        messages = [{"recipient_id": sender, **one} for one in said]
        if request.query.get("stream", "").lower() != "true":
            return web.json_response(messages)
        self.streams += 1
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for message in messages:
            await response.write(json.dumps(message).encode() + b"\n")
        return response

    async def parse(self, request: web.Request) -> web.Response:
        """Answer `POST /model/parse`."""
        body = await request.json()
        intent = {"name": "greet", "confidence": 0.97}
        return web.json_response(
            {"text": body["text"], "intent": intent, "intent_ranking": [intent], "entities": []}
        )


@asynccontextmanager
async def rasa_peer(token: str | None = None) -> AsyncIterator[RasaPeer]:
    """Run a bot on loopback."""
    peer = RasaPeer(token)
    app = web.Application()
    app.router.add_post("/webhooks/rest/webhook", peer.webhook)
    app.router.add_post("/model/parse", peer.parse)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    peer.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield peer
    finally:
        await runner.cleanup()
