"""Whatever several clients say, drop and take up again: each sees every message once, in order."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.assistant.running import run
from prolocutor.testing.channel_kit import Door
from tests.integration.channels.almond.wire import Client, client, demonstrated

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
ASIDE: list[dict[str, Any]] = [
    {"type": "command", "text": "  "},
    {"type": "dance"},
    {"type": "ping"},
]
CLIENTS = st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), CLIENTS, st.sampled_from(FRAMES)),
        st.tuples(st.just("say"), CLIENTS, st.sampled_from(ASIDE)),
        st.tuples(st.just("drop"), CLIENTS, st.none()),
    ),
    max_size=12,
)


class Person:
    """One client over all its sockets: what it saw, by the ids of its messages."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.stack = AsyncExitStack()
        self.seen: list[dict[str, Any]] = []
        self.open: Client | None = None

    async def socket(self) -> Client:
        """Give the open socket; a new one goes on after the last message that was seen."""
        if self.open is None:
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


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_every_client_sees_every_message_once_and_in_order(steps: list[Any]) -> None:
    run(play(steps))


async def play(steps: list[Any]) -> None:
    async with demonstrated() as door, client(door) as witness:
        people = [Person(door) for _ in range(3)]
        for what, who, frame in steps:
            if what == "drop":
                await people[who].drop()
            else:
                await (await people[who].socket()).send(**frame)
        await finish(door, people, steps)
        rows = await door.assistant.store.feed("almond:local", 0, 1000)
        closings = [row.n for row in rows if row.closing is not None]
        await witness.until_asked()
        turns = [await witness.until_asked() for _ in closings]
        rest = await witness.say("")

    said = [row.id for row in rows if row.message is not None]
    assert said == list(range(len(said)))
    assert [[frame["id"] for frame in one.seen] for one in people] == [said] * 3
    assert witness.ids == said
    assert [turn[0]["type"] for turn in turns] == ["command"] * len(closings)
    assert [frame["type"] for frame in rest] == ["askSpecial"]
    commands = [row.n for row in rows if row.message and b'"type":"command"' in row.message]
    assert len(closings) == len(commands)


async def finish(door: Door, people: list[Person], steps: list[Any]) -> None:
    """Have everybody say goodbye, and see it answered everywhere."""
    for number, one in enumerate(people):
        socket = await one.socket()
        await socket.send(type="command", text=f"goodbye {number}")
    spoken = [f"goodbye {number}" for number in range(len(people))]
    for one in people:
        for words in spoken:
            await one.catch_up(lambda frame, words=words: frame.get("command") == words)
        await one.catch_up(_answered(one, spoken))
    for one in people:
        await one.drop()


def _answered(one: Person, spoken: list[str]) -> Callable[[dict[str, Any]], bool]:
    """Tell whether something was said after the last of these words."""

    def is_last(frame: dict[str, Any]) -> bool:
        at = max(each["id"] for each in one.seen if each.get("command") in spoken)
        return bool(frame["id"] > at)

    return is_last
