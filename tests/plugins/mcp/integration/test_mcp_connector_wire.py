"""What the connector makes of servers that end sessions, ask back, or say nonsense."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from prolocutor.contracts.connector import ServiceContext
from prolocutor.errors import BadReply, ConfigError, ServiceError, ServiceRefused
from prolocutor.plugins.mcp.connector.connector import McpConnector, McpTool
from prolocutor.testing.fake_service import FakeRequest

TOOL = {"name": "ask", "description": "Says it.", "inputSchema": {"properties": {"text": {}}}}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}}
JSON = "application/json"

Call = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


class Server:
    """A server of the handshake whose `tools/call` is a function of the test."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.sessions = 0
        self.seen: list[str] = []
        self.answers: list[Any] = []

    async def take(self, request: web.Request) -> web.StreamResponse:
        if request.method != "POST":
            self.seen.append(request.method)
            return web.Response(status=405 if request.method == "GET" else 204)
        message = await request.json()
        self.seen.append(message.get("method", "answer"))
        match message.get("method"):
            case "initialize":
                self.sessions += 1
                headers = {"Mcp-Session-Id": f"s{self.sessions}"}
                return web.json_response(rpc(message, HELLO), headers=headers)
            case "tools/list":
                return web.json_response(rpc(message, {"tools": [TOOL]}))
            case "tools/call":
                return await self.call(request, message)
            case None:
                self.answers.append(message)
                return web.Response(status=202)
            case "server/discover":
                return web.Response(status=400, text="no session")
        return web.Response(status=202)


def rpc(message: dict[str, Any], result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def said(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


@asynccontextmanager
async def asking(call: Call, **options: Any) -> AsyncIterator[tuple[McpConnector, Server]]:
    server = Server(call)
    app = web.Application()
    app.router.add_route("*", "/mcp", server.take)
    async with TestServer(app) as running, asyncio.timeout(60):
        connector = McpConnector(McpTool(url=str(running.make_url("/mcp")), **options), name="s")
        yield connector, server
        await connector.aclose()


async def ask(connector: McpConnector, text: str = "hi") -> Any:
    state = {"dialog_id": "d", "utterances": [{"text": text}], "human": {"attributes": {}}}
    (reply,) = await connector.send([FakeRequest(state, timeout=30)])
    return getattr(reply, "value", reply)


async def test_a_session_that_is_over_is_begun_anew() -> None:
    async def call(request: web.Request, message: dict[str, Any]) -> web.Response:
        if request.headers["Mcp-Session-Id"] == "s1":
            return web.Response(status=404)
        return web.json_response(rpc(message, said(request.headers["MCP-Protocol-Version"])))

    async with asking(call) as (connector, server):
        reply = await ask(connector)

    assert reply == [{"text": "2025-06-18", "confidence": 0.5}]
    assert server.sessions == 2
    assert server.seen[-1] == "DELETE"


async def test_a_stream_may_ask_back_first_and_its_answer_may_come_in_a_list() -> None:
    async def call(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
        sampling = {"jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage", "params": {}}
        for one in (ping, sampling, [rpc(message, said("done"))]):
            await stream.write(b": hm\r\nevent: message\r\ndata: %b\r\n\r\n" % dumped(one))
        return stream

    async with asking(call) as (connector, server):
        reply = await ask(connector)
        while {answer["id"] for answer in server.answers} != {"p", 5}:
            await asyncio.wait([asyncio.ensure_future(ask(connector))])

    answers = {answer["id"]: answer for answer in server.answers}
    assert reply[0]["text"] == "done"
    assert answers["p"]["result"] == {}
    assert answers[5]["error"]["code"] == -32601


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("status", "kind", "body", "error"),
    [
        (200, JSON, b"{", BadReply),
        (200, JSON, b"", BadReply),
        (200, JSON, b'{"jsonrpc":"2.0","id":99999,"result":{}}', BadReply),
        (200, JSON, b'{"jsonrpc":"2.0","id":%d,"result":{"content":3}}', BadReply),
        (200, JSON, b'{"jsonrpc":"2.0","id":%d,"error":{"code":-1,"message":"m"}}', ServiceError),
        (200, JSON, b"x" * 5_000_000, BadReply),
        (200, "text/event-stream", b"data: {\n\n", BadReply),
        (200, "text/event-stream", b": nothing\n\n", ServiceError),
        (500, JSON, b"{}", ServiceRefused),
        (401, "text/plain", b"no key", ServiceRefused),
        (202, JSON, b"", BadReply),
    ],
)
async def test_nonsense_is_a_failure_and_the_next_call_works(
    status: int, kind: str, body: bytes, error: type[ServiceError]
) -> None:
    async def call(request: web.Request, message: dict[str, Any]) -> web.Response:
        if message["params"]["arguments"]["text"] == "well":
            return web.json_response(rpc(message, said("well")))
        sent = body.replace(b"%d", b"%d" % message["id"])
        return web.Response(status=status, body=sent, content_type=kind)

    async with asking(call, protocol="2025-06-18") as (connector, _):
        with pytest.raises(error):
            await ask(connector)
        assert (await ask(connector, "well"))[0]["text"] == "well"


async def test_requests_have_the_settings_of_the_file() -> None:
    async def call(request: web.Request, message: dict[str, Any]) -> web.Response:
        told = [message["params"]["arguments"], request.headers["Authorization"]]
        return web.json_response(rpc(message, said(json.dumps(told))))

    arguments = {"who": "{user_id}", "to": "{text}!", "all": ["{dialog_id}"], "none": None, "n": 1}
    async with asking(call, arguments=arguments, key="k", returns="value") as (connector, _):
        state = {
            "dialog_id": "d",
            "utterances": [{"text": "hi"}],
            "human": {"user_external_id": "ann"},
        }
        (reply,) = await connector.send([FakeRequest(state, timeout=30)])
        card = await connector.describe()

    assert getattr(reply, "value", None) == [
        {"who": "ann", "to": "hi!", "all": ["d"], "n": 1},
        "Bearer k",
    ]
    assert card == {"description": "Says it."}


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({}, "one of both"),
        ({"run": "x", "url": "http://h/"}, "one of both"),
        ({"url": "http://h/", "protocol": "2025"}, "no version of MCP"),
        ({"url": "http://h/", "returns": "words"}, "hypotheses or value"),
        ({"url": "ws://h/"}, "not a URL"),
    ],
)
def test_impossible_options_are_refused_when_the_connector_is_made(
    options: dict[str, Any], what: str
) -> None:
    with pytest.raises(ConfigError, match=what):
        McpTool(**options).build(ServiceContext(name="s"))


