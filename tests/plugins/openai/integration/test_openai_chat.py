"""A chat endpoint as a skill, over real sockets: its text is a hypothesis, its errors never are."""

import asyncio
from typing import Any

import msgspec
import pytest

from prolocutor.dialog.plain import Plain
from prolocutor.errors import (
    BadReply,
    ConfigError,
    ServiceError,
    ServiceRefused,
    ServiceUnreachable,
)
from prolocutor.plugins.openai.chat import ChatModel, OpenAiChatConnector
from prolocutor.testing.connector_kit import ask, closing
from prolocutor.testing.fake_service import FakeDeltas, FakeRequest
from tests.chat_peer import Refused, chat_peer
from tests.integration.connectors.raw_server import raw_server
from tests.integration.connectors.scripted_server import Visit, scripted_server

STATE = {
    "utterances": [
        {"text": "Hi.", "user": {}},
        {"text": "Hello, Ann.", "active_skill": "greeter"},
        {"text": "What is new?", "user": {}},
    ]
}


def connector(url: str, **options: Any) -> OpenAiChatConnector:
    return OpenAiChatConnector(ChatModel(url=url, model="m", **options), name="helper")


@pytest.mark.parametrize("stream", [False, True])
async def test_the_text_of_a_completion_is_a_hypothesis(stream: bool) -> None:
    async with (
        chat_peer("Not much, Ann. \N{GRINNING FACE}") as peer,
        closing(connector(peer.url, stream=stream, confidence=0.7)) as chat,
    ):
        reply = await ask(chat, STATE)

    assert isinstance(reply, Plain)
    (hypothesis,) = reply.value
    said = {key: hypothesis[key] for key in ("text", "confidence")}
    assert said == {"text": "Not much, Ann. \N{GRINNING FACE}", "confidence": 0.7}
    assert ("usage" in hypothesis) is not stream  # a stream counts where there is a price


async def test_the_window_becomes_messages_after_the_system_prompt() -> None:
    async with (
        chat_peer("ok") as peer,
        closing(connector(peer.url, system="Be brief.", parameters={"temperature": 0})) as chat,
    ):
        await ask(chat, STATE)

    assert peer.asked == [
        {
            "model": "m",
            "temperature": 0,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hi."},
                {"role": "assistant", "content": "Hello, Ann."},
                {"role": "user", "content": "What is new?"},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("asked", "messages"),
    [
        ("hi", [{"role": "user", "content": "hi"}]),
        ([{"role": "user", "content": "a"}], [{"role": "user", "content": "a"}]),
        ({"messages": [{"role": "user", "content": "b"}]}, [{"role": "user", "content": "b"}]),
    ],
)
async def test_a_formatter_may_give_a_text_messages_or_a_body(asked: Any, messages: Any) -> None:
    async with chat_peer("ok") as peer, closing(connector(peer.url)) as chat:
        await ask(chat, asked)

    assert peer.asked[0]["messages"] == messages


async def test_the_key_goes_along_as_a_bearer_token_and_shows_nowhere_else() -> None:
    async with (
        chat_peer("ok", key="s3cret") as peer,
        closing(connector(peer.url, key="s3cret")) as chat,
        closing(connector(peer.url, key="wrong-key")) as stranger,
        closing(connector(peer.url.replace("//", "//:s3cret@"))) as within,
    ):
        good = await ask(chat, "hi")
        also_good = await ask(within, "hi")
        refused = await ask(stranger, "hi")

    assert isinstance(good, Plain)
    assert isinstance(also_good, Plain)
    assert isinstance(refused, ServiceRefused)
    assert refused.status == 401
    assert "wrong-key" not in str(refused)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("message", "what"),
    [
        ({"content": None, "tool_calls": [], "finish_reason": "tool_calls"}, "a tool"),
        ({"content": "half a", "finish_reason": "content_filter"}, "content filter"),
    ],
)
async def test_an_invalid_answer_is_a_failure(stream: bool, message: Any, what: str) -> None:
    async with chat_peer(message) as peer, closing(connector(peer.url, stream=stream)) as chat:
        reply = await ask(chat, "hi")

    assert isinstance(reply, BadReply)
    assert what in str(reply)


async def test_a_refusal_is_a_failure_and_an_empty_text_no_hypothesis() -> None:
    async with (
        chat_peer({"refusal": "I cannot help with that."}, "  ") as peer,
        closing(connector(peer.url)) as chat,
    ):
        refused = await ask(chat, "hi")
        empty = await ask(chat, "hi")

    assert isinstance(refused, BadReply)
    assert isinstance(empty, Plain)
    assert empty.value == []


@pytest.mark.parametrize(
    ("status", "passing"), [(400, False), (404, False), (429, True), (500, True), (503, True)]
)
async def test_an_error_of_the_server_is_a_refusal_with_its_status(
    status: int, passing: bool
) -> None:
    async with (
        chat_peer(Refused(status, "rate limit reached", "x")) as peer,
        closing(connector(peer.url)) as chat,
    ):
        reply = await ask(chat, "hi")

    assert isinstance(reply, ServiceRefused)
    assert reply.status == status
    assert reply.passing == passing


