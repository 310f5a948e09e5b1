"""Another assistant as a skill: its asks, messages, words and reasons; and no endless circles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.messages import ASK_KINDS
from prolocutor.dialog.plain import Plain
from prolocutor.dialog.turn_events import Delta, ReplyGiven
from prolocutor.errors import BadReply, ServiceError, ServiceRefused, ServiceUnreachable
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.plan.pipeline import Call, Pipeline, Service
from prolocutor.plugins.assistants.connector import AssistantConnector, OtherAssistant
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.testing.channel_kit import running
from prolocutor.testing.connector_kit import ask, closing
from prolocutor.testing.fake_service import FakeRequest
from prolocutor.web.listener import Listener
from tests.integration.connectors.raw_server import raw_server

ANSWERS = {
    "yesno": ("yes please", True),
    "number": ("three and a half", 3.5),
    "date": ("2026-11-22", "2026-11-22"),
    "time": ("7:30 pm", "19:30:00"),
    "location": ("48.1, 11.5", {"latitude": 48.1, "longitude": 11.5, "display": "48.1, 11.5"}),
    "phone_number": ("+49 30 123456", "+4930123456"),
    "email_address": ("ann@example.org", "ann@example.org"),
    "contact": ("Bob", "Bob"),
    "picture": ("https://example.org/cat.png", "https://example.org/cat.png"),
    "password": ("yes", "yes"),
    "raw_string": ("cancel", "cancel"),
    "choice": ("the second one", {"idx": 1, "title": "blue"}),
    "command": ("play some jazz", "play some jazz"),
    "generic": ("5 km", {"value": 5, "unit": "km"}),
}
BUTTON = {"type": "button", "title": "Go", "json": {"payload": {"way": "north"}}}
LINK = {"type": "link", "title": "more", "url": "/more"}


class Inner:
    """A skill that asks, shows, echoes; `answers` are what it was answered."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.attributes: list[dict[str, Any]] = []

    async def __call__(self, request: dict[str, Any]) -> Any:
        answer, said = request.get("answer"), request["human_utterances"][-1]
        text = said["text"]
        self.attributes.append(said["attributes"])
        if answer is not None:
            self.answers.append(answer.get("value"))
            return {"text": f"got {answer['kind']}", "confidence": 1.0}
        if text == "show":
            shown = [{"type": "text", "text": "see"}, BUTTON, LINK]
            return {"text": "see", "confidence": 0.9, "messages": shown, "attributes": {"a": [1]}}
        if text == "nothing":
            return []
        if text.startswith("ask "):
            asked: dict[str, Any] = {"text": "which?", "confidence": 1.0, "ask": text[4:]}
            if text == "ask choice":
                choices = [{"type": "choice", "title": title} for title in ("red", "blue")]
                asked["messages"] = [{"type": "text", "text": "which?"}, *choices]
            return asked
        return {"text": f"echo {text}", "confidence": 0.7}


@asynccontextmanager
async def served(*skills: Service) -> AsyncIterator[tuple[str, Assistant]]:
    options: Any = {"name": "in", "observers": [RecentTurns()]}
    async with (
        Assistant(Pipeline(skills=list(skills)), store="memory:", **options) as inner,
        running(Listener(inner, [OpenAi(inner)])) as url,
    ):
        yield url, inner


def asking(url: str, **options: Any) -> Service:
    there = Call(url, options=options) if options else url
    return Service("peer", there, connector="prolocutor", timeout=20.0)


def outer_of(service: Service) -> Assistant:
    return Assistant(Pipeline(skills=[service]), store="memory:", deadline=30.0)


async def test_every_kind_of_ask_is_asked_and_its_answer_goes_back_as_a_value() -> None:
    assert set(ANSWERS) == set(ASK_KINDS.names())
    skill = Inner()
    async with served(Service("inner", skill)) as (url, _), outer_of(asking(url)) as outer:
        for kind, (said, value) in ANSWERS.items():
            asked = await outer.turn(f"ask {kind}", user=kind)
            answered = await outer.turn(said, user=kind)
            assert (asked.ask, asked.reply.text) == (kind, "which?"), kind
            assert answered.reply.text == f"got {kind}"
            assert skill.answers[-1] == value
            assert answered.ask is None
        await outer.turn("ask date", user="zoe")
        over = await outer.turn("never mind", user="zoe")
        after = await outer.reply("hello", "zoe")

    assert over.ask is None
    assert after.text == "echo hello"


