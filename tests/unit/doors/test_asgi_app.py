"""An assistant as an ASGI app: with doors of any spelling, served by itself or mounted."""

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.doors.http.api import DeepPavlovDoor
from prolocutor.errors import ConfigError
from tests.unit.assistant.talks import assistant, echo

SAID = {"user_id": "ann", "payload": "hi"}


class Bell:
    """A channel of somebody else's."""

    name, prefix = "bell", "bell:"

    def __init__(self) -> None:
        self.life: list[str] = []
        self.routes = [Route("GET", "/ring", self.ring, "all")]

    async def ring(self, _: HttpRequest) -> HttpResponse:
        return HttpResponse(b"dong")

    async def open(self) -> None:
        self.life.append("open")

    async def close(self) -> None:
        self.life.append("close")


async def ask(
    app: Any, path: str, body: Any = None, *, client: str = "127.0.0.1", **scope: Any
) -> tuple[int, bytes]:
    """Send one request; return the status and the body."""
    sent: list[MutableMapping[str, Any]] = []
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    inbox = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> Any:
        return inbox.pop()

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    asked = {
        "type": "http",
        "method": "GET" if body is None else "POST",
        "path": path,
        "query_string": b"",
        "headers": headers + scope.pop("headers", []),
        "client": (client, 1),
        **scope,
    }
    await app(asked, receive, send)
    return sent[0]["status"], b"".join(one.get("body", b"") for one in sent)


@pytest.mark.parametrize("door", ["deeppavlov", DeepPavlovDoor()])
async def test_a_door_is_named_or_given_by_its_options(door: Any) -> None:
    async with assistant(echo()) as it:
        status, said = await ask(it.asgi([door]), "/", SAID)

    assert status == 200
    assert json.loads(said)["response"] == "re: hi"


async def test_a_channel_is_a_door_that_is_open_while_the_assistant_is() -> None:
    bell = Bell()
    async with assistant(echo()) as it:
        app = it.asgi([bell])
        assert bell.life == []
        assert await ask(app, "/ring") == (200, b"dong")
        assert bell.life == ["open"]

    assert bell.life == ["open", "close"]


async def test_an_app_answers_below_the_path_that_it_is_mounted_at() -> None:
    async with assistant(echo()) as it:
        app = it.asgi([Bell()])
        whole = await ask(app, "/bot/ring", root_path="/bot")
        cut = await ask(app, "/ring", root_path="/bot")

    assert whole == cut == (200, b"dong")


async def test_the_usual_doors_are_there_where_none_are_named() -> None:
    async with assistant(echo()) as it:
        app = it.asgi()
        statuses = [(await ask(app, path))[0] for path in ("/v1/models", "/metrics", "/nowhere")]

    assert statuses == [200, 200, 404]


async def test_a_server_with_lifespan_messages_starts_and_ends_the_assistant() -> None:
    it, bell = Assistant(Pipeline(skills=[echo()]), store="memory:"), Bell()
    app, inbox, sent = it.asgi([bell]), asyncio.Queue[dict[str, str]](), asyncio.Queue[Any]()
    life = asyncio.ensure_future(app({"type": "lifespan"}, inbox.get, sent.put))
    inbox.put_nowait({"type": "lifespan.startup"})
    assert (await sent.get())["type"] == "lifespan.startup.complete"
    assert it.ready
    inbox.put_nowait({"type": "lifespan.shutdown"})
    await life

    assert it.ready is False
    assert bell.life == ["open", "close"]


async def test_where_there_are_keys_nobody_comes_in_without_one() -> None:
    async with assistant(echo()) as it:
        app = it.asgi(["deeppavlov"], keys=["secret"])
        key = [(b"authorization", b"Bearer secret")]
        far = "10.0.0.1"
        statuses = [
            (await ask(app, "/", SAID))[0],
            (await ask(app, "/", SAID, headers=key, client=far))[0],
            (await ask(it.asgi(["deeppavlov"]), "/", SAID, client=far))[0],
        ]

    assert statuses == [401, 200, 401]


async def test_an_unknown_door_is_refused_at_once() -> None:
    async with assistant(echo()) as it:
        with pytest.raises(ConfigError, match="did you mean 'page'"):
            it.asgi(["pgae"])
