"""Agents that send nonsense, too much or nothing: a failure of the service, and nothing else."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from prolocutor.errors import ServiceError
from prolocutor.plugins.a2a.connector.connector import A2aAgent, A2aConnector
from prolocutor.testing.fake_service import FakeRequest

pytestmark = pytest.mark.asyncio(loop_scope="module")

CARD: dict[str, Any] = {
    "name": "a",
    "supportedInterfaces": [
        {"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
        {"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
        {"url": "/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"},
    ],
    "capabilities": {"streaming": True},
    "description": "Says hello.",
    "skills": [],
}
DEEP = b'{"a":' * 3000 + b"1" + b"}" * 3000
NONSENSE: dict[str, tuple[str, bytes]] = {
    "nothing": ("application/json", b""),
    "text": ("text/html", b"<html>welcome</html>"),
    "list": ("application/json", b"[1, 2]"),
    "null": ("application/json", b"null"),
    "empty": ("application/json", b"{}"),
    "deep": ("application/json", DEEP),
    "not_unicode": ("application/json", b'{"result": "\xff"}'),
    "null_result": ("application/json", b'{"jsonrpc": "2.0", "id": 1, "result": null}'),
    "number": ("application/json", b'{"result": {"task": 5}, "task": 5, "kind": "task", "id": 5}'),
    "parts": (
        "application/json",
        b'{"result": {"message": {"parts": 3}}, "message": {"parts": 3}}',
    ),
    "error": ("application/json", b'{"error": "everything"}'),
    "odd_error": ("application/json", b'{"error": {"code": "x", "message": [1]}}'),
    "events": ("text/event-stream", b"data: {\n\ndata: 5\n\n"),
    "no_end": ("text/event-stream", b'data: {"result": {}}\n\n'),
    "comments": ("text/event-stream", b": ping\n\n" * 50),
    "huge": ("application/json", b'{"result": "' + b"x" * 1_100_000 + b'"}'),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url() -> AsyncIterator[str]:
    async def card(request: web.Request) -> web.Response:
        return web.json_response(CARD)

    async def answer(request: web.Request) -> web.Response:
        kind, body = NONSENSE[(await request.text()).partition("#")[2].partition("#")[0]]
        return web.Response(body=body, headers={"Content-Type": kind})

    async def odd_card(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name == "redirect":
            raise web.HTTPFound("/.well-known/agent-card.json")
        kind, body = NONSENSE[name]
        return web.Response(body=body, headers={"Content-Type": kind})

    async def refuse_get(request: web.Request) -> web.Response:
        raise web.HTTPMethodNotAllowed("GET", ["POST"])

    app = web.Application(client_max_size=10**7)
    app.router.add_get("/.well-known/agent-card.json", card)
    app.router.add_get("/cards/{name}.json", odd_card)
    app.router.add_get("/agent{rest:.*}", refuse_get)
    app.router.add_route("*", "/{rest:(rpc|rest).*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[union-attr]
    await runner.cleanup()


async def failures(connector: A2aConnector) -> dict[str, str]:
    found = {}
    for name in NONSENSE:
        try:
            (reply,) = await connector.send([FakeRequest(f"#{name}#")])
            found[name] = f"answered {reply}"
        except ServiceError as error:
            found[name] = error.code
    await connector.aclose()
    return found


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_nonsense_is_a_failure(url: str, version: str, binding: str, stream: bool) -> None:
    made = {"version": version, "binding": binding, "stream": stream}

    found = await failures(A2aConnector(A2aAgent(url=url, **made), name="a"))  # type: ignore[arg-type]

    allowed = {"bad_reply", "unreachable", "service"}
    assert {name: code for name, code in found.items() if code not in allowed} == {}


@pytest.mark.parametrize("name", ["nothing", "text", "list", "null", "empty", "deep", "redirect"])
async def test_what_is_no_card_is_a_failure(url: str, name: str) -> None:
    connector = A2aConnector(A2aAgent(url=f"{url}/cards/{name}.json"), name="a")

    with pytest.raises(ServiceError):
        await connector.send([FakeRequest("hi")])
    await connector.aclose()


async def test_a_card_is_sought_further_where_an_address_refuses_to_be_read(url: str) -> None:
    connector = A2aConnector(A2aAgent(url=f"{url}/agent"), name="a")

    described = await connector.describe()
    await connector.aclose()

    assert described["description"] == "Says hello."


async def test_a_dead_agent_is_unreachable() -> None:
    connector = A2aConnector(A2aAgent(url="http://127.0.0.1:9"), name="a")

    with pytest.raises(ServiceError, match="cannot connect"):
        await connector.send([FakeRequest("hi")])
    with pytest.raises(ServiceError, match="cannot connect"):
        await connector.describe()
    await connector.aclose()
