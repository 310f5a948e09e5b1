"""The console's socket: what happens in turns is sent to the operators who watch."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Breaker, Pipeline
from prolocutor.plugins.console.agent_states import AgentStates
from prolocutor.plugins.console.channel import Console
from prolocutor.plugins.console.live_feed import MAX_TURNS_PER_SECOND, LiveFeed
from prolocutor.plugins.console.live_rows import TurnChoice, TurnKind
from prolocutor.testing.channel_kit import running
from prolocutor.web.door_context import DoorContext
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.listener import Listener
from tests.unit.assistant.talks import assistant
from tests.unit.pipeline.talk import Gate, hypothesis, says
from tests.waiting import until

LIVE = "/api/console/live"


class Lines:
    """The messages of one socket, in their order."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.seen: list[Any] = []

    async def next(self) -> Any:
        message = await self.socket.receive()
        assert message.type is aiohttp.WSMsgType.TEXT, message
        self.seen.append(json.loads(message.data))
        return self.seen[-1]

    async def until(self, kind: str) -> Any:
        while (message := await self.next())["type"] != kind:
            pass
        return message


@asynccontextmanager
async def served(it: Assistant) -> AsyncIterator[aiohttp.ClientSession]:
    async with (
        running(Listener(it, [Console(DoorContext(it))])) as url,
        aiohttp.ClientSession(url) as http,
    ):
        yield http


def viewers(it: Assistant) -> int:
    """Return how many watch now; where nobody does, nothing follows the turns."""
    feeds: Any = it.observers.followers
    return sum(len(feed._viewers) for feed in feeds)


async def listed_turns(http: aiohttp.ClientSession, **query: Any) -> Any:
    """Return a page of the list of turns."""
    async with http.get("/api/console/turns", params=query) as response:
        return await response.json()


async def opened(http: aiohttp.ClientSession, headers: dict[str, str]) -> int:
    """Return the status of the answer to who opens the socket."""
    try:
        async with http.ws_connect(LIVE, headers=headers):
            return 101
    except aiohttp.WSServerHandshakeError as error:
        return error.status


async def test_a_key_that_only_reads_may_watch_and_look_but_switch_nothing() -> None:
    async with assistant() as it:
        ring = KeyRing(it.store)
        secrets = {one: (await ring.create(one, [one]))[0] for one in ("read", "converse")}
        await ring.refresh()
        app = Listener(it, [Console(DoorContext(it))], ring=ring)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            seen: dict[str, list[int]] = {}
            for scope, secret in secrets.items():
                headers = {"Authorization": f"Bearer {secret}"}
                async with http.get("/api/console/agents", headers=headers) as listed:
                    pass
                path, body = "/api/console/agents/echo/switch", {"on": False}
                async with http.post(path, json=body, headers=headers) as switched:
                    pass
                seen[scope] = [listed.status, switched.status, await opened(http, headers)]

    assert seen == {"read": [200, 403, 101], "converse": [403, 403, 403]}


async def test_a_turn_is_followed_from_its_beginning_to_its_end() -> None:
    gate = Gate([])
    slow, fails = says("slow", gate), says("fails", ValueError("no"), breaker=Breaker(failures=1))
    chat = says("chat", hypothesis("<b>hello</b>", 0.9))
    pipeline = Pipeline(annotators=[says("note", 1)], skills=[slow, fails, chat])
    slow_service = pipeline.skills[0]
    assert slow_service is not None
    async with assistant(pipeline=pipeline) as it, served(it) as http:
        async with http.ws_connect(LIVE) as one, http.ws_connect(f"{LIVE}?kind=failed") as other:
            lines, failed = Lines(one), Lines(other)
            await until(lambda: viewers(it) == 2)
            turn = asyncio.create_task(it.turn("hi <i>", user="ann", channel="page"))
            await gate.started.wait()
            async with http.ws_connect(LIVE) as late:
                joined = Lines(late)
                running_now = [await joined.next(), await joined.next()]
                gate.opened.set()
                result = await turn
                ended = await lines.until("ended")
                assert await joined.until("ended") == ended == await failed.until("ended")
            await it.switches.switch(it.engine.find_step("chat"), on=False, by="eve")
            off = await lines.until("breaker")
        await until(lambda: viewers(it) == 0)

    kinds = [one["type"] for one in lines.seen]
    assert kinds[0] == "begun"
    assert lines.seen[0]["user"] == "ann"
    assert lines.seen[0]["said"] == "hi <i>"
    asked = [(one["stage"], one["agents"]) for one in lines.seen if one["type"] == "asked"]
    assert asked == [("annotators", ["note"]), ("skills", ["slow", "fails", "chat"])]
    settled = {one["agent"]: one["outcome"] for one in lines.seen if one["type"] == "settled"}
    assert settled == {"note": "done", "slow": "done", "fails": "failed", "chat": "done"}
    assert [running_now[0]["type"], running_now[1]["agents"]] == ["begun", ["slow"]]
    assert [one["type"] for one in failed.seen] == ["breaker", "ended"]
    assert failed.seen[0]["agent"] == "fails"
    assert failed.seen[0]["state"] == "alone"
    assert off["agent"] == "chat"
    assert off["state"] == "off"
    shown = ("turn_id", "utt_id", "reply", "spoke", "by", "failed", "flags", "channel")
    assert [ended[one] for one in shown] == [
        result.turn_id,
        result.reply.utt_id,
        "<b>hello</b>",
        ["chat"],
        "confidence",
        1,
        ["failed"],
        "page",
    ]


