"""Calls at the console: what services were asked and what they answered, word for word."""

import json
from typing import Any

import pytest

from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.console import call_log
from prolocutor.plugins.openai.chat import ChatModel
from prolocutor.testing.channel_kit import Door
from tests.chat_peer import chat_peer
from tests.integration.doors.fakes import get
from tests.plugins.console.integration.test_console_conversations import BASE, a_console, settled


async def calls_of(door: Door, told: Any) -> list[dict[str, Any]]:
    await settled(door)
    status, page = await get(door, f"{BASE}/calls/{told.turn_id}")
    assert status == 200, page
    items: list[dict[str, Any]] = page["items"]
    return items


async def knows(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": "yes", "confidence": 0.9, "human_attributes": {"api_key": "s3cret"}}


async def fails(request: dict[str, Any]) -> None:
    raise KeyError("gold")


async def test_a_request_and_its_reply_are_shown_as_they_were() -> None:
    pipeline = Pipeline(skills=[Service("knows", knows), Service("fails", fails)])
    async with a_console(pipeline=pipeline) as door:
        told = await door.assistant.turn("is it so", user="page:ann")
        known, failed = await calls_of(door, told)

    asked, reply = json.loads(known["request"]), json.loads(known["reply"])
    assert asked["service"] == "knows"
    assert asked["utterances"][-1]["text"] == "is it so"
    assert reply["text"] == "yes"
    assert known["key"] == f"{told.turn_id}/knows"
    assert reply["human_attributes"] == {"api_key": "…"}
    assert failed["reply"] is None
    assert failed["code"] == "raised"
    assert "gold" in failed["error"]


@pytest.mark.parametrize("stream", [False, True])
async def test_what_a_model_was_sent_and_said_is_shown_without_its_key(stream: bool) -> None:
    async with chat_peer("Not much.", key="sk-1") as peer:
        model = ChatModel(url=peer.url, model="m", key="sk-1", stream=stream, system="Be brief.")
        async with a_console(pipeline=Pipeline(skills=[Service("llm", model)])) as door:
            told = await door.assistant.turn("what is new", user="page:ann")
            (call,) = await calls_of(door, told)

    (wire,) = call["wire"]
    assert wire["url"] == f"{peer.url}/chat/completions"
    assert wire["status"] == 200
    assert json.loads(wire["request"]) == peer.asked[0]
    assert "Not" in wire["reply"]
    assert (wire["first"] is not None) is stream
    assert "sk-1" not in json.dumps(call)


async def test_no_calls_are_kept_where_the_file_says_so() -> None:
    async with a_console(pipeline=Pipeline(skills=[Service("knows", knows)]), calls=0) as door:
        told = await door.assistant.turn("is it so", user="page:ann")
        await settled(door)

        assert (await get(door, f"{BASE}/calls/{told.turn_id}"))[0] == 404


async def test_calls_are_kept_of_the_latest_turns_and_of_nobody_who_was_deleted() -> None:
    async with a_console(pipeline=Pipeline(skills=[Service("knows", knows)]), calls=2) as door:
        told = [await door.assistant.turn(f"number {n}", user="page:ann") for n in range(3)]
        await settled(door)
        seen = [(await get(door, f"{BASE}/calls/{one.turn_id}"))[0] for one in told]
        await door.assistant.archive.delete_person("page:ann")
        left = [(await get(door, f"{BASE}/calls/{one.turn_id}"))[0] for one in told]

    assert seen == [404, 200, 200]
    assert left == [404] * 3


async def test_large_turns_make_place_for_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "MOST_BYTES", 60_000)
    async with a_console(pipeline=Pipeline(skills=[Service("knows", knows)])) as door:
        first = await door.assistant.turn("x" * 20_000, user="page:ann")
        second = await door.assistant.turn("y" * 20_000, user="page:bob")
        await settled(door)
        seen = [(await get(door, f"{BASE}/calls/{one.turn_id}"))[0] for one in (first, second)]

    assert seen == [404, 200]
