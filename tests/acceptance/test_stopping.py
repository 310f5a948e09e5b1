"""SIGTERM while turns run: they end and are stored, new ones are told to come again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from bench.soaking.servers import Command
from prolocutor.stores.sqlite.store import SqliteStore

ASSISTANT = """
deadline: 30
skills:
  patient: {{call: "{url}", timeout: 20}}
"""
PEOPLE = ("ann", "ben", "cleo", "dan")


class Patient:
    """An agent that answers when the gate is open, and knows who waits."""

    def __init__(self, expected: int) -> None:
        self.gate = asyncio.Event()
        self.all_wait = asyncio.Event()
        self._expected = expected

    async def answer(self, request: web.Request) -> web.Response:
        state = await request.json()
        self._expected -= 1
        if self._expected == 0:
            self.all_wait.set()
        await self.gate.wait()
        user = state["human"]["user_external_id"]
        return web.json_response({"text": f"at last, {user}", "confidence": 1.0})


@asynccontextmanager
async def serving(agent: Patient) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/", agent.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def ask(session: aiohttp.ClientSession, user: str) -> tuple[int, dict[str, str]]:
    async with session.post("/", json={"user_id": user, "payload": "hello"}) as response:
        return response.status, await response.json()


async def stopping(session: aiohttp.ClientSession) -> None:
    """Wait until the server says that it stops, on a line that is open already."""
    status = 200
    while status == 200:
        async with session.get("/health/ready") as response:
            status = response.status


async def test_turns_that_were_taken_end_and_new_ones_are_refused(tmp_path: Path) -> None:
    agent = Patient(expected=len(PEOPLE))
    file, store = tmp_path / "assistant.yaml", tmp_path / "dialogs.db"
    log = (tmp_path / "server.log").open("wb")
    async with serving(agent) as url:
        file.write_text(ASSISTANT.format(url=url))
        server = Command(
            ["serve", str(file), "--port", "0", "--store", f"sqlite:///{store}"], {}, log
        )
        await server.start()
        with log:
            async with aiohttp.ClientSession(await server.ready()) as session:
                asked = [asyncio.create_task(ask(session, user)) for user in (*PEOPLE, "ann")]
                await agent.all_wait.wait()
                await ask_whether_ready(session)

                ended = asyncio.create_task(server.stop())
                await stopping(session)
                refused, body = await ask(session, "eve")
                agent.gate.set()
                answers = await asyncio.gather(*asked)

                assert (refused, body["code"]) == (503, "stopping")
                assert [status for status, _ in answers] == [200] * len(asked)
                assert await ended == 0
    assert await stored(store) == {user: [f"at last, {user}"] for user in PEOPLE[1:]} | {
        "ann": ["at last, ann"] * 2
    }


async def ask_whether_ready(session: aiohttp.ClientSession) -> None:
    async with session.get("/health/ready") as response:
        assert response.status == 200


async def stored(path: Path) -> dict[str, list[str]]:
    store = SqliteStore(path, read_only=True)
    await store.open()
    try:
        return {
            dialog.human.user_external_id: [one.text for one in dialog.utterances[1::2]]
            async for dialog in store.export()
        }
    finally:
        await store.aclose()