async def test_messages_attributes_reasons_and_buttons_come_through() -> None:
    skill = Inner()
    async with served(Service("inner", skill)) as (url, _):
        async with outer_of(asking(url)) as outer:
            shown = await outer.turn("show", user="ann", attributes={"shop": 7})
            button = shown.reply.attributes["messages"][1]
            await outer.reply("", "ann", parsed=button["json"])
            nothing = await outer.turn("nothing", user="ann")
        async with closing(AssistantConnector(OtherAssistant(url=url), name="peer")) as peer:
            silent = [await ask(peer, "nothing")]

    kinds = [message["type"] for message in shown.reply.attributes["messages"]]
    assert kinds == ["text", "button", "link"]
    assert shown.reply.attributes["messages"][2]["url"] == f"{url}/more"
    assert shown.reply.attributes["a"] == [1]
    told = shown.reply.attributes["prolocutor"]
    assert told["skill"] == "inner"
    assert told["confidence"] == 0.9
    assert told["asked"] == ["inner"]
    assert skill.attributes[0]["shop"] == 7
    assert skill.answers == [{"way": "north"}]
    assert nothing.reply.active_skill == ""
    assert [len(one.value) for one in silent if isinstance(one, Plain)] == [0]


async def test_words_are_shown_as_they_come_and_a_turn_that_is_run_again_says_nothing_twice() -> (
    None
):
    shown = asyncio.Event()

    async def words(request: dict[str, Any]) -> AsyncIterator[Any]:
        yield "one "
        await shown.wait()
        yield "two three"

    events: list[Any] = []
    async with served(Service("words", words, timeout=20.0)) as (url, inner):
        async with outer_of(asking(url)) as outer:
            async for event in outer.stream("hello", "ann"):
                events.append(event)
                if isinstance(event, Delta):
                    shown.set()
        async with closing(AssistantConnector(OtherAssistant(url=url), name="peer")) as peer:
            request = FakeRequest("hello", turn_id="a" * 32)
            replies = [(await peer.send([request]))[0] for _ in range(2)]
        dialogs = [dialog async for dialog in inner.store.export()]

    last = events[-1]
    assert isinstance(last, ReplyGiven)
    assert last.utterance.text == "one two three"
    assert [one.text for one in events if isinstance(one, Delta)] == ["one ", "two three"]
    said = [
        reply.value[0]["attributes"]["prolocutor"] for reply in replies if isinstance(reply, Plain)
    ]
    assert said[0]["utt_id"] == said[1]["utt_id"]
    assert [len(dialog.utterances) for dialog in dialogs] == [2, 2]


async def test_an_assistant_that_asks_itself_or_in_a_circle_refuses() -> None:
    def echo(request: dict[str, Any]) -> dict[str, Any]:
        return {"text": "here", "confidence": 0.1}

    first = AssistantConnector(OtherAssistant(url="http://127.0.0.1:1"), name="peer")
    async with served(Service("itself", first, timeout=20.0), Service("echo", echo)) as (url, own):
        first.__init__(OtherAssistant(url=url), name="itself")  # type: ignore[misc]
        alone = await own.turn("hello", user="ann")
        async with served(asking(url)) as (other, _):
            first.__init__(OtherAssistant(url=other), name="itself")  # type: ignore[misc]
            round_ = await own.turn("hello", user="bob")
            kept = [one async for one in own.store.export()]

    assert [alone.reply.text, round_.reply.text] == ["here", "here"]
    assert alone.record is not None
    assert "asks itself" in str(alone.record)
    assert len(kept) == 2


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", ServiceRefused),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"data":[]}', BadReply),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", BadReply),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nno", ServiceUnreachable),
    ],
)
async def test_what_is_no_assistant_is_a_failure(
    answer: bytes, expected: type[ServiceError]
) -> None:
    async with (
        raw_server(answer) as server,
        closing(AssistantConnector(OtherAssistant(url=server.url), name="peer")) as peer,
    ):
        assert isinstance(await ask(peer, "hi"), expected)
        assert isinstance(await ask(peer, {"no": "dialog"}), BadReply)
