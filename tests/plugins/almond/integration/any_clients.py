"""People with clients that come and go, and all that they may say."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from prolocutor.testing.channel_kit import Door
from tests.plugins.almond.integration.wire import Client, client

HELP = ["bookkeeping", "special", "special:help"]
FRAMES: list[dict[str, Any]] = [
    {"type": "command", "text": "hello"},
    {"type": "command", "text": "choose"},
    {"type": "command", "text": "ask me"},
    {"type": "command", "text": "yes"},
    {"type": "command", "text": "cancel"},
    {"type": "command", "text": "nobody knows this"},
    {"type": "parsed", "json": {"code": ["bookkeeping", "choice", "1"], "entities": {}}},
    {"type": "parsed", "json": {"code": HELP, "entities": {}}},
    {"type": "parsed", "json": {"code": ["bookkeeping", "special", "special:stop"]}},
    {"type": "tt", "code": 'now =>"lol");'},
]


class Person:
    """One client over all its sockets: what it saw, by the ids of its messages."""

    def __init__(self, door: Door | None = None) -> None:
        self.door = door
        self.stack = AsyncExitStack()
        self.seen: list[dict[str, Any]] = []
        self.open: Client | None = None

    async def socket(self) -> Client:
        """Return the open socket; a new one goes on after the last message that was seen."""
        if self.open is None:
            assert self.door is not None
            after = self.seen[-1]["id"] if self.seen else -1
            self.open = await self.stack.enter_async_context(client(self.door, f"?after={after}"))
            self.keep(await self.open.until_asked())
        return self.open

    def keep(self, frames: list[dict[str, Any]]) -> None:
        self.seen += [frame for frame in frames if isinstance(frame.get("id"), int)]

    async def drop(self) -> None:
        """Leave without having read what is on its way."""
        await self.stack.aclose()
        self.stack, self.open = AsyncExitStack(), None

    async def catch_up(self, is_last: Callable[[dict[str, Any]], bool]) -> None:
        """Read on until the last word that was said has been answered."""
        socket = await self.socket()
        while not any(map(is_last, self.seen)):
            self.keep(await socket.until_asked())


async def finish(people: list[Person]) -> None:
    """Have everybody say goodbye, and see it answered everywhere."""
    for number, person in enumerate(people):
        socket = await person.socket()
        await socket.send(type="command", text=f"goodbye {number}")
    spoken = [f"goodbye {number}" for number in range(len(people))]
    for person in people:
        for words in spoken:
            await person.catch_up(lambda frame, words=words: frame.get("command") == words)
        await person.catch_up(_answered(person, spoken))
    for person in people:
        await person.drop()


def _answered(one: Person, spoken: list[str]) -> Callable[[dict[str, Any]], bool]:
    """Return whether something was said after the last of these words."""

    def is_last(frame: dict[str, Any]) -> bool:
        at = max(each["id"] for each in one.seen if each.get("command") in spoken)
        return bool(frame["id"] > at)

    return is_last
