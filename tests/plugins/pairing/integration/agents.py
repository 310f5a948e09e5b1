"""Agents on loopback, each with its own pace, for turns in which pairing decides whom to ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load
from prolocutor.contracts.observer import TurnRecord


@dataclass
class Agent:
    """One agent: what it answers, after how many seconds; None: it fails."""

    says: str | None
    seconds: float = 0.0
    card: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    answered: int = 0

    async def answer(self, request: web.Request) -> web.Response:
        state = await request.json()
        self.asked.append(state["utterances"][-1]["text"])
        await asyncio.sleep(self.seconds)
        if self.says is None:
            raise web.HTTPInternalServerError
        self.answered += 1
        return web.json_response([{"text": self.says, "confidence": 0.5}])


@asynccontextmanager
async def serving(agents: Mapping[str, Agent]) -> AsyncIterator[str]:
    """Serve agents at `/name` and give the address."""
    app = web.Application()
    for name, agent in agents.items():
        app.router.add_post(f"/{name}", agent.answer)
    async with listening(app) as address:
        yield address


@asynccontextmanager
async def listening(app: web.Application) -> AsyncIterator[str]:
    """Serve an application on loopback and give its address."""
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def assistant_of(
    folder: Path, agents: Mapping[str, Agent], yaml: str, store: str = "memory:"
) -> AsyncIterator[Assistant]:
    """Run an assistant of these agents; `yaml` is the rest of its file."""
    async with serving(agents) as address:
        skills = "\n".join(
            f"  {name}: {{call: '{address}/{name}', card: {json.dumps(agent.card)}}}"
            for name, agent in agents.items()
        )
        file = folder / "assistant.yaml"
        file.write_text(f"skills:\n{skills}\n{yaml}", encoding="utf-8")
        settings = load(file, environ={})
        async with build_assistant(settings, store=store) as assistant:
            yield assistant


async def turn(assistant: Assistant, text: str, user: str = "ann") -> TurnResult:
    """Take one turn."""
    async with asyncio.timeout(120):
        return await assistant.turn(text, user=user)


def record(result: TurnResult) -> TurnRecord:
    """Return the record of a turn, which there is."""
    assert result.record is not None
    return result.record
