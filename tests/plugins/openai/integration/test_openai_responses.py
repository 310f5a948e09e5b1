"""Responses, prices and functions of an OpenAI-like endpoint; the peer is our own door."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ConfigError
from prolocutor.observe.logs import TurnLog
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.openai.chat import ChatModel, OpenAiChatConnector
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.testing.channel_kit import running
from prolocutor.testing.connector_kit import ask, closing
from prolocutor.web.listener import Listener
from tests.chat_peer import chat_peer
from tests.integration.connectors.raw_server import raw_server

STATE = {
    "utterances": [
        {"text": "Hi."},
        {"text": "Hello.", "active_skill": "a"},
        {"text": "What is new?"},
    ]
}


async def parrot(request: dict[str, Any]) -> dict[str, Any]:
    told = request["human_utterances"][-1]["attributes"].get("openai", {})
    said = "|".join(utterance["text"] for utterance in request["utterances"])
    return {"text": f"{told.get('instructions')}: {said}", "confidence": 1.0}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/v1/responses", "/v1"])
async def test_either_api_gives_a_hypothesis_with_its_cost(path: str, stream: bool) -> None:
    async with (
        Assistant(Pipeline(skills=[Service("parrot", parrot)]), store="memory:") as peer,
        running(Listener(peer, [OpenAi(peer)])) as url,
    ):
        connector = OpenAiChatConnector(
            ChatModel(
                url=url + path,
                model="assistant",
                system="Be brief.",
                stream=stream,
                price={"input": 1_000_000, "output": 2_000_000},
            ),
            name="helper",
        )
        async with closing(connector) as chat:
            reply = await ask(chat, STATE)

    assert isinstance(reply, Plain)
    (one,) = reply.value
    usage = one["usage"]
    assert one["text"] == "Be brief.: Hi.|Hello.|What is new?"
    assert usage["output_tokens"] > 0
    assert one["cost"] == usage["input_tokens"] + 2 * usage["output_tokens"]


async def test_the_cost_of_a_turn_is_that_of_its_hypotheses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    recent = RecentTurns()
    caplog.set_level("INFO")
    async with chat_peer("yes") as peer:
        target = OpenAiChatConnector(
            ChatModel(url=peer.url, model="m", price={"output": 500_000}), name="m"
        )
        skills = [Service("a", target), Service("b", target)]
        observers = [recent, TurnLog()]
        pipeline = Pipeline(skills=skills)
        async with Assistant(pipeline, store="memory:", observers=observers) as assistant:
            await assistant.reply("hi", "ann")

    assert recent.last(1)[0].cost == 1.0


async def test_functions_are_not_offered_and_tools_of_the_server_are() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}, {"type": "web_search"}]
    async with chat_peer("ok") as peer:
        parameters = {"tools": tools, "tool_choice": "required"}
        connector = OpenAiChatConnector(
            ChatModel(url=peer.url, model="m", parameters=parameters), name="m"
        )
        async with closing(connector) as chat:
            await ask(chat, "hi")

    assert peer.asked[0].keys() == {"model", "messages", "tools"}
    assert peer.asked[0]["tools"] == tools[1:]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b'{"status":"failed","error":{"message":"no quota"}}', "no quota"),
        (b'{"output":[{"type":"function_call","name":"f"}]}', "call a tool"),
        (
            b'{"output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}',
            "it refuses: no",
        ),
        (
            b'{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}',
            "content filter",
        ),
        (b'{"output": 7}', "not a response"),
    ],
)
async def test_a_response_without_a_text_is_a_failure(body: bytes, what: str) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    async with raw_server(head % len(body) + body) as server:
        connector = OpenAiChatConnector(
            ChatModel(url=f"{server.url}/responses", model="m"), name="m"
        )
        async with closing(connector) as chat:
            reply = await ask(chat, "hi")

    assert isinstance(reply, BadReply)
    assert what in str(reply)


@pytest.mark.parametrize("price", [{"inputs": 1}, {"input": "much"}, {"output": -1}])
def test_a_wrong_price_is_refused(price: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="expected a price"):
        OpenAiChatConnector(ChatModel(url="http://h/v1", model="m", price=price), name="m")
