"""Published clients of Almond against the real `prolocutor serve`."""

import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pyalmond
import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.acceptance.commands import Commands, Serving

XKCD = {"kind": "com.xkcd"}


@asynccontextmanager
async def almond(server: Serving) -> AsyncIterator[pyalmond.WebAlmondAPI]:
    async with aiohttp.ClientSession() as session:
        yield pyalmond.WebAlmondAPI(pyalmond.AlmondLocalAuth(server.url, session))


async def until_asked(socket: ClientConnection) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = []
    while not frames or frames[-1]["type"] != "askSpecial":
        frames.append(json.loads(await socket.recv()))
    return frames


async def test_pyalmond_works_without_a_change(commands: Commands) -> None:
    with commands.serving() as server:
        async with almond(server) as api:
            said = await api.async_converse_text("ask me")
            answered = await api.async_converse_text("yes", said["conversationId"])
            program = await api.async_converse_thingtalk("now => @a.b();")
            apps = await api.async_list_apps()
            created = await api.async_create_simple_device("com.xkcd")
            devices = await api.async_list_devices()
        assert server.end(signal.SIGTERM) == 0

    assert said["messages"] == [
        {"type": "text", "text": "Do you like questions?", "icon": "demonstration"}
    ]
    assert (said["askSpecial"], answered["askSpecial"]) == ("yesno", None)
    assert answered["messages"][0]["text"] == "You said yes."
    assert program["conversationId"].startswith("stateless")
    assert all(message["type"] == "text" for message in program["messages"])
    assert program["messages"] != []
    assert apps == []
    assert created["kind"] == "com.xkcd"
    assert created in devices
    assert "org.prolocutor.timer" in [device["uniqueId"] for device in devices]


async def test_pyalmond_is_told_what_is_wrong_by_the_status(commands: Commands, own: Path) -> None:
    with commands.serving(own) as server:
        async with almond(server) as api:
            with pytest.raises(aiohttp.ClientResponseError) as refused:
                await api.async_create_device({"kind": "com.xkcd", "nested": {}})

    assert refused.value.status == 400


async def test_a_conversation_goes_on_after_the_server_was_killed(commands: Commands) -> None:
    with commands.serving() as server:
        async with connect(f"{server.url.replace('http', 'ws')}/api/conversation") as socket:
            opening = await until_asked(socket)
            await socket.send('{"type": "command", "text": "choose"}')
            asked = await until_asked(socket)
            await socket.send('{"type": "command", "text": "cards"}')
            server.process.kill()
            server.process.wait()
    with commands.serving() as server:
        address = f"{server.url.replace('http', 'ws')}/api/conversation?after={asked[-2]['id']}"
        async with connect(address) as socket:
            again = await until_asked(socket)
            await socket.send('{"type": "parsed", "code": ["bookkeeping", "choice", "1"]}')
            chosen: list[dict[str, Any]] = []
            while not any(frame.get("text") == "You chose Blue." for frame in chosen):
                chosen += await until_asked(socket)

    assert [frame["type"] for frame in opening] == ["id", "askSpecial"]
    ids = [frame["id"] for frame in (*asked, *again[1:], *chosen) if "id" in frame]
    assert ids == list(range(len(ids)))
    assert again[-1]["type"] == chosen[-1]["type"] == "askSpecial"
