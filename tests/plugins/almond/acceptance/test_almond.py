"""Published clients of Almond against the real `prolocutor serve`."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pyalmond
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.acceptance.commands import Commands, Serving

ASSISTANT = """
skills:
  demonstration:
    call: prolocutor_demo.demonstration:answer
    inline: true
"""


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
    assert said["askSpecial"] == "yesno"
    assert answered["askSpecial"] is None
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

    assert [frame["type"] for frame in opening] == ["id", "text", "askSpecial"]
    assert opening[1]["text"].startswith("Hello!")
    ids = [frame["id"] for frame in (*opening[1:], *asked, *again[1:], *chosen) if "id" in frame]
    assert ids == list(range(len(ids)))
    assert again[-1]["type"] == chosen[-1]["type"] == "askSpecial"


class Reader:
    """A client that reads all it can over all its sockets, and knows where it was cut off."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: list[dict[str, Any]] = []

    @property
    def after(self) -> int:
        return int(self.seen[-1]["id"]) if self.seen else -1

    def has(self, id_: int) -> bool:
        return self.after >= id_

    def heard(self, words: set[str]) -> bool:
        """Whether all these words were said."""
        return words <= {frame.get("command") for frame in self.seen}

    async def live(self, url: str, words: list[str], until: Callable[[], bool]) -> None:
        """Say these words at once, and read until that is so or the line is cut."""
        address = f"{url.replace('http', 'ws')}/api/conversation?after={self.after}"
        with suppress(ConnectionClosed):
            async with connect(address, max_queue=None) as socket:
                for text in words:
                    await socket.send(json.dumps({"type": "command", "text": text}))
                while not until():
                    frame = json.loads(await socket.recv())
                    if isinstance(frame.get("id"), int):
                        self.seen.append(frame)


@pytest.mark.long
async def test_two_clients_lose_and_repeat_nothing_over_three_kills(
    commands: Commands, tmp_path: Path
) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(ASSISTANT)
    words = ["hello", "choose", "Blue", "ask me", "yes", "cards", "tell me", "cancel"]
    ann, bob = readers = [Reader("ann"), Reader("bob")]
    for life in range(3):
        with commands.serving(file) as server:
            async with asyncio.TaskGroup() as group:
                group.create_task(bob.live(server.url, words, lambda: False))
                await ann.live(server.url, words, partial(ann.has, ann.after + 3 + 5 * life))
                server.process.kill()
    with commands.serving(file) as server:
        goodbyes = {"goodbye of ann", "goodbye of bob"}
        async with asyncio.TaskGroup() as group:
            for one in readers:
                said = [f"goodbye of {one.name}"]
                group.create_task(one.live(server.url, said, partial(one.heard, goodbyes)))
        rows = await everything(server.url)

    assert [frame["id"] for frame in rows] == list(range(len(rows)))
    assert [one.seen == rows[: len(one.seen)] for one in readers] == [True, True]


async def everything(url: str) -> list[dict[str, Any]]:
    async with connect(f"{url.replace('http', 'ws')}/api/conversation?after=-1") as socket:
        return [frame for frame in await until_asked(socket) if isinstance(frame.get("id"), int)]
