"""Another Almond as a skill: our own door as the peer, and peers of the first generation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ServiceError, ServiceRaised, ServiceUnreachable
from prolocutor.plan.pipeline import Call, Pipeline, Service
from prolocutor.plugins.almond.connector.connector import AlmondConnector, AlmondServer
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.testing.channel_kit import running
from prolocutor.testing.connector_kit import ask, closing
from prolocutor.testing.fake_service import FakeRequest
from prolocutor.web.listener import Listener
from prolocutor.web.serving import serve
from tests.integration.peers.socket_peer import SocketPeer, socket_peer
from tests.plugins.assistants.integration.test_assistant_peer import ANSWERS, Inner, outer_of


def asking(url: str, **options: Any) -> Service:
    there = Call(url.replace("http", "ws"), options=options)
    return Service("peer", there, connector="almond", timeout=20.0)


@asynccontextmanager
async def served(skill: Any) -> AsyncIterator[tuple[str, Assistant]]:
    async with (
        Assistant(Pipeline(skills=[Service("inner", skill)]), store="memory:") as inner,
        running(Listener(inner, [Almond(inner)])) as url,
    ):
        yield url, inner


@pytest.mark.parametrize("generation", ["2", "1"])
async def test_every_kind_of_ask_is_asked_and_its_answer_goes_back_as_a_value(
    generation: str,
) -> None:
    skill = Inner()
    async with served(skill) as (url, _):
        service = asking(f"{url}?protocol={generation}", connections=4)
        async with outer_of(service) as outer:
            for kind, (said, value) in ANSWERS.items():
                asked = await outer.turn(f"ask {kind}", user=kind)
                answered = await outer.turn(said, user=kind)
                assert (asked.ask, asked.reply.text) == (kind, "which?"), kind
                assert answered.reply.text == f"got {kind}"
                assert skill.answers[-1] == value
                assert answered.ask is None
            shown = await outer.reply("show", "zoe")
            await outer.reply("", "zoe", parsed=shown.attributes["messages"][1]["json"])
            await outer.turn("ask date", user="zoe")
            over = await outer.turn("never mind", user="zoe")
            after = await outer.reply("hello", "zoe")
            first = await outer.reply("hello again", "yesno")

    assert [message["type"] for message in shown.attributes["messages"]] == [
        "text",
        "button",
        "link",
    ]
    assert shown.attributes["messages"][2]["url"] == f"{url}/more"
    assert {"way": "north"} in skill.answers
    assert over.ask is None
    assert after.text == "echo hello"
    assert first.text == "echo hello again"


@asynccontextmanager
async def at_port(port: int, inner: Assistant) -> AsyncIterator[str]:
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    app = Listener(inner, [Almond(inner)])
    async with asyncio.TaskGroup() as group:
        group.create_task(serve(app, port=port, on_ready=ready.set_result, stop=stop))
        yield await ready
        stop.set()


async def test_a_conversation_goes_on_after_both_its_ends_were_started_again() -> None:
    skill = Inner()
    async with Assistant(Pipeline(skills=[Service("inner", skill)]), store="memory:") as inner:
        async with at_port(0, inner) as url:
            first = AlmondConnector(AlmondServer(url=url), name="peer")
            asked = await ask(first, state("ask choice"))
        async with at_port(int(url.rpartition(":")[2]), inner):
            again = await ask(first, state("what?"))
            await first.aclose()
            async with closing(AlmondConnector(AlmondServer(url=url), name="peer")) as second:
                answer = {"kind": "choice", "value": {"idx": 1, "title": "blue"}, "raw": "blue"}
                answered = await ask(second, {**state("blue"), "answer": answer})

    assert isinstance(asked, Plain)
    assert isinstance(again, Plain)
    assert isinstance(answered, Plain)
    assert asked.value[0]["ask"] == "choice"
    assert again.value[0]["ask"] == "choice"
    assert answered.value == [{"text": "got choice", "confidence": 0.5}]
    assert skill.answers == [{"idx": 1, "title": "blue"}]


class Scripted:
    """A peer that opens with some frames and answers each input with others, of which one may be an
    action."""

    def __init__(self, opening: Sequence[Any], *answers: Sequence[Any]) -> None:
        self.opening, self.answers = opening, list(answers)
        self.heard: list[Any] = []

    async def __call__(self, asked: Any, socket: web.WebSocketResponse) -> None:
        self.heard.append(asked)
        for frame in self.answers.pop(0) if self.answers else ():
            if frame == "close":
                await socket.close()
            else:
                await socket.send_str(frame if isinstance(frame, str) else json.dumps(frame))

    @asynccontextmanager
    async def served(self) -> AsyncIterator[SocketPeer]:
        async with socket_peer(self, opening=self.opening) as peer:
            yield peer


NOTHING = {"type": "askSpecial", "ask": None}
HI = {"type": "text", "text": "Hi!", "icon": None}
WELCOME = ({"type": "text", "text": "Welcome!"}, NOTHING)
SECOND = ({"type": "id", "id": "c1"}, {"type": "text", "text": "of before", "id": 0}, NOTHING)
ECHO = {"type": "command", "command": "hello", "id": 1}


def state(text: str, dialog: str = "d") -> dict[str, Any]:
    return {"dialog_id": dialog, "utterances": [{"text": text, "attributes": {}}], "bot": {}}


async def test_earlier_messages_are_no_answer_and_the_given_id_is_kept() -> None:
    script = Scripted(SECOND, [{"type": "text", "text": "news"}, NOTHING, ECHO, HI, NOTHING])
    async with (
        script.served() as peer,
        closing(AlmondConnector(AlmondServer(url=peer.url), name="peer")) as almond,
    ):
        reply = await ask(almond, state("hello"))

    assert isinstance(reply, Plain)
    assert reply.value == [
        {"text": "Hi!", "confidence": 0.5, "bot_attributes": {"almond_conversation:peer": "c1"}}
    ]
    assert peer.queries[0]["id"] == "d"


async def test_the_first_generation_is_understood() -> None:
    result = {"type": "result", "result": {"a": 1}, "fallback": "one"}
    button = {"type": "button", "title": "B", "json": '{"code": ["now"], "entities": {}}'}
    choices = [{"type": "choice", "idx": n, "title": title} for n, title in enumerate("xy")]
    script = Scripted(
        WELCOME,
        [HI, result, button, *choices, {"type": "askSpecial", "ask": "choice"}],
        [NOTHING],
        [NOTHING, HI, {"type": "askSpecial", "ask": "unheard_of"}],
    )
    async with (
        script.served() as peer,
        closing(AlmondConnector(AlmondServer(url=peer.url), name="peer")) as almond,
    ):
        said = [await ask(almond, state(text)) for text in ("hello", "stop", "again")]

    values = [one.value for one in said if isinstance(one, Plain)]
    kinds = [message["type"] for message in values[0][0]["messages"]]
    assert kinds == ["text", "result", "button", "choice", "choice"]
    assert values[0][0]["messages"][2]["json"] == {"payload": {"code": ["now"], "entities": {}}}
    assert values[0][0]["ask"] == "choice"
    assert values[0][0]["can_continue"] is True
    assert values[1] == []
    assert values[2][0]["ask"] == "raw_string"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ([{"type": "error", "error": "no", "code": "E"}], ServiceRaised),
        (["not JSON"], BadReply),
        (["[1]"], BadReply),
        (["close"], ServiceUnreachable),
        ([HI] * 200, BadReply),
        (['{"type": "text", "text": "' + "x" * 2_000_000 + '"}'], ServiceUnreachable),
    ],
)
async def test_a_bad_peer_is_a_failure_and_the_next_turn_works(
    answer: list[Any], expected: type[ServiceError]
) -> None:
    script = Scripted(WELCOME, answer, [HI, NOTHING])
    async with (
        script.served() as peer,
        closing(AlmondConnector(AlmondServer(url=peer.url), name="peer")) as almond,
    ):
        assert isinstance(await ask(almond, state("hello")), expected)
        reply = await ask(almond, state("hello"))

    assert isinstance(reply, Plain)
    assert reply.value[0]["text"] == "Hi!"


async def test_a_conversation_that_was_broken_off_is_closed_with_the_connector() -> None:
    async with Scripted(WELCOME, [HI] * 200).served() as peer:
        almond = AlmondConnector(AlmondServer(url=peer.url), name="peer")
        await ask(almond, state("hello"))
        await almond.aclose()
        await asyncio.sleep(0)

        assert [one for one in map(repr, asyncio.all_tasks()) if "_AlmondLine" in one] == []


async def test_a_turn_without_an_end_is_taken_as_it_is_and_one_without_words_is_late() -> None:
    script = Scripted(WELCOME, [HI], [], [HI, NOTHING])
    async with (
        script.served() as peer,
        closing(AlmondConnector(AlmondServer(url=peer.url), name="peer")) as almond,
    ):
        (said,) = await almond.send([FakeRequest(state("a"), timeout=0.1)])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await almond.send([FakeRequest(state("b"), timeout=0.1)])
        reply = await ask(almond, state("c"))
        nothing = await ask(almond, state("  "))

    assert isinstance(said, Plain)
    assert isinstance(reply, Plain)
    assert isinstance(nothing, Plain)
    assert said.value[0]["text"] == "Hi!"
    assert reply.value[0]["text"] == "Hi!"
    assert nothing.value == []
    assert len(peer.headers) == 2