async def test_a_person_who_is_wanted_is_told_of() -> None:
    wants = says("wants", hypothesis("a person", attributes={"wants_person": True}))
    async with assistant(wants) as it, served(it) as http, http.ws_connect(LIVE) as socket:
        await until(lambda: viewers(it) == 1)
        id_ = (await it.turn("help", user="ann")).dialog_id
        assert (await Lines(socket).until("waits"))["dialog_id"] == id_


async def test_only_turns_in_which_one_service_failed_are_sent_to_who_asks_for_them() -> None:
    broken = says("broken", ValueError("no"), hypothesis("yes"), ValueError("again"))
    other = says("other", hypothesis("hi"), ValueError("no"), hypothesis("hi"))
    watched = f"{LIVE}?failed=broken"
    async with (
        assistant(broken, other) as it,
        served(it) as http,
        http.ws_connect(watched) as socket,
    ):
        await until(lambda: viewers(it) == 1)
        for text in ("one", "two", "three"):
            await it.turn(text, user="ann")
        lines = Lines(socket)
        seen = [await lines.until("ended"), await lines.until("ended")]

    assert [one["said"] for one in seen] == ["one", "three"]
    assert [each["error"] for one in seen for each in one["failures"]] == [
        "ValueError: no", "ValueError: again",
    ]  # fmt: skip


async def test_turns_of_before_are_listed_by_kind_and_by_who_failed_page_by_page() -> None:
    broken = says("broken", ValueError("no"), hypothesis("yes"), ValueError("again"), [])
    async with assistant(broken) as it, served(it) as http:
        for text in ("one", "two", "three", "four"):
            await it.turn(text, user="ann")
        asked: list[dict[str, Any]] = [
            {},
            {"kind": "none"},
            {"kind": "trouble"},
            {"kind": "slow"},
            {"kind": "waits"},
            {"failed": "broken"},
            {"failed": "broken", "code": "late"},
            {"failed": "broken", "limit": 1},
        ]
        lists = [await listed_turns(http, **one) for one in asked]
        rest = await listed_turns(http, **asked[-1], cursor=lists[-1]["next"])

    assert [[one["said"] for one in each["items"]] for each in lists] == [
        ["four", "three", "two", "one"],
        ["four", "three", "one"],
        ["four", "three", "one"],
        [],
        [],
        ["three", "one"],
        [],
        ["three"],
    ]
    assert [one["said"] for one in rest["items"]] == ["one"]
    latest = lists[0]["items"][1]
    assert (latest["seconds"] > 0, latest["flags"], latest["failed"]) == (
        True,
        ["none", "failed"],
        1,
    )


async def test_a_service_that_was_skipped_did_not_fail() -> None:
    ill = says("ill", ValueError("no"))
    needy = says("needy", hypothesis("hi"), requires=["ill"])
    async with assistant(ill, needy) as it, served(it) as http:
        await it.turn("one", user="ann")
        (turn,) = (await listed_turns(http))["items"]
        skipped = await listed_turns(http, failed="needy")

    assert [one["service"] for one in turn["failures"]] == ["ill"]
    assert skipped["items"] == []


async def test_an_unknown_kind_is_refused_in_words() -> None:
    async with assistant() as it, served(it) as http, http.ws_connect(f"{LIVE}?kind=x") as socket:
        said = json.loads((await socket.receive()).data)
        closed = await socket.receive()

    assert said["field"] == "kind"
    assert closed.type == aiohttp.WSMsgType.CLOSE
    assert closed.data == 1008


class FakeSocket:
    """Keeps what it is given to send."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, message: str) -> None:
        self.sent.append(json.loads(message))

    def of(self, kind: str) -> list[Any]:
        """Return the messages of one type."""
        return [one for one in self.sent if one["type"] == kind]


async def test_no_more_than_ten_turns_a_second_are_sent_and_the_others_counted() -> None:
    now = 0.0
    kinds: tuple[TurnKind, ...] = ("all", "failed", "slow")
    sockets = {kind: FakeSocket() for kind in kinds}
    async with assistant(says("chat", ValueError("no"))) as it:
        feed = LiveFeed(it, AgentStates(), 60.0, lambda: now)
        with ExitStack() as viewing:
            for kind, socket in sockets.items():
                watched: Any = socket
                viewing.enter_context(feed.viewing(watched, TurnChoice(kind=kind)))
            for number in range(3 * MAX_TURNS_PER_SECOND):
                now = float(number >= 2 * MAX_TURNS_PER_SECOND)
                await it.turn("hi", user="ann")
            await until(lambda: sockets["failed"].of("left_out") and sockets["all"].of("left_out"))
        before = [len(socket.sent) for socket in sockets.values()]
        await it.turn("hi", user="ann")

    for kind in ("all", "failed"):
        socket = sockets[kind]
        ended = [one["turn_id"] for one in socket.of("ended")]
        begun = [one["turn_id"] for one in socket.of("begun")]
        assert begun == (ended if kind == "all" else [])
        assert len(ended) == 2 * MAX_TURNS_PER_SECOND
        assert [one["n"] for one in socket.of("left_out")] == [MAX_TURNS_PER_SECOND]
    assert [one["type"] for one in sockets["slow"].sent] == ["breaker"]
    assert [len(socket.sent) for socket in sockets.values()] == before
