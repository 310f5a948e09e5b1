"""What the door says to clients that keep the protocol, and to those that do not."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.testing.channel_kit import STRICT, run_door, running
from prolocutor.web.listener import Listener
from tests.plugins.mcp.integration.doors import served

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
BOTH = {"Accept": "application/json, text/event-stream"}
STATELESS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask"}


def rpc(method: str, params: dict[str, Any] | None = None, id_: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}


def hello(version: str = "2025-06-18") -> dict[str, Any]:
    return rpc("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})


def ask(text: str = "hi", id_: Any = 1, **params: Any) -> dict[str, Any]:
    return rpc("tools/call", {"name": "ask", "arguments": {"text": text}, **params}, id_)


async def post(
    http: aiohttp.ClientSession, body: Any, **headers: str
) -> tuple[int, Any, aiohttp.ClientResponse]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent.setdefault("Content-Type", "application/json")
    async with http.post("/mcp", data=data, headers=sent) as response:
        text = await response.text()
        return response.status, json.loads(text) if text else None, response


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_known_version_is_taken_and_an_unknown_one_gets_the_newest(version: str) -> None:
    async with served() as (_, http):
        _, known, response = await post(http, hello(version))
        _, unknown, _ = await post(http, hello("1999-01-01"))

    assert known["result"]["protocolVersion"] == version
    assert known["result"]["serverInfo"]["name"] == "parrot"
    assert unknown["result"]["protocolVersion"] == "2025-11-25"
    assert response.headers["Mcp-Session-Id"]


async def test_a_session_ends_when_it_is_deleted() -> None:
    async with served() as (_, http):
        _, _, response = await post(http, hello())
        session = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
        told = [(await post(http, rpc("ping"), **session))[0]]
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        told.append((await post(http, note, **session))[0])
        for _ in range(2):
            async with http.delete("/mcp", headers=session) as deleted:
                told.append(deleted.status)
        status, gone, _ = await post(http, rpc("ping"), **session)

    assert told == [200, 202, 204, 404]
    assert status == 404
    assert gone["error"]["data"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("body", "headers", "status", "number"),
    [
        (b"{", {}, 400, -32700),
        (b"3", {}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1}, {}, 400, -32600),
        (rpc("tools/nothing"), {}, 200, -32601),
        (rpc("tools/call", {"name": "nobody"}), {}, 200, -32602),
        (rpc("tools/call", {"name": 3}), {}, 200, -32602),
        (rpc("ping"), {"Mcp-Session-Id": "none"}, 404, -32600),
        (rpc("ping"), {"MCP-Protocol-Version": "1999-01-01"}, 400, -32022),
        (ask(), {"Content-Type": "text/plain"}, 415, -32600),
        (ask(), {"Origin": "https://evil.example"}, 403, -32600),
        (ask(), {"Origin": "null"}, 403, -32600),
        (ask(), {"Host": "evil.example"}, 401, -32600),
        (ask(_meta=META), {**STATELESS, "Mcp-Name": "other"}, 400, -32020),
        (ask(_meta=META), {}, 400, -32020),
        (ask(), STATELESS, 400, -32602),
        (ask(_meta={"io.modelcontextprotocol/clientCapabilities": {}}), STATELESS, 400, -32602),
        (hello(), {**STATELESS, "Mcp-Method": "initialize"}, 404, -32601),
        (rpc("initialize", {"_meta": META}), {}, 404, -32601),
        (ask(_meta=META), {**STATELESS, "Mcp-Name": "other \t"}, 400, -32020),
        (rpc("ping", {"_meta": META}), {**STATELESS, "Mcp-Method": "ping"}, 404, -32601),
        (
            ask(_meta={**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}),
            {**STATELESS, "MCP-Protocol-Version": "2099-01-01"},
            400,
            -32022,
        ),
    ],
)
async def test_each_error_has_its_number_and_status(
    body: Any, headers: dict[str, str], status: int, number: int
) -> None:
    async with served() as (_, http):
        found, told, _ = await post(http, body, **headers)

    assert found == status
    assert told["error"]["code"] == number


@pytest.mark.parametrize(
    ("body", "headers", "id_"),
    [
        (b'{"id": 7}', {}, 7),
        (b'{"jsonrpc": "1.0", "id": "x", "method": "ping"}', {}, "x"),
        (rpc("ping", id_=5), {"Mcp-Session-Id": "none"}, 5),
        (rpc("ping", id_=5), {"MCP-Protocol-Version": "1999-01-01"}, 5),
        (hello() | {"params": {}, "id": "h"}, {}, "h"),
        (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}', {}, None),
        (b'{"id": 7', {}, None),
    ],
)
async def test_an_error_has_the_id_of_its_request_where_that_can_be_read(
    body: Any, headers: dict[str, str], id_: Any
) -> None:
    async with served() as (_, http):
        _, told, _ = await post(http, body, **headers)

    assert told["id"] == id_


async def test_blanks_after_the_value_of_a_header_do_not_count() -> None:
    body = json.dumps(ask(_meta=META)).encode()
    headers = {**STATELESS, "Mcp-Name": "ask  \t", "Content-Type": "application/json "}
    sent = [f"{name}: {value}" for name, value in headers.items()]
    async with served() as (url, _):
        host, port = url.removeprefix("http://").rstrip("/").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = ["POST /mcp HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}", *sent]
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        status = await reader.readline()
        writer.close()

    assert status.split()[1] == b"200"


async def test_a_batch_is_answered_as_a_batch_where_the_version_knows_them() -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}
    async with served() as (_, http):
        status, told, _ = await post(http, [ask("a", 1), 3, note, ask("b", "two")])
        only = (await post(http, [note]))[0]
        _, _, response = await post(http, hello("2025-11-25"))
        session = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
        refused = (await post(http, [ask()], **session))[0]

    assert status == 200
    assert only == 202
    assert refused == 400
    assert [one["id"] for one in told] == [1, None, "two"]
    assert told[2]["result"]["structuredContent"]["text"] == "echo b"


async def test_a_request_for_itself_is_answered_for_itself() -> None:
    async with served() as (_, http):
        _, told, _ = await post(http, ask(_meta=META), **STATELESS)
        discover = {**STATELESS, "Mcp-Method": "server/discover"}
        _, found, _ = await post(http, rpc("server/discover", {"_meta": META}), **discover)

    assert told["result"]["resultType"] == "complete"
    assert "2026-07-28" in found["result"]["supportedVersions"]
    assert found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "parrot"


async def test_one_skill_alone_is_asked_where_the_address_says_so() -> None:
    async with served() as (_, http):
        told = []
        for skill in ("echo", "eco"):
            async with http.post(f"/mcp?skill={skill}", json=ask()) as response:
                told.append((await response.json())["result"])

    assert told[0]["structuredContent"]["skill"] == "echo"
    assert "did you mean 'echo'?" in told[1]["content"][0]["text"]


async def test_the_conversation_of_another_person_is_refused() -> None:
    async with served(STRICT) as (_, http):
        ann, bob = ({"Authorization": f"Bearer the-token-of-{one}"} for one in ("ann", "bob"))
        _, told, response = await post(http, ask(), **ann)
        id_ = told["result"]["structuredContent"]["conversation_id"]
        again = rpc(
            "tools/call", {"name": "ask", "arguments": {"text": "x", "conversation_id": id_}}
        )
        _, hers, _ = await post(http, again, **ann)
        _, his, _ = await post(http, again, **bob)
        _, _, response = await post(http, hello(), **ann)
        session = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
        stolen = (await post(http, rpc("ping"), **session, **bob))[0]

    assert hers["result"]["structuredContent"]["conversation_id"] == id_
    assert his["result"]["_meta"]["prolocutor/error"]["code"] == "forbidden"
    assert stolen == 404


async def test_a_call_that_is_cancelled_ends_and_its_turn_runs_on() -> None:
    async with run_door(Mcp) as door:
        _, _, response = await post(door.http, hello("2025-11-25"))
        session = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"], **BOTH}
        call = ask("wait", 7)
        call["params"]["arguments"]["conversation_id"] = "mine"
        calling = asyncio.create_task(post(door.http, call, **session))
        await door.gate.entered.wait()
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        await post(door.http, {"jsonrpc": "2.0", **cancel}, **session)
        _, told, _ = await calling
        door.gate.opened.set()
        said = [row async for row in first_reply(door, "mcp:conversation-mine")]

    assert told["error"]["code"] == -32800
    assert said == ["1: wait"]


async def first_reply(door: Any, user: str) -> Any:
    """Yield the first text that is said to a person."""
    async for row in door.assistant.feed(user):
        if row.message is not None and row.message["type"] == "text":
            yield row.message["text"]
            return


async def test_an_answer_that_is_sent_again_gets_the_same_result() -> None:
    able = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
    async with served() as (_, http):
        _, asked, _ = await post(http, ask("ask choice", _meta=able), **STATELESS)
        state = asked["result"]["requestState"]
        answer = {"answer": {"action": "accept", "content": {"answer": "blue"}}}
        given = ask("ask choice", _meta=able, requestState=state, inputResponses=answer)
        told = [(await post(http, given, **STATELESS))[1]["result"] for _ in range(2)]
        conversation = {"conversation_id": told[0]["structuredContent"]["conversation_id"]}
        say = rpc("tools/call", {"name": "ask", "arguments": {"text": "ask date", **conversation}})
        say["params"]["_meta"] = able
        _, asked, _ = await post(http, say, **STATELESS)
        told.append((await post(http, given, **STATELESS))[1]["result"])
        state = asked["result"]["requestState"]
        answer["answer"]["content"]["answer"] = "2030-01-02"
        later = ask("ask date", _meta=able, requestState=state, inputResponses=answer)
        _, dated, _ = await post(http, later, **STATELESS)
        unknown = ask("x", _meta=able, requestState=f"{state}x", inputResponses=answer)
        _, refused, _ = await post(http, unknown, **STATELESS)

    texts = [one["structuredContent"]["text"] for one in (*told, dated["result"])]
    assert texts == [*["choice {'idx': 1, 'title': 'blue'}"] * 3, "date 2030-01-02"]
    assert refused["error"]["code"] == -32602


async def test_a_tool_whose_skill_fails_says_so() -> None:
    def broken(request: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("out of order")

    skills = [Service("broken", broken), Service("shy", lambda _: [])]
    async with (
        Assistant(Pipeline(skills=skills), store="memory:") as assistant,
        running(Listener(assistant, [Mcp(assistant, skills=True)])) as url,
        aiohttp.ClientSession(url) as http,
    ):
        told = []
        for tool in ("broken", "shy"):
            call = rpc("tools/call", {"name": tool, "arguments": {"text": "hi"}, "_meta": META})
            told.append((await post(http, call, **STATELESS | {"Mcp-Name": tool}))[1]["result"])

    assert [one["isError"] for one in told] == [True, False]
