"""Timers of the real `prolocutor serve`, over real sockets: they ring on every client, once."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.acceptance.commands import Commands, Serving

RING = "Your timer is over: 2 seconds."


@asynccontextmanager
async def client(server: Serving) -> AsyncIterator[ClientConnection]:
    """A socket that shows all that was ever said."""
    address = f"{server.url.replace('http', 'ws')}/api/conversation?after=-1"
    async with connect(address) as socket:
        yield socket


async def until(socket: ClientConnection, text: str) -> list[dict[str, Any]]:
    """Return the frames up to the `askSpecial` after a text."""
    frames: list[dict[str, Any]] = []
    while not any(text in str(frame.get("text")) for frame in frames):
        frames.append(json.loads(await socket.recv()))
    while frames[-1]["type"] != "askSpecial":
        frames.append(json.loads(await socket.recv()))
    return frames


async def set_timer(socket: ClientConnection) -> None:
    await socket.send('{"type": "command", "text": "set a timer for 2 seconds"}')
    await until(socket, "Timer set for 2 seconds")


async def history(server: Serving) -> list[dict[str, Any]]:
    """Say something, and give all messages up to its answer."""
    async with client(server) as socket:
        await socket.send('{"type": "command", "text": "what is 6 times 7"}')
        return [
            frame
            for frame in await until(socket, "42")
            if frame["type"] not in ("id", "askSpecial")
        ]


def rings(frames: list[dict[str, Any]]) -> int:
    return sum(frame.get("text") == RING for frame in frames)


async def test_a_timer_rings_on_two_clients_once(commands: Commands) -> None:
    with commands.serving() as server:
        async with client(server) as one, client(server) as other:
            await set_timer(one)
            seen = [await until(socket, RING) for socket in (one, other)]
        everything = await history(server)

    assert [rings(frames) for frames in seen] == [1, 1]
    assert [frame["type"] for frame in seen[0]] == ["text", "sound", "askSpecial"]
    assert rings(everything) == 1
    assert [frame["id"] for frame in everything] == list(range(len(everything)))


async def test_a_timer_rings_once_after_the_server_was_killed(commands: Commands) -> None:
    with commands.serving() as server:
        async with client(server) as socket:
            await set_timer(socket)
            server.process.kill()
            server.process.wait()
    with commands.serving() as server:
        async with client(server) as socket:
            seen = await until(socket, RING)
        server.process.kill()
        server.process.wait()
    with commands.serving() as server:
        everything = await history(server)

    assert rings(seen) == rings(everything) == 1
