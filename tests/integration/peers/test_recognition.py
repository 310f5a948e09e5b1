"""What is behind a URL is recognised, and written into a file whose text stays as it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.add import put
from prolocutor.config.file_check import check
from prolocutor.config.recognition import FoundService, NotRecognised, recognise
from prolocutor.config.service_writing import add_service
from prolocutor.doors.openai.channel import OpenAi
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.a2a.door.door import A2a
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import make_app
from tests.integration.peers.socket_peer import behaving, socket_peer
from tests.plugins.rasa.integration.rasa_peer import rasa_peer


def echo(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": "echo", "confidence": 0.9}


@asynccontextmanager
async def served(door: Any) -> AsyncIterator[str]:
    skills = [Service("echo", echo)]
    async with (
        Assistant(Pipeline(skills=skills), store="memory:", name="Inn") as inner,
        running(make_app(inner, [door(inner)])) as url,
    ):
        yield url


@asynccontextmanager
async def site(answers: dict[tuple[str, str], Any]) -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.Response:
        found = answers.get((request.method, request.path))
        if found is None:
            return web.Response(status=404)
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
        found = await recognise(url + path)

    assert found.connector == connector
    assert f"connector: {connector}" in written(found, tmp_path)


async def test_other_services_are_recognised(tmp_path: Path) -> None:
    models = {"object": "list", "data": [{"id": "llama3.2:1b"}, {"id": "qwen"}]}
    said = [{"text": "hello", "confidence": 0.7}]
    async with rasa_peer() as rasa, site({("GET", "/"): {}, ("GET", "/v1/models"): models}) as chat:
        assert (await recognise(f"{rasa.url}/webhooks/rest/webhook")).connector == "rasa"
        found = await recognise(chat)
        assert found.call == {"url": f"{chat}/v1", "model": "llama3.2:1b"}
    assert "llama3.2:1b" in written(found, tmp_path)
    async with site({("POST", "/talk"): said}) as native:
        found = await recognise(f"{native}/talk")
        assert (found.connector, found.name, found.call) == (None, "talk", f"{native}/talk")
    async with socket_peer(behaving(lambda asked: asked)) as peer:
        assert (await recognise(peer.url)).connector == "websocket"


async def test_what_is_not_recognised_is_refused_with_what_was_tried() -> None:
    async with site({("GET", "/"): 401}) as url:
        with pytest.raises(NotRecognised, match=r"wants a key.*MCP"):
            await recognise(url)
    for wrong in ("http://127.0.0.1:1", "ws://127.0.0.1:1/x"):
        with pytest.raises(NotRecognised, match=r"127\.0\.0\.1:1"):
            await recognise(wrong)
    for wrong, hint in (
        ("openai:gpt-4o", "openai_chat"),
        ("ftp://h/x", "http"),
        ("http://h:x", "URL"),
    ):
        with pytest.raises(BadInput, match=hint):
            await recognise(wrong)


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
