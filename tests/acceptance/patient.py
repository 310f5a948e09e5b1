"""A server whose only agent answers when it is told to."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from bench.soaking.servers import Command
from prolocutor.dialog.dialog import Dialog
from prolocutor.stores.sqlite.sqlite_store import SqliteStore

ASSISTANT = """
deadline: 30
fallback: I lost my thread.
skills:
  patient: {{call: "{url}", timeout: 20}}
"""


class Patient:
    """An agent that answers when its gate is open; `calls` has the headers of each call."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.calls: asyncio.Queue[Mapping[str, str]] = asyncio.Queue()

    async def answer(self, request: web.Request) -> web.Response:
        state = await request.json()
        self.calls.put_nowait(request.headers)
        await self.gate.wait()
        user = state["human"]["user_external_id"]
        return web.json_response({"text": f"at last, {user}", "confidence": 1.0})


class Place:
    """A folder with an assistant's file, its store and the server, which is not yet started."""

    def __init__(self, folder: Path, url: str) -> None:
        self._store = folder / "dialogs.db"
        file = folder / "assistant.yaml"
        file.write_text(ASSISTANT.format(url=url))
        words = ["serve", str(file), "--port", "0", "--store", f"sqlite:///{self._store}"]
        self.log = (folder / "server.log").open("wb")
        self.server = Command(words, {}, self.log)

    async def dialogs(self) -> list[Dialog]:
        """Read all dialogs from the file; the server has ended."""
        store = SqliteStore(self._store, read_only=True)
        await store.open()
        try:
            return [dialog async for dialog in store.export()]
        finally:
            await store.aclose()


@asynccontextmanager
async def place_of(agent: Patient, folder: Path) -> AsyncIterator[Place]:
    """Let the agent work and give the place of its assistant."""
    app = web.Application()
    app.router.add_post("/", agent.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    place = Place(folder, f"http://127.0.0.1:{runner.addresses[0][1]}/")
    try:
        yield place
    finally:
        place.log.close()
        await runner.cleanup()


@asynccontextmanager
async def started(place: Place) -> AsyncIterator[aiohttp.ClientSession]:
    """Start the server and connect to it; it is killed at the end, should it still run."""
    await place.server.start()
    try:
        async with aiohttp.ClientSession(await place.server.ready()) as session:
            yield session
    finally:
        await place.server.kill()


async def ask(
    session: aiohttp.ClientSession, user: str, key: str | None = None
) -> tuple[int, dict[str, Any]]:
    """Say hello; give the status and the answer."""
    headers = {"Idempotency-Key": key} if key else {}
    body = {"user_id": user, "payload": "hello"}
    async with session.post("/", json=body, headers=headers) as response:
        return response.status, await response.json()
