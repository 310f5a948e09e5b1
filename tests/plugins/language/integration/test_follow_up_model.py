"""What follow-ups mean, asked of a chat model over a real socket; the rules are its net."""

import asyncio
import json
from typing import Any

import pytest

from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.language.follow_up import annotate
from prolocutor.testing.fake_service import FakeService
from tests.chat_peer import Refused, chat_peer
from tests.unit.pipeline.talk import Talk, hypothesis

MODEL = "prolocutor.plugins.language.follow_up.model"
BY_RULES = {"text": "time in Paris", "of": "time in Rome", "confidence": 0.9, "skill": "clock"}


def talk_with(url: str, timeout: float = 30.0) -> Talk:
    rules = Service("rules", annotate, inline=True, label="follow_up")
    model = Service(
        "model",
        f"{url}?model=m",
        connector="openai_chat",
        formatter=f"{MODEL}:ask",
        response_formatter=f"{MODEL}:read",
        label="follow_up",
        after=["rules"],
        timeout=timeout,
    )
    clock = Service("clock", FakeService([hypothesis("It is 1 pm.")]), rewrites=True)
    return Talk(Pipeline(annotators=[rules, model], skills=[clock]), deadline=120.0)


async def annotation(talk: Talk, *texts: str) -> Any:
    for text in texts:
        await talk.say(text)
    return (await talk.state())["utterances"][-2]["annotations"]["follow_up"]


async def test_the_model_is_asked_with_the_last_turn_and_its_question_counts() -> None:
    reply = '```json\n{"question": "What time is it in Paris?", "of": "time in Rome"}\n```'
    async with chat_peer(reply) as peer:
        found = await annotation(talk_with(peer.url), "time in Rome", "and Paris, my dear?")

    assert found == {"text": "What time is it in Paris?", "of": "time in Rome", "confidence": 0.9}
    [asked] = peer.asked  # nothing is asked at the beginning of a dialog
    assert json.loads(asked["messages"][1]["content"]) == {
        "last_question": "time in Rome",
        "reply": "It is 1 pm.",
        "words": "and Paris, my dear?",
    }


async def test_the_model_may_say_that_the_words_stand_alone() -> None:
    async with chat_peer('{"question": null}') as peer:
        assert await annotation(talk_with(peer.url), "time in Rome", "and Paris?") == {}


async def test_courtesies_cost_nothing() -> None:
    async with chat_peer('{"question": "x"}') as peer:
        assert await annotation(talk_with(peer.url), "time in Rome", "thank you!") == {}

    assert peer.asked == []


@pytest.mark.parametrize(
    "reply",
    [
        Refused(500, "overloaded"),
        Refused(401, "Incorrect API key provided"),
        "It is one o'clock in Paris.",
        '{"question": 7}',
        '{"answer": "x"}',
        json.dumps({"question": "x" * 5000}),
        "",
    ],
)
async def test_where_the_model_fails_the_rules_count(reply: Any) -> None:
    async with chat_peer(reply) as peer:
        found = await annotation(talk_with(peer.url), "time in Rome", "and Paris?")

    assert found == BY_RULES


async def test_where_the_model_is_late_or_away_the_rules_count() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    late = await annotation(talk_with(url, timeout=0.2), "time in Rome", "and Paris?")
    server.close()
    await server.wait_closed()

    assert late == BY_RULES
    assert await annotation(talk_with(url), "time in Rome", "and Paris?") == BY_RULES
