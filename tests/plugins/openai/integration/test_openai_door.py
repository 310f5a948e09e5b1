"""What OpenAI's clients do not show: restarts, tokens, anonymous visitors, words as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.testing.channel_kit import STRICT, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener

OPEN = AccessPolicy(anonymous=True, loopback=False)
ANN = {"Authorization": "Bearer the-token-of-ann"}


async def recall(request: dict[str, Any]) -> dict[str, Any]:
    said = "|".join(utterance["text"] for utterance in request["utterances"])
    return {"text": said, "confidence": 0.9}


@asynccontextmanager
async def door(
    skill: Callable[..., Any] = recall,
    *,
    store: str = "memory:",
    auth: AccessPolicy | None = None,
    **options: Any,
) -> AsyncIterator[aiohttp.ClientSession]:
    pipeline = Pipeline(skills=[Service("skill", skill)])
    async with Assistant(pipeline, store=store, **options) as assistant:
        app = Listener(assistant, [OpenAi(assistant)], auth=auth)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield http


async def say(
    http: aiohttp.ClientSession, *messages: str, headers: dict[str, str] | None = None, **more: Any
) -> dict[str, Any]:
    """Send what was said so far, by user and assistant in turn."""
    roles = ["user" if n % 2 == 0 else "assistant" for n in range(len(messages))]
    said = [{"role": role, "content": text} for role, text in zip(roles, messages, strict=True)]
    body = {"model": "assistant", "messages": said, **more}
    async with http.post("/v1/chat/completions", json=body, headers=headers) as response:
        answer: dict[str, Any] = await response.json()
        return {"status": response.status, "headers": response.headers, **answer}


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"])


async def test_a_conversation_survives_a_restart(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/dialogs.db"
    async with door(store=store) as http:
        first = await say(http, "one")
    async with door(store=store) as http:
        second = await say(http, "one", "one", "two")

    assert text_of(second) == "one|one|two"
    assert second["prolocutor"]["dialog_id"] == first["prolocutor"]["dialog_id"]


async def test_an_idempotency_key_gets_the_stored_reply_also_when_the_dialog_has_gone_on() -> None:
    key = {"Idempotency-Key": "k"}
    async with door() as http:
        await say(http, "one")
        second = await say(http, "one", "one", "two", headers=key)
        await say(http, "one", "one", "two", text_of(second), "three")
        again = await say(http, "one", "one", "two", headers=key)
        first = [await say(http, "new", headers={"Idempotency-Key": "n"}) for _ in range(2)]

    assert again["id"] == second["id"]
    assert first[0]["id"] == first[1]["id"]


async def test_two_requests_at_once_with_one_history_branch() -> None:
    async with door() as http:
        await say(http, "one")
        answers = await asyncio.gather(*(say(http, "one", "one", text) for text in "abc"))

    assert sorted(map(text_of, answers)) == ["one|one|a", "one|one|b", "one|one|c"]
    assert len({answer["prolocutor"]["dialog_id"] for answer in answers}) == 3


async def test_a_person_is_known_by_their_token_and_nobody_elses_history_is_theirs() -> None:
    async with door(auth=STRICT) as http:
        first = await say(http, "one", headers=ANN)
        bob = {"Authorization": "Bearer the-token-of-bob"}
        other = await say(http, "one", "one", "two", headers=bob)
        own = await say(http, "one", "one", "two", headers=ANN)
        refused = await say(http, "one", headers=ANN, user="bob")
        unknown = await say(http, "one", headers={"Authorization": "Bearer sk-guess"})

    dialogs = [one["prolocutor"]["dialog_id"] for one in (first, other, own)]
    assert dialogs[0] == dialogs[2] != dialogs[1]
    assert refused["status"] == 403
    assert refused["error"]["param"] == "user"
    assert unknown["status"] == 401
    assert unknown["error"]["code"] == "invalid_api_key"


async def test_an_anonymous_visitor_goes_on_by_history_or_by_the_issued_id_alone() -> None:
    async with door(auth=OPEN) as http:
        first = await say(http, "hi", headers={"Authorization": "Bearer anything"})
        id_ = first["prolocutor"]["conversation_id"]
        by_id = await say(http, "there", metadata={"conversation_id": id_})
        guessed = await say(http, "there", metadata={"conversation_id": "1"})
        named = await say(http, "hi", user="ann")

    assert text_of(by_id) == "hi|hi|there"
    assert [guessed["status"], named["status"]] == [403, 403]


async def test_a_second_chat_of_one_user_is_a_dialog_of_its_own() -> None:
    async with door() as http:
        await say(http, "one", user="ann")
        await say(http, "one", "one", "two", user="ann")
        fresh = await say(http, "other", user="ann")

    assert text_of(fresh) == "other"


async def test_parts_of_a_message_and_what_clients_add_reach_the_skill_untouched() -> None:
    heard: list[dict[str, Any]] = []

    async def listen(request: dict[str, Any]) -> dict[str, Any]:
        heard.append(request["human_utterances"][-1])
        return {"text": "ok", "confidence": 1.0}

    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    content = [{"type": "text", "text": "look"}, picture]
    messages = [
        {"role": "developer", "content": "be brief"},
        {"role": "tool", "content": "7", "tool_call_id": "x"},
        {"role": "user", "content": content},
    ]
    body = {
        "model": "assistant",
        "messages": messages,
        "metadata": {"a": "b"},
        "attributes": {"x": [1]},
        "temperature": 0.2,
        "tools": [{"type": "function", "function": {"name": "look_up"}}],
    }
    async with door(listen) as http, http.post("/v1/chat/completions", json=body) as response:
        assert response.status == 200

    assert heard[0]["text"] == "look"
    assert heard[0]["attributes"] == {
        "x": [1],
        "openai": {"instructions": "be brief", "metadata": {"a": "b"}, "parts": [picture]},
    }


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
async def test_words_are_sent_as_they_come(path: str) -> None:
    heard = asyncio.Event()

    async def flow(request: dict[str, Any]) -> AsyncIterator[str]:
        yield "one "
        await heard.wait()
        yield "two"

    body = {"model": "assistant", "stream": True}
    said = [{"role": "user", "content": "go"}]
    body |= {"messages": said} if "chat" in path else {"input": said}
    data: list[dict[str, Any]] = []
    async with door(flow) as http, http.post(path, json=body) as response:
        assert response.content_type == "text/event-stream"
        async for line in response.content:
            if b'"one "' in line:
                heard.set()
            if line.startswith(b"data: {"):
                data.append(json.loads(line[6:]))

    if "chat" in path:
        words = [one["choices"][0]["delta"].get("content", "") for one in data]
    else:
        words = [one["delta"] for one in data if one["type"].endswith("text.delta")]
    assert [word for word in words if word] == ["one ", "two"]


async def test_unknown_addresses_and_overload_are_told_in_openais_form() -> None:
    async with door() as http:
        async with http.get("/v1/embeddings") as response:
            unknown = await response.json()
        async with http.post("/v1/chat/completions", data="{") as response:
            nonsense = await response.json()
        async with http.post("/v1/responses", json={"model": "assistant"}) as response:
            silent = await response.json()
        empty = [{"role": "user", "content": [{"type": "text"}]}]
        body = {"model": "assistant", "messages": empty}
        async with http.post("/v1/chat/completions", json=body) as response:
            textless = response.status

    assert unknown["error"]["type"] == "invalid_request_error"
    assert nonsense["error"]["param"] == "Content-Type"
    assert silent["error"]["param"] == "input"
    assert textless == 400


async def test_a_full_queue_says_when_to_come_back() -> None:
    entered, opened = asyncio.Event(), asyncio.Event()

    async def wait(request: dict[str, Any]) -> dict[str, Any]:
        entered.set()
        await opened.wait()
        return {"text": "ok", "confidence": 1.0}

    async with door(wait, queue_limit=1) as http:
        running_ = asyncio.ensure_future(say(http, "a", user="ann"))
        await entered.wait()
        refused = await say(http, "b", user="ann")
        opened.set()
        await running_

    assert refused["status"] == 429
    assert refused["error"]["code"] == "rate_limit_exceeded"
    assert refused["headers"]["Retry-After"]


async def test_a_response_is_in_progress_while_its_turn_runs_also_without_its_stream() -> None:
    entered, opened = asyncio.Event(), asyncio.Event()

    async def slow(request: dict[str, Any]) -> str:
        entered.set()
        await opened.wait()
        return "done"

    async def shown(id_: str, who: str) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer the-token-of-{who}"}
        async with http.get(f"/v1/responses/{id_}", headers=headers) as response:
            return response.status, (await response.json()).get("status")

    body = {"model": "assistant", "input": "hi", "stream": True}
    async with door(slow, auth=STRICT, deadline=60.0) as http, asyncio.timeout(60):
        async with http.post("/v1/responses", json=body, headers=ANN) as response:
            await response.content.readline()
            created = json.loads((await response.content.readline())[6:])
            await entered.wait()
        id_ = created["response"]["id"]
        running = [await shown(id_, who) for who in ("ann", "bob")]
        opened.set()
        while (await shown(id_, "ann"))[1] == "in_progress":
            pass
        after = [await shown(id_, who) for who in ("ann", "bob")]

    assert running == [(200, "in_progress"), (404, None)]
    assert after == [(200, "completed"), (404, None)]


async def test_a_deleted_conversation_does_not_begin_anew() -> None:
    async with door(auth=STRICT) as http:
        async with http.post("/v1/conversations", json={}, headers=ANN) as response:
            where = f"/v1/conversations/{(id_ := (await response.json())['id'])}"
        body = {"model": "assistant", "input": "hi", "conversation": id_}
        async with http.post("/v1/responses", json=body, headers=ANN) as response:
            before = await response.json()
        async with http.delete(where, headers=ANN) as response:
            told = [response.status]
        further = {"model": "assistant", "input": "on", "previous_response_id": before["id"]}
        for one in (body, further):
            async with http.post("/v1/responses", json=one, headers=ANN) as response:
                told.append(response.status)
        for method, path in (("GET", where), ("DELETE", where), ("GET", f"{where}/items")):
            async with http.request(method, path, headers=ANN) as response:
                told.append(response.status)

    assert told == [200, 404, 404, 404, 404, 404]


@pytest.mark.parametrize("message", [{}, {"content": None}, {"content": []}])
@pytest.mark.parametrize(
    ("path", "field"), [("/v1/chat/completions", "messages"), ("/v1/responses", "input")]
)
async def test_a_message_without_content_is_refused(
    message: dict[str, Any], path: str, field: str
) -> None:
    body = {"model": "assistant", field: [{"role": "user", **message}]}
    async with door() as http, http.post(path, json=body) as response:
        told = await response.json()

    assert response.status == 400
    assert told["error"]["param"] == field


async def test_a_response_that_is_not_to_be_stored_is_not_found_by_its_id() -> None:
    async with door() as http:
        body = {"model": "assistant", "input": "hello", "store": False}
        async with http.post("/v1/responses", json=body) as response:
            made = await response.json()
        async with http.get(f"/v1/responses/{made['id']}") as response:
            found = response.status
        more = {"model": "assistant", "input": "more", "previous_response_id": made["id"]}
        async with http.post("/v1/responses", json=more) as response:
            gone_on = response.status

    assert made["store"] is False
    assert found == 404
    assert gone_on == 404


TASK = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Output:
JSON format: {{ "{key}": "..." }}
### Chat History:
<chat_history>
USER: when does the last train to Basel leave, please?
ASSISTANT: At 23:12.
</chat_history>"""


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("title", {"title": "When does the last train to"}),
        ("tags", {"tags": []}),
        ("follow_ups", {"follow_ups": []}),
    ],
)
async def test_side_tasks_of_open_webui_are_done_without_asking_anybody(
    key: str, told: dict[str, Any]
) -> None:
    async with door() as http:
        answer = await say(http, TASK.format(key=key))
        spoken = await say(http, TASK.format(key="other"))

    assert json.loads(text_of(answer)) == told
    assert answer["prolocutor"]["dialog_id"] == ""
    assert answer["prolocutor"]["skill"] == ""
    assert spoken["prolocutor"]["skill"] == "skill"


async def test_the_skill_that_is_named_for_side_tasks_does_them() -> None:
    pipeline = Pipeline(skills=[Service("skill", recall), Service("titles", _titles)])
    async with Assistant(pipeline, store="memory:") as assistant:
        app = Listener(assistant, [OpenAi(assistant, tasks="titles")])
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            answer = await say(http, TASK.format(key="title"))
        dialogs = await assistant.store.dialog_ids()

    assert text_of(answer) == '{"title": "Trains"}'
    assert dialogs == []


def _titles(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": '{"title": "Trains"}', "confidence": 0.2}
