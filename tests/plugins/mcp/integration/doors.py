"""An assistant whose only skill echoes, and asks for an answer of any kind: "ask date"."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.testing.channel_kit import running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener

PICTURE = "data:image/png;base64,aGk="
SHOWN = [
    {"type": "text", "text": "see"},
    {"type": "link", "title": "more", "url": "https://example.org/more"},
    {"type": "picture", "url": "https://example.org/a.png", "alt": "A cat"},
    {"type": "picture", "url": PICTURE},
    {"type": "rdl", "rdl": {"webCallback": "https://example.org/card", "displayTitle": "Card"}},
    {"type": "button", "title": "Go", "json": {"payload": 1}},
]


def echo(request: dict[str, Any]) -> dict[str, Any]:
    """Return what was said, what was answered, or a question."""
    answer, text = request.get("answer"), request["human_utterances"][-1]["text"]
    if answer is not None:
        return {"text": f"{answer['kind']} {answer.get('value')}", "confidence": 1.0}
    if text == "show":
        return {"text": "", "confidence": 1.0, "messages": SHOWN}
    if not text.startswith("ask "):
        return {"text": f"echo {text}", "confidence": 0.8}
    asked: dict[str, Any] = {"text": "which one?", "confidence": 1.0, "ask": text[4:]}
    if text == "ask choice":
        choices = [{"type": "choice", "title": title} for title in ("red", "blue")]
        asked["messages"] = [{"type": "text", "text": "which one?"}, *choices]
    return asked


@asynccontextmanager
async def served(
    auth: AccessPolicy | None = None, **options: Any
) -> AsyncIterator[tuple[str, aiohttp.ClientSession]]:
    """Serve it; yield the URL and an HTTP client."""
    skill = Service("echo", echo, card={"description": "Says what you say."})
    async with Assistant(Pipeline(skills=[skill]), store="memory:", name="parrot") as assistant:
        app = Listener(assistant, [Mcp(assistant, **options)], auth=auth)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield url, http