async def test_a_stream_that_breaks_off_is_no_answer() -> None:
    async with chat_peer("one two three") as peer, closing(connector(peer.url, stream=True)) as c:
        peer.broken_after = 2
        reply = await ask(c, "hi")

    assert isinstance(reply, ServiceUnreachable)


async def test_several_requests_are_asked_at_once_and_fail_each_alone() -> None:
    async with chat_peer("ok") as peer, closing(connector(peer.url)) as chat:
        replies = await chat.send([FakeRequest("hi"), FakeRequest(7), FakeRequest("ho")])

    assert [type(reply) for reply in replies] == [Plain, BadReply, Plain]


def test_a_chat_endpoint_needs_a_model_and_a_number_as_confidence() -> None:
    with pytest.raises(ConfigError, match="needs a model"):
        OpenAiChatConnector(ChatModel(url="http://localhost/v1"), name="helper")
    with pytest.raises(ConfigError, match="expected a number"):
        OpenAiChatConnector(
            ChatModel(url="http://localhost/v1?model=m&confidence=high"), name="helper"
        )


MALFORMED: list[Any] = [
    None, 7, "text", [], {}, [{}], {"choices": None}, {"choices": 7}, {"choices": [7]},
    {"choices": [{}]}, {"choices": [{"message": None}]}, {"choices": [{"message": 7}]},
    {"choices": [{"message": {"content": 7}}]}, {"choices": [{"message": {"content": ["a"]}}]},
    {"choices": [{"message": {"content": "a"}, "finish_reason": 7}]},
    {"choices": [{"delta": {"content": "a"}}]}, {"error": 7}, {"error": {"message": [1]}},
    {"error": ["no"]}, {"choices": [{"delta": 7}]}, {"choices": {"0": {}}},
]  # fmt: skip


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("malformed", MALFORMED, ids=str)
async def test_a_malformed_completion_is_a_failure_of_the_service(
    malformed: Any, stream: bool
) -> None:
    body = msgspec.json.encode(malformed)
    if stream:
        body = b"data: " + body + b"\n\n"
    kind = b"text/event-stream" if stream else b"application/json"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
    async with (
        raw_server(head % (kind, len(body)) + body) as server,
        closing(connector(server.url)) as chat,
    ):
        reply = await ask(chat, "hi")

    assert isinstance(reply, ServiceError)


@pytest.mark.parametrize("block", [b"\n", b"\r\n\r\n", b":\n", b'data: {"choices": []}\n\n'])
async def test_a_stream_without_end_is_given_up_and_holds_nobody_up(block: bytes) -> None:
    async def script(visit: Visit) -> None:
        await visit.request()
        await visit.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while True:
            await visit.say(block * (100_000 // len(block)))

    steps = 0

    async def count_steps() -> None:
        nonlocal steps
        while True:
            await asyncio.sleep(0)
            steps += 1

    async with scripted_server(script) as server, closing(connector(server.url)) as chat:
        counting = asyncio.create_task(count_steps())
        reply = await ask(chat, "hi")
        counting.cancel()

    assert isinstance(reply, BadReply)
    assert "a stream of more than" in str(reply)
    assert steps > 1


@pytest.mark.parametrize(
    "state",
    [None, 7, {}, {"utterances": None}, {"utterances": [7]}, {"utterances": [{}]}, {"messages": 7}],
    ids=str,
)
async def test_a_request_other_than_an_agent_state_is_a_failure_of_the_call(state: Any) -> None:
    async with closing(connector("http://127.0.0.1:1/v1")) as chat:
        reply = await ask(chat, state)

    assert isinstance(reply, BadReply)
    assert "needs the agent state" in str(reply)


async def test_a_chat_model_is_asked_to_stream_where_its_words_can_be_shown() -> None:
    deltas = FakeDeltas()
    async with (
        chat_peer(" Not much, Ann.  ") as peer,
        closing(
            OpenAiChatConnector(ChatModel(url=peer.url, model="m", confidence=0.7), name="helper")
        ) as chat,
        closing(
            OpenAiChatConnector(ChatModel(url=peer.url, model="m", stream=False), name="h")
        ) as silent,
    ):
        (reply,) = await chat.send([FakeRequest("hi", deltas=deltas)])
        await chat.send([FakeRequest("hi")])
        await silent.send([FakeRequest("hi", deltas=deltas)])

    assert reply.value == [{"text": "Not much, Ann.", "confidence": 0.7}]  # type: ignore[union-attr]
    assert deltas.pieces == ["Not", " much,", " Ann."]
    assert deltas.confidence == 0.7
    assert ["stream" in body for body in peer.asked] == [True, False, False]
