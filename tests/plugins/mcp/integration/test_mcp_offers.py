"""What an MCP client reads of an assistant besides asking it: cards, conversations, starters."""

import json
from typing import Any

import aiohttp

from prolocutor.web.authentication import AccessPolicy
from tests.plugins.mcp.integration.doors import served


async def call(http: aiohttp.ClientSession, method: str, key: str = "", **params: Any) -> Any:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with http.post("/mcp", json=body, headers=headers) as response:
        answer = await response.json()
        return answer.get("result") or answer["error"]


async def test_cards_of_agents_are_read() -> None:
    async with served() as (_, http):
        listed = await call(http, "resources/list")
        read = await call(http, "resources/read", uri="prolocutor://agents/echo")

    (entry,) = listed["resources"]
    assert entry["uri"] == "prolocutor://agents/echo"
    assert entry["mimeType"] == "application/json"
    card = json.loads(read["contents"][0]["text"])
    assert card == {"name": "echo", "description": "Says what you say."}


async def test_a_person_reads_their_own_conversations_and_nobody_elses() -> None:
    tokens = {"t-ann": "ann", "t-bob": "bob"}
    policy = AccessPolicy(tokens=tokens)
    async with served(policy) as (_, http):
        said = await call(http, "tools/call", "t-ann", name="ask", arguments={"text": "hello"})
        id_ = said["structuredContent"]["conversation_id"]
        uri = f"prolocutor://conversations/{id_}"
        lists = [await call(http, "resources/list", key) for key in tokens]
        own, others = [await call(http, "resources/read", key, uri=uri) for key in tokens]

    assert [uri in [resource["uri"] for resource in each["resources"]] for each in lists] == [
        True,
        False,
    ]
    assert own["contents"][0]["text"] == "Person: hello\nAssistant: echo hello"
    assert others["code"] == -32002


async def test_who_names_no_person_reads_a_conversation_by_its_id() -> None:
    async with served() as (_, http):
        said = await call(http, "tools/call", name="ask", arguments={"text": "hello"})
        id_ = said["structuredContent"]["conversation_id"]
        listed = await call(http, "resources/list")
        read = await call(http, "resources/read", uri=f"prolocutor://conversations/{id_}")

    assert [resource["name"] for resource in listed["resources"]] == ["echo"]
    assert read["contents"][0]["text"].startswith("Person: hello")


async def test_starters_are_prompts() -> None:
    async with served(starters=["Where is Rome?", "Tell me a joke"]) as (_, http):
        listed = await call(http, "prompts/list")
        got = await call(http, "prompts/get", name="where-is-rome")
        unknown = await call(http, "prompts/get", name="where-is-rom")

    assert [prompt["name"] for prompt in listed["prompts"]] == ["where-is-rome", "tell-me-a-joke"]
    assert got["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "Where is Rome?"}}
    ]
    assert unknown["code"] == -32602
    assert "where-is-rome" in unknown["message"]


async def test_a_missing_resource_is_not_found() -> None:
    async with served() as (_, http):
        wrong = ["prolocutor://agents/none", "prolocutor://conversations/", "file:///etc/passwd"]
        found = [await call(http, "resources/read", uri=uri) for uri in wrong]
        page = await call(http, "resources/list", cursor="x")

    assert [one["code"] for one in found] == [-32002] * 3
    assert page["code"] == -32602
