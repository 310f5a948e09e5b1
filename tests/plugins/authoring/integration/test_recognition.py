"""What is behind a URL is recognised, and written into a file whose text stays as it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.file_check import check
from prolocutor.config.loading import load
from prolocutor.connectors.connector_catalog import CONNECTORS
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.a2a.door.door import A2a
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.authoring.add_command import add_service, put
from prolocutor.plugins.authoring.recognition import NotRecognized, recognize
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.plugins.rasa.connector import RasaBot
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener
from tests.integration.peers.socket_peer import behaving, socket_peer
from tests.rasa_peer import rasa_peer


def echo(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": "echo", "confidence": 0.9}


@asynccontextmanager
async def served(door: Any) -> AsyncIterator[str]:
    skills = [Service("echo", echo)]
    async with (
        Assistant(Pipeline(skills=skills), store="memory:", name="Inn") as inner,
        running(Listener(inner, [door(inner)])) as url,
    ):
        yield url


@asynccontextmanager
async def site(
    answers: dict[tuple[str, str], Any], asked: list[str] | None = None
) -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.StreamResponse:
        found = answers.get((request.method, request.path))
        if asked is not None:
            asked.append(f"{request.method} {await request.text()} {request.path_qs}")
        if found is None:
            return web.Response(status=404)
        if callable(found):
            return await found(request)
        if isinstance(found, web.Response):
            return web.Response(body=found.body, status=found.status)
        return (
            web.json_response(found) if not isinstance(found, int) else web.Response(status=found)
        )

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield "http://{}:{}".format(*runner.addresses[0][:2])
    finally:
        await runner.cleanup()


def written(found: FoundService, folder: Path) -> str:
    """Return the file that is written of it, which has no faults; its server is gone."""
    file = folder / f"{found.name}.yaml"
    put(file, found, None, None)
    report = check(file)
    assert [str(fault) for fault in report.faults] == []
    return file.read_text()


@pytest.mark.parametrize(
    ("door", "path", "connector"),
    [
        (OpenAi, "", "prolocutor"),
        (A2a, "", "a2a"),
        (A2a, "/.well-known/agent-card.json", "a2a"),
        (Mcp, "", "mcp"),
        (Mcp, "/mcp", "mcp"),
        (Almond, "", "almond"),
        (Almond, "/api/conversation", "almond"),
    ],
)
async def test_our_doors_are_recognised(
    door: Any, path: str, connector: str, tmp_path: Path
) -> None:
    async with served(door) as url:
        found = await recognize(url + path)

    assert found.connector == connector
    assert f"connector: {connector}" in written(found, tmp_path)


async def test_other_services_are_recognised(tmp_path: Path) -> None:
    models = {"object": "list", "data": [{"id": "llama3.2:1b"}, {"id": "qwen"}]}
    said = [{"text": "hello", "confidence": 0.7}]
    async with rasa_peer() as rasa, site({("GET", "/"): {}, ("GET", "/v1/models"): models}) as chat:
        assert (await recognize(f"{rasa.url}/webhooks/rest/webhook")).connector == "rasa"
        found = await recognize(chat)
        assert found.call == {"url": f"{chat}/v1", "model": "llama3.2:1b"}
    assert "llama3.2:1b" in written(found, tmp_path)
    async with site({("POST", "/talk"): said}) as native:
        found = await recognize(f"{native}/talk")
        assert found.connector is None
        assert found.name == "talk"
        assert found.call == f"{native}/talk"
    async with socket_peer(behaving(lambda asked: asked)) as peer:
        assert (await recognize(peer.url)).connector == "websocket"


async def test_what_is_not_recognised_is_refused_in_three_short_lines() -> None:
    page = web.Response(text="<html>no</html>", content_type="text/html", status=404)
    async with site({("GET", "/"): 401, ("POST", "/"): page, ("POST", "/mcp"): page}) as url:
        with pytest.raises(NotRecognized, match="wants a key") as refused:
            await recognize(url)
    lines = str(refused.value).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 100
    assert any("MCP" in one for one in refused.value.tried)
    assert not any("html" in line for line in [*lines, *refused.value.tried])
    for wrong in ("http://127.0.0.1:1", "ws://127.0.0.1:1/x"):
        with pytest.raises(NotRecognized, match=r"127\.0\.0\.1:1.*: Connection refused"):
            await recognize(wrong)
    for wrong, hint in (
        ("openai:gpt-4o", "openai_chat"),
        ("ftp://h/x", "http"),
        ("http://h:x", "URL"),
    ):
        with pytest.raises(BadInput, match=hint):
            await recognize(wrong)


async def test_a_redirect_is_no_service_of_our_wire_and_says_where_it_leads() -> None:
    async def lead(request: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect("/there")

    said = [{"text": "hello", "confidence": 0.7}]
    async with site({("POST", "/talk"): lead, ("POST", "/there"): said}) as url:
        with pytest.raises(NotRecognized, match=f"redirects to {url}/there"):
            await recognize(f"{url}/talk")


async def test_a_service_that_drops_the_connection_without_a_body_is_recognised() -> None:
    async def answer(request: web.Request) -> web.Response:
        if "utterances" not in await request.text():
            assert request.transport is not None
            request.transport.abort()
        return web.json_response([{"text": "hello", "confidence": 0.7}])

    every = {(method, "/talk"): answer for method in ("GET", "POST")}
    async with site(every) as url:
        assert (await recognize(f"{url}/talk")).connector is None


async def test_an_empty_list_is_taken_for_a_service_of_our_wire() -> None:
    async with site({("POST", "/talk"): []}) as url:
        assert (await recognize(f"{url}/talk")).name == "talk"


async def test_each_address_is_asked_once() -> None:
    asked: list[str] = []
    async with site({}, asked) as url:
        with pytest.raises(NotRecognized):
            await recognize(f"{url}/talk?key=abc")

    own = [one for one in asked if "mcp" not in one]
    assert len(own) > 8
    assert sorted(own) == sorted(set(own))
    assert all("?key=abc" in one for one in own)


@pytest.mark.parametrize(
    ("door", "path"), [(OpenAi, ""), (A2a, ""), (Mcp, "/mcp"), (Almond, "/api/conversation")]
)
async def test_the_query_of_an_address_stays_in_the_file(
    door: Any, path: str, tmp_path: Path
) -> None:
    async with served(door) as url:
        found = await recognize(f"{url}{path}?key=abc")

    assert "?key=abc" in written(found, tmp_path)


async def test_a_connector_that_is_named_is_taken_whatever_answers(tmp_path: Path) -> None:
    async with served(OpenAi) as url:
        found = await recognize(url, connector="openai_chat")
        assert found.call == {"url": f"{url}/v1", "model": "Inn"}
    found = await recognize("http://127.0.0.1:1/?key=abc", connector="a2a")
    assert found.connector == "a2a"
    assert found.call == "http://127.0.0.1:1/?key=abc"
    assert "connector: a2a" in written(found, tmp_path)
    assert (await recognize("http://127.0.0.1:1", connector="http")).connector is None


@pytest.mark.parametrize(
    ("connector", "error"),
    [("a2", "did you mean"), ("python", "address"), ("openai_chat", "needs a model")],
)
async def test_a_connector_that_cannot_be_named_so_is_refused(connector: str, error: str) -> None:
    with pytest.raises((BadInput, ConfigError), match=error):
        await recognize("http://127.0.0.1:1", connector=connector)


async def test_a_socket_that_greets_is_called_so(tmp_path: Path) -> None:
    async with socket_peer(behaving(lambda asked: asked), opening=["welcome"]) as peer:
        found = await recognize(f"{peer.url}?key=abc")

    assert found.call == {"url": f"{peer.url}?key=abc", "greetings": 1}
    assert "greetings: 1" in written(found, tmp_path)


async def test_connectors_of_others_are_asked_and_may_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Sure(RasaBot, frozen=True, kw_only=True):
        @classmethod
        async def recognize(cls, probe: UrlProbe) -> FoundService | None:
            return FoundService(what="sure", call=probe.url, certainty=1.0)

    class Broken(RasaBot, frozen=True, kw_only=True):
        @classmethod
        async def recognize(cls, probe: UrlProbe) -> FoundService | None:
            raise RuntimeError("broken")

    kinds = {"broken": Broken, "sure": Sure}
    monkeypatch.setattr(type(CONNECTORS), "names", lambda _: list(kinds))
    monkeypatch.setattr(type(CONNECTORS), "load", lambda _, name: kinds[name])
    async with site({}) as url:
        assert (await recognize(url)).connector == "sure"


FOUND = FoundService(what="a bot", name="hotel", connector="a2a", call="http://h:1")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: X  # mine\n", "name: X  # mine\nskills:\n  hotel:\n    connector: a2a\n"),
        (
            "skills:\n    # first\n    a: m:f\n\n# doors\ndoors: [openai]\n",
            "    a: m:f\n    hotel:\n      connector: a2a\n      call: http://h:1\n",
        ),
        ("skills: {a: 'm:f'}\nname: X\n", "skills: {a: 'm:f', hotel: {connector: a2a, "),
        ("skills:\nname: X", "skills:\n  hotel:\n    connector: a2a\n"),
        ("skills: {}\n", "skills: {hotel: {connector: a2a, call: 'http://h:1', timeout: 10}}\n"),
        ("skills:\n  hotel: m:f", "  hotel: m:f\n  hotel_2:\n"),
        ("skills:\r\n  a: m:f\r\n", "  a: m:f\r\n  hotel:\r\n    connector: a2a\r\n"),
        ("annotators:\n  hotel: m:f\n", "hotel_2"),
    ],
)
def test_text_is_put_in_and_all_other_text_stays(before: str, after: str) -> None:
    text, _ = add_service(before, "f.yaml", FOUND, name=None, key=None)

    assert after in text
    assert all(line in text for line in before.splitlines() if "{" not in line)


@pytest.mark.parametrize(
    ("before", "name", "error"),
    [
        ("skills: [", None, ConfigError),
        ("- a\n", None, ConfigError),
        ("skills:\n  a: {connector: a2a, call: 'http://h:1'}\n", None, BadInput),
        ("skills:\n  a: m:f\n", "a", BadInput),
        ("skills:\n  a: m:f\n", "a/b", BadInput),
        ("x: &x {a: 'm:f'}\nskills: *x\n", None, ConfigError),
        ("{skills: {a: 'm:f'}}\n", None, ConfigError),
    ],
)
def test_what_cannot_be_added_is_refused(
    before: str, name: str | None, error: type[Exception]
) -> None:
    with pytest.raises(error):
        add_service(before, "f.yaml", FOUND, name=name, key=None)


def test_a_key_is_named_and_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTEL_KEY", "secret")
    file = tmp_path / "assistant.yaml"
    put(file, FOUND, "inn", "HOTEL_KEY")

    assert "key: ${HOTEL_KEY}" in file.read_text()
    assert check(file).faults == ()


@pytest.mark.parametrize("before", ["", "skills:\n  a: m:f\n", "skills: {a: 'm:f'}\n"])
def test_words_of_a_server_stay_words(
    before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "secret")
    words = 'x"\n  owned: {call: "os:system"}\n# ${SECRET} $${SECRET} \u2028 \x07'
    call = {"url": "http://h:1", "model": words}
    found = FoundService(what="a model", name="m", connector="openai_chat", call=call)
    file = tmp_path / "assistant.yaml"
    file.write_text(before)

    put(file, found, None, None)
    service = load(file).pipeline.skills[-1]

    assert service.name == "m"
    assert service.call.options["model"] == words
    with pytest.raises(BadInput, match="calls it already"):
        put(file, found, None, None)


async def test_what_a_server_says_of_itself_is_printable(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loud(RasaBot, frozen=True, kw_only=True):
        @classmethod
        async def recognize(cls, probe: UrlProbe) -> FoundService | None:
            said = "a\x07 bell\x1b[2J"
            return FoundService(what=said, call=probe.url, notes=[said], certainty=1.0)

    monkeypatch.setattr(type(CONNECTORS), "names", lambda _: ["loud"])
    monkeypatch.setattr(type(CONNECTORS), "load", lambda _, name: Loud)
    async with site({}) as url:
        found = await recognize(url)

    assert [found.what, *found.notes] == [r"a\x07 bell\x1b[2J"] * 2
