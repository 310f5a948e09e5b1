"""What the tests of the Almond door share: clients that read frames up to the next `askSpecial`."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.store import Store
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.testing.channel_kit import Door, Gate, run_door, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.listener import Listener
from prolocutor_demo import demonstration

ADDRESS = "/api/conversation"


def almond(auth: AccessPolicy | None = None, **options: Any) -> AbstractAsyncContextManager[Door]:
    """The door before an assistant that counts."""
    return run_door(Almond, auth, **options)


@asynccontextmanager
async def demonstrated(
    skill: Callable[..., Any] = demonstration.answer,
    *,
    limits: ListenerLimits | None = None,
    store: str | Store = "memory:",
    **options: Any,
) -> AsyncIterator[Door]:
    """The door before an assistant of nothing but the demonstration, or another skill."""
    pipeline = Pipeline(skills=[Service("demonstration", skill)])
    async with Assistant(pipeline, store=store, **options) as assistant:
        app = Listener(assistant, [Almond(assistant)], limits=limits)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield Door(url, http, assistant, app, Gate())


class Client:
    """One open socket, and what came over it."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.frames: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        frame: dict[str, Any] = await self.socket.receive_json()
        self.frames.append(frame)
        return frame

    async def until_asked(self) -> list[dict[str, Any]]:
        """Return the frames up to the next `askSpecial`, that included."""
        frames = [await self.receive()]
        while frames[-1]["type"] != "askSpecial":
            frames.append(await self.receive())
        return frames

    async def send(self, **frame: Any) -> None:
        await self.socket.send_str(json.dumps(frame))

    async def say(self, text: str) -> list[dict[str, Any]]:
        await self.send(type="command", text=text)
        return await self.until_asked()

    @property
    def ids(self) -> list[int]:
        return [frame["id"] for frame in self.frames if isinstance(frame.get("id"), int)]


@asynccontextmanager
async def client(door: Door, query: str = "", address: str = ADDRESS) -> AsyncIterator[Client]:
    async with door.http.ws_connect(f"{address}{query}") as socket:
        yield Client(socket)


@asynccontextmanager
async def opened(door: Door, query: str = "", address: str = ADDRESS) -> AsyncIterator[Client]:
    """A client that has seen the opening."""
    async with client(door, query, address) as one:
        await one.until_asked()
        yield one


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]


def summary(frames: list[dict[str, Any]]) -> list[Any]:
    """Frames in short: texts, other types, and what is asked as a list."""
    return [
        frame.get("text")
        if frame["type"] == "text"
        else [frame["ask"]]
        if frame["type"] == "askSpecial"
        else frame["type"]
        for frame in frames
    ]
