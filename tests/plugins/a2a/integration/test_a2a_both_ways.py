"""An assistant behind A2A as a skill of another one."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.turn_events import Delta, ReplyGiven
from prolocutor.plan.pipeline import Call, Pipeline, Service, Skill
from prolocutor.plugins.a2a.door.door import A2a
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener
from tests.plugins.a2a.integration.talkers import Talker, pipeline

pytestmark = pytest.mark.asyncio

WAYS = [(version, binding) for version in ("1.0", "0.3") for binding in ("JSONRPC", "HTTP+JSON")]


async def words(request: dict[str, Any]) -> AsyncIterator[Any]:
    for word in ("one ", "two ", "three"):
        yield word


@pytest.mark.parametrize(("version", "binding"), WAYS)
async def test_asks_choices_buttons_and_words_come_through(version: str, binding: str) -> None:
    talker = Talker()
    async with Assistant(pipeline(talker), store="memory:") as inner:
        app = Listener(inner, [A2a(inner)])
        async with running(app) as url:
            there = Call(url, options={"version": version, "binding": binding})
            agent = Service("agent", there, connector="a2a", timeout=10.0)
            async with Assistant(Pipeline(skills=[agent]), store="memory:") as outer:
                asked = await outer.turn("ask", user="ann")
                sure = await outer.reply("yes", "ann")
                choosing = await outer.turn("choose", user="ann")
                chosen = await outer.reply("milk", "ann")
                rich = await outer.reply("rich", "ann")
                open_one = await outer.turn("ask", user="bob")
                over = await outer.turn("never mind", user="bob")
                context = open_one.dialog_id
                waits = await inner.archive.waiting(f"a2a:context-{context}", context)

    assert asked.ask == "yesno"
    assert asked.reply.text == "Sure?"
    assert sure.text == "answer True"
    assert choosing.ask == "choice"
    assert [message["title"] for message in choosing.reply.attributes["messages"][1:]] == [
        "tea",
        "milk",
    ]
    assert chosen.text == "answer {'idx': 1, 'title': 'milk'}"
    kinds = [message["type"] for message in rich.attributes["messages"]]
    assert kinds == ["text", "picture", "button"]
    assert over.ask is None
    assert waits is None


@pytest.mark.parametrize(("version", "binding"), WAYS)
async def test_words_are_shown_as_they_come(version: str, binding: str) -> None:
    async with Assistant(Pipeline(skills=[Service("words", words)]), store="memory:") as inner:
        app = Listener(inner, [A2a(inner)])
        async with running(app) as url:
            there = Call(url, options={"version": version, "binding": binding})
            agent = Service("agent", there, connector="a2a", timeout=10.0)
            async with Assistant(Pipeline(skills=[agent]), store="memory:") as outer:
                events = [event async for event in outer.stream("hello", "ann")]

    said = [event.text for event in events if isinstance(event, Delta)]
    last = events[-1]
    assert isinstance(last, ReplyGiven)
    assert "".join(said) == last.utterance.text == "one two three"


async def test_an_agent_tells_what_became_of_an_effect() -> None:
    async def pay(request: dict[str, Any]) -> None:
        raise ConnectionError("the bank is gone")

    def status(request: dict[str, Any]) -> dict[str, Any]:
        (asked,) = request["human_utterances"][-1]["attributes"]["data_parts"]
        found = {"state": "done", "text": f"Receipt of {asked['data']['key']}"}
        return {"text": json.dumps(found), "confidence": 1.0}

    async with (
        Assistant(Pipeline(skills=[Service("status", status)]), store="memory:") as inner,
        running(Listener(inner, [A2a(inner)])) as url,
    ):
        reconcile = {"call": url, "connector": "a2a"}
        bank = Skill(pay, name="bank", acts=True, reconcile=reconcile, timeout=10.0)
        async with Assistant(Pipeline(skills=[bank]), store="memory:", deadline=30.0) as outer:
            reply = await outer.reply("pay", "ann")
            (stored,) = await outer.effects.ledger.list_effects(closed=True)

    assert reply.text == f"Receipt of {stored.record.key}"