async def test_a_tool_that_is_not_there_is_an_error_of_the_file() -> None:
    async def call(request: web.Request, message: dict[str, Any]) -> web.Response:
        raise AssertionError("no tool is called")

    async with asking(call, tool="aks") as (connector, _):
        with pytest.raises(ConfigError, match="did you mean 'ask'"):
            await connector.describe()


async def test_a_tool_with_an_invalid_header_is_never_called(
    caplog: pytest.LogCaptureFixture,
) -> None:
    called = []

    def tool(name: str, token: str) -> dict[str, Any]:
        text = {"type": "string", "x-mcp-header": token}
        return {"name": name, "inputSchema": {"properties": {"text": text}}}

    async def take(request: web.Request) -> web.Response:
        message = await request.json()
        match message["method"]:
            case "server/discover":
                return web.json_response(rpc(message, {"supportedVersions": ["2026-07-28"]}))
            case "tools/list":
                tools = [tool("bad", "No Header"), tool("good", "Said")]
                return web.json_response(rpc(message, {"tools": tools}))
        called.append((message["params"]["name"], request.headers["Mcp-Param-Said"]))
        return web.json_response(rpc(message, {**said("done"), "resultType": "complete"}))

    app = web.Application()
    app.router.add_post("/mcp", take)
    async with TestServer(app) as running, asyncio.timeout(60):
        url = str(running.make_url("/mcp"))
        bad = McpConnector(McpTool(url=url, tool="bad"), name="bad")
        good = McpConnector(McpTool(url=url, tool="good"), name="good")
        with pytest.raises(ConfigError, match="x-mcp-header of text is not the name of a header"):
            await bad.describe()
        with pytest.raises(BadReply):
            await ask(bad)
        reply = await ask(good)
        await bad.aclose()
        await good.aclose()

    assert reply[0]["text"] == "done"
    assert called == [("good", "hi")]
    assert "'bad' of an MCP server is left out" in caplog.text
