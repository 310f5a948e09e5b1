"""A JSON Schema and tools of the client: for chat models alone, and what others say is checked."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.openai.chat import ChatModel
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.plugins.openai.door.tool_rounds import schema_fault
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener
from tests.chat_peer import ChatPeer, chat_peer

WEATHER = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {}}}}
TOOL = {"type": "function", "function": WEATHER}
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'},
}
CALLS = {"content": None, "tool_calls": [CALL], "finish_reason": "tool_calls"}
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
FORM = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}


class Talk:
    """A client, the model behind one skill, and what the other skill was shown."""

    def __init__(self, http: aiohttp.ClientSession, peer: ChatPeer, seen: list[str]) -> None:
        self.http, self.peer, self.seen = http, peer, seen

    async def post(self, path: str, **body: Any) -> tuple[int, Any]:
        async with self.http.post(f"/v1/{path}", json={"model": "assistant", **body}) as response:
            if body.get("stream") and response.status == 200:
                lines = (await response.text()).split("\n")
                data = [line[6:] for line in lines if line.startswith("data: {")]
                return 200, [json.loads(one) for one in data]
            return response.status, await response.json()


@asynccontextmanager
async def talking(
    *replies: Any, confidence: float = 0.9, store: str = "memory:"
) -> AsyncIterator[Talk]:
    seen: list[str] = []

    def other(request: dict[str, Any]) -> dict[str, Any]:
        seen.append(json.dumps(request))
        return {"text": "words of another", "confidence": 0.6}

    async with chat_peer(*replies) as peer:
        model = ChatModel(url=peer.url, model="m", system="be kind", confidence=confidence)
        pipeline = Pipeline(skills=[Service("model", model), Service("other", other)])
        async with (
            Assistant(pipeline, store=store) as assistant,
            running(Listener(assistant, [OpenAi(assistant)])) as url,
            aiohttp.ClientSession(url) as http,
        ):
            yield Talk(http, peer, seen)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def test_a_schema_is_passed_to_the_model_and_its_answer_handed_on() -> None:
    said = '{"name": "Ann", "age": 7}'
    async with talking(said) as talk:
        status, told = await talk.post(
            "chat/completions", messages=[user("who?")], response_format=FORM
        )
        text = {"format": {"type": "json_schema", **FORM["json_schema"]}}
        _, response = await talk.post("responses", input="who?", text=text)

    assert status == 200
    assert told["choices"][0]["message"]["content"] == said
    assert response["output"][0]["content"][0]["text"] == said
    assert [one["response_format"] for one in talk.peer.asked] == [FORM, FORM]
    assert '"integer"' not in "".join(talk.seen)


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
async def test_an_answer_of_another_that_does_not_fit_is_refused(path: str) -> None:
    body: dict[str, Any] = {"messages": [user("who?")], "response_format": FORM}
    if path == "responses":
        text = {"format": {"type": "json_schema", **FORM["json_schema"]}}
        body = {"input": "who?", "text": text}
    async with talking("x", confidence=0.1) as talk:
        status, told = await talk.post(path, **body)
        _, events = await talk.post(path, stream=True, **body)

    assert status == 422
    assert "the answer of other does not fit the schema: it is not JSON" in told["error"]["message"]
    last = events[-1].get("error") or events[-1]["response"]["error"]
    assert "does not fit the schema" in last["message"]


@pytest.mark.parametrize("streams", [False, True])
async def test_calls_of_tools_are_handed_to_the_client_and_results_taken(streams: bool) -> None:
    async with talking(CALLS, "It is sunny.", "You are welcome.") as talk:
        asked = [{"role": "system", "content": "be brief"}, user("weather?")]
        body = {"tools": [TOOL], "tool_choice": "auto", "stream": streams}
        _, called = await talk.post("chat/completions", messages=asked, **body)
        if streams:
            deltas = [one["choices"][0]["delta"] for one in called]
            calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
            reason = called[-1]["choices"][0]["finish_reason"]
            calls = [{key: call[key] for key in call if key != "index"} for call in calls]
        else:
            (choice,) = called["choices"]
            calls, reason = choice["message"]["tool_calls"], choice["finish_reason"]
            assert choice["message"]["content"] is None
        asked += [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "call_1", "content": "22 degrees"},
        ]
        before = len(talk.seen)
        _, told = await talk.post("chat/completions", messages=asked, tools=[TOOL])
        alone = len(talk.seen) == before
        asked += [told["choices"][0]["message"], user("thanks")]
        await talk.post("chat/completions", messages=asked, tools=[TOOL])

    assert calls == [CALL]
    assert reason == "tool_calls"
    assert told["choices"][0]["message"]["content"] == "It is sunny."
    first, second, third = talk.peer.asked
    assert first["tools"] == [TOOL]
    assert [message["role"] for message in first["messages"]] == ["system", "system", "user"]
    assert second["messages"][-2:] == asked[2:4]
    assert third["messages"][-1]["content"] == "thanks"
    assert alone
    assert not [one for one in talk.seen if "get_weather" in one or "22 degrees" in one]


@pytest.mark.parametrize("streams", [False, True])
async def test_results_go_on_from_a_response_by_its_id(streams: bool) -> None:
    flat = {"type": "function", **WEATHER}
    async with talking(CALLS, "It is sunny.") as talk:
        _, told = await talk.post("responses", input="weather?", tools=[flat], stream=streams)
        response = told[-1]["response"] if streams else told
        result = {"type": "function_call_output", "call_id": "call_1", "output": "22 degrees"}
        _, last = await talk.post(
            "responses", input=[result], previous_response_id=response["id"], tools=[flat]
        )

        async with talk.http.get(f"/v1/responses/{response['id']}") as shown:
            stored = (await shown.json())["output"]

    (call,) = response["output"]
    assert stored == [call]
    assert call["type"] == "function_call"
    assert call["name"] == "get_weather"
    assert last["output"][0]["content"][0]["text"] == "It is sunny."
    roles = [message["role"] for message in talk.peer.asked[1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool"]


async def test_results_are_waited_for_after_a_restart_and_only_those(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/a.db"
    asked = [user("weather?"), {"role": "assistant", "tool_calls": [CALL]}]
    result = {"role": "tool", "tool_call_id": "call_1", "content": "22"}
    async with talking(CALLS, store=store) as talk:
        await talk.post("chat/completions", messages=asked[:1], tools=[TOOL])
    async with talking("It is sunny.", store=store) as talk:
        _, told = await talk.post("chat/completions", messages=[*asked, result], tools=[TOOL])
        unknown = {**result, "tool_call_id": "call_9"}
        status, refused = await talk.post("chat/completions", messages=[*asked, unknown])

    assert told["choices"][0]["message"]["content"] == "It is sunny."
    assert status == 400
    assert refused["error"]["param"] == "tool_call_id"


async def test_results_find_the_skill_though_others_asked_the_same() -> None:
    def called(id_: str) -> dict[str, Any]:
        return {**CALLS, "tool_calls": [{**CALL, "id": id_}]}

    async with talking(called("a"), called("b"), called("c"), "It is sunny.") as talk:
        for _ in "abc":
            await talk.post("chat/completions", messages=[user("weather?")], tools=[TOOL])
        told = []
        for id_ in "bca":
            calls = {"role": "assistant", "tool_calls": [{**CALL, "id": id_}]}
            result = {"role": "tool", "tool_call_id": id_, "content": "22"}
            messages = [user("weather?"), calls, result]
            told.append(await talk.post("chat/completions", messages=messages, tools=[TOOL]))

    assert [status for status, _ in told] == [200] * 3
    assert len({one["prolocutor"]["dialog_id"] for _, one in told}) == 3


async def test_a_request_that_is_sent_again_gets_the_same_calls() -> None:
    async with talking(CALLS, "other") as talk:
        talk.http.headers["Idempotency-Key"] = "k"
        body = {"messages": [user("weather?")], "tools": [TOOL]}
        told = [await talk.post("chat/completions", **body) for _ in range(2)]

    assert told[0][1]["choices"] == told[1][1]["choices"]
    assert len(talk.peer.asked) == 1


async def test_a_call_that_nobody_offered_is_no_answer() -> None:
    async with talking(CALLS) as talk:
        _, told = await talk.post("chat/completions", messages=[user("weather?")])

    assert told["choices"][0]["message"]["content"] == "words of another"


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        (PERSON, {"name": "Ann", "age": 7}, ""),
        (PERSON, {"name": "Ann"}, "$.age: missing"),
        (PERSON, {"name": "Ann", "age": True}, "$.age: not of type integer"),
        (PERSON, {"name": "Ann", "age": 7, "x": 1}, "$.x: not allowed"),
        ({"type": ["string", "null"]}, None, ""),
        ({"enum": [1, "a"]}, True, "$: none of [1, 'a']"),
        ({"const": "a"}, "b", "$: not 'a'"),
        ({"items": {"type": "string", "minLength": 2}}, ["ab", "c"], "$[1]: minLength is 2"),
        ({"maximum": 3, "exclusiveMinimum": 1}, 1, "$: exclusiveMinimum is 1"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 5, "$: not of type string"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 5, "$: fits several of oneOf"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array"}}}, {}, "$: not of type array"),
        ({"$ref": "#"}, {}, ""),
    ],
)
def test_a_value_outside_of_a_schema_is_told(schema: Any, value: Any, fault: str) -> None:
    assert schema_fault(schema, value) == fault
