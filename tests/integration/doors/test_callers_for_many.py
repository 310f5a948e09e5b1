"""Callers that speak for many, at A2A, MCP and AG-UI: each of their contexts is a person."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.ids import new_id
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.a2a.door.door import A2a
from prolocutor.plugins.agui.channel import AgUi
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.testing.channel_kit import running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener

KEYED = AccessPolicy(
    keys={"the-key-of-shop": "shop", "the-key-of-desk": "desk"},
    tokens={"the-token-of-ann": "ann"},
    loopback=False,
)
UNNAMED = AccessPolicy(keys=["one-key", "other-key"], loopback=False)
DOORS = ["a2a", "mcp", "agui"]
KINDS = {"a2a": "context", "mcp": "conversation", "agui": "thread"}


class Memory:
    """A skill that remembers what a person said before, and waits for `parties` at "meet"."""

    def __init__(self) -> None:
        self.barrier = asyncio.Barrier(3)

    async def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        text = request["human_utterances"][-1]["text"]
        known = request["human"]["attributes"].get("said", [])
        if text == "meet":
            await self.barrier.wait()
        user = request["human"]["user_external_id"]
        told = {"said": [*known, text]}
        said = json.dumps([user, known])
        return {"text": said, "confidence": 1.0, "human_attributes": told}


class Caller:
    """Says something at one of the doors."""

    def __init__(self, http: aiohttp.ClientSession, assistant: Assistant, door: str) -> None:
        self.http, self.assistant, self.door = http, assistant, door

    async def say(
        self,
        text: str,
        context: str,
        *,
        key: str = "",
        query: str = "",
        header: str = "",
        named: Any = None,
    ) -> Any:
        """Return the person, and what was known of them; the status where it is refused."""
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {key}"} if key else {}
        headers |= {"X-Prolocutor-User": header} if header else {}
        path = f"/{self.door}" + (f"?user={query}" if query else "")
        body = getattr(self, f"_{self.door}")(text, context, {"user": named} if named else {})
        async with self.http.post(path, json=body, headers=headers) as response:
            told = await response.text()
            return _said(self.door, told) if response.status == 200 else response.status

    def _a2a(self, text: str, context: str, named: dict[str, Any]) -> Any:
        parts = [{"text": text}]
        message = {"messageId": new_id(), "role": "ROLE_USER", "parts": parts, "metadata": named}
        message |= {"contextId": context} if context else {}
        return {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}

    def _mcp(self, text: str, context: str, named: dict[str, Any]) -> Any:
        arguments = {"text": text} | ({"conversation_id": context} if context else {})
        params = {"name": "ask", "arguments": arguments, "_meta": named}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    def _agui(self, text: str, context: str, named: dict[str, Any]) -> Any:
        message = {"id": "1", "role": "user", "content": text}
        thread = context or new_id()
        run = {"threadId": thread, "runId": new_id(), "messages": [message]}
        return {**run, "forwardedProps": named}


def _said(door: str, told: str) -> Any:
    if door == "agui":
        last = json.loads(told.strip().rpartition("data: ")[2])
        return json.loads(last["result"]["text"])
    result = json.loads(told).get("result")
    if result is None:
        return "refused"
    if door == "a2a":
        return json.loads(result["task"]["artifacts"][0]["parts"][0]["text"])
    return "refused" if result["isError"] else json.loads(result["structuredContent"]["text"])


@asynccontextmanager
async def calling(door: str, auth: AccessPolicy | None = None) -> AsyncIterator[Caller]:
    pipeline = Pipeline(skills=[Service("memory", Memory(), timeout=60.0)])
    async with Assistant(pipeline, store="memory:", deadline=60.0) as assistant:
        made = {"a2a": A2a, "mcp": Mcp, "agui": AgUi}[door](assistant)
        async with (
            running(Listener(assistant, [made, DeepPavlov(assistant)], auth=auth)) as url,
            aiohttp.ClientSession(url) as http,
            asyncio.timeout(60),
        ):
            yield Caller(http, assistant, door)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("auth", "key"), [(None, ""), (KEYED, "the-key-of-shop")])
@pytest.mark.parametrize("contexts", [("a", "b", "c"), ("", "", "")])
async def test_calls_in_contexts_of_their_own_are_answered_at_once(
    door: str, auth: AccessPolicy | None, key: str, contexts: tuple[str, ...]
) -> None:
    async with calling(door, auth) as caller:
        told = await asyncio.gather(*(caller.say("meet", context, key=key) for context in contexts))

    assert len({user for user, _ in told}) == 3


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("auth", "key", "mark"), [(None, "", ""), (KEYED, "the-key-of-shop", "shop:")]
)
async def test_a_context_is_a_person_of_its_own(
    door: str, auth: AccessPolicy | None, key: str, mark: str
) -> None:
    async with calling(door, auth) as caller:
        told = [await caller.say(f"{n}", one, key=key) for n, one in enumerate("xyx")]

    x, y = (f"{door}:{mark}{KINDS[door]}-{one}" for one in "xy")
    assert told == [[x, []], [y, []], [x, ["0"]]]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("auth", "first", "second"),
    [(KEYED, "the-key-of-shop", "the-key-of-desk"), (UNNAMED, "one-key", "other-key")],
)
async def test_a_context_belongs_to_the_key_that_opened_it(
    door: str, auth: AccessPolicy, first: str, second: str
) -> None:
    async with calling(door, auth) as caller:
        own, _ = await caller.say("mine", "c", key=first)
        other, known = await caller.say("yours?", "c", key=second)
        _, again = await caller.say("mine?", "c", key=first)

    assert own != other
    assert known == []
    assert again == ["mine"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("how", ["query", "header", "named"])
async def test_a_caller_may_name_the_person(door: str, how: str) -> None:
    async with calling(door) as caller:
        await caller.say("a", "x", **{how: "bob"})
        told = await caller.say("b", "y", **{how: "bob"})

    assert told == [f"{door}:bob", ["a"]]


@pytest.mark.parametrize("door", DOORS)
async def test_only_a_key_names_others_and_one_name_is_given(door: str) -> None:
    async with calling(door, KEYED) as caller:
        told = [
            await caller.say("a", "x", key="the-token-of-ann"),
            await caller.say("b", "y", key="the-token-of-ann", named="ann"),
            await caller.say("c", "x", key="the-token-of-ann", named="bob"),
            await caller.say("d", "x", key="the-token-of-ann", header="bob"),
            await caller.say("e", "x", key="the-key-of-shop", header="bob", named="eve"),
        ]

    assert told[:2] == [[f"{door}:ann", []], [f"{door}:ann", ["a"]]]
    assert set(told[2:]) <= {403, 400, "refused"}


@pytest.mark.parametrize("door", DOORS)
async def test_a_context_is_deleted_as_a_person(door: str) -> None:
    async with calling(door, KEYED) as caller:
        await caller.say("a", "x", key="the-key-of-shop")
        await caller.say("b", "y", key="the-key-of-shop")
        name = f"{door}:shop:{KINDS[door]}-x"
        headers = {"Authorization": "Bearer the-key-of-desk"}
        async with caller.http.delete(f"/api/user/{name}", headers=headers) as response:
            status = response.status
        told = [await caller.say("c", one, key="the-key-of-shop") for one in "xy"]

    assert status == 204
    assert [known for _, known in told] == [[], ["b"]]


async def test_ids_of_tasks_of_a_key_are_listed_and_found_by_it_alone() -> None:
    async with calling("a2a", KEYED) as caller:

        async def call(method: str, key: str, **params: Any) -> Any:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            headers = {"Authorization": f"Bearer {key}"}
            async with caller.http.post("/a2a", json=body, headers=headers) as response:
                return await response.json()

        for context in ("x", "y", "", "weird : id\n"):
            await caller.say("hello", context, key="the-key-of-shop")
        await caller.say("hello", "x", key="the-key-of-desk")
        own = (await call("ListTasks", "the-key-of-shop"))["result"]["tasks"]
        others = (await call("ListTasks", "the-key-of-desk"))["result"]["tasks"]
        found = [await call("GetTask", "the-key-of-shop", id=one["id"]) for one in own]
        hidden = [await call("GetTask", "the-key-of-desk", id=one["id"]) for one in own]

    assert len(own) == 4
    assert len(others) == 1
    assert all("result" in one for one in found)
    assert {one["error"]["code"] for one in hidden} == {-32001}
