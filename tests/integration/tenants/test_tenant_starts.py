"""A tenant that cannot be served concerns nobody else, and is served once it can be."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from prolocutor.cli.owner import door_of
from prolocutor.cli.tenant_server import TenantServer
from prolocutor.config.tenants_file import load_tenants
from prolocutor.errors import StoreLost
from prolocutor.testing.channel_kit import running
from prolocutor.web import served_tenant

GOOD = """
skills: {echo: {call: "words:answer", inline: true}}
auth: {keys: [key]}
doors: [deeppavlov, page]
"""
KEY = {"Authorization": "Bearer key"}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TenantServer:
    monkeypatch.setattr(served_tenant, "LONGEST_PAUSE", 0.02)
    monkeypatch.setattr(served_tenant, "FIRST_PAUSE", 0.02)
    for name in ("acme", "beta", "late"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "assistant.yaml").write_text(GOOD)
        (tmp_path / name / "words.py").write_text(
            f"def answer(request): return {{'text': {name!r}, 'confidence': 1.0}}\n"
        )
    (tmp_path / "late" / "assistant.yaml").write_text("skills: {x: {cal: y}}")
    file = tmp_path / "tenants.yaml"
    file.write_text(
        """
auth: {keys: [root]}
tenants:
  acme: {assistant: acme, store: "sqlite:///a.db"}
  beta: {assistant: beta, store: "sqlite:///a.db"}
  late: {assistant: late, store: memory}
"""
    )
    return TenantServer(load_tenants(file))


async def read(http: aiohttp.ClientSession, path: str, key: str = "key") -> tuple[int, Any]:
    async with http.get(path, headers={"Authorization": f"Bearer {key}"}) as response:
        return response.status, await response.json()


async def until_ready(http: aiohttp.ClientSession, tenant: str) -> None:
    async with asyncio.timeout(60):
        while (await read(http, f"/t/{tenant}/health/ready"))[0] != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def say(http: aiohttp.ClientSession, tenant: str) -> tuple[int, Any]:
    said = {"user_id": "ann", "payload": "hi"}
    async with http.post(f"/t/{tenant}/", json=said, headers=KEY) as response:
        return response.status, (await response.json()).get("response", response.headers)


async def test_others_are_served_and_a_corrected_file_is_enough(
    server: TenantServer, tmp_path: Path
) -> None:
    async with running(server.app()) as url, aiohttp.ClientSession(url) as http:
        states = {one["name"]: one for one in (await read(http, "/tenants", "root"))[1]["tenants"]}

        assert {name: one["ready"] for name, one in states.items()} == {
            "acme": True,
            "beta": False,
            "late": False,
        }
        assert states["beta"]["fault"].endswith("has the same store as the tenant acme")
        assert "did you mean 'call'?" in states["late"]["fault"]
        assert await say(http, "acme") == (200, "acme")
        status, headers = await say(http, "late")
        assert (status, headers["Retry-After"]) == (503, "5")
        assert (await read(http, "/t/late/health/live"))[0] == 200
        assert (await read(http, "/t/late/health/ready"))[0] == 503
        assert (await read(http, "/health/ready"))[0] == 200
        (tmp_path / "late" / "assistant.yaml").write_text(GOOD)
        await until_ready(http, "late")
        assert await say(http, "late") == (200, "late")


async def test_a_tenant_whose_store_is_taken_ends_alone_and_starts_again(
    server: TenantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatcher = server.app()
    async with running(dispatcher) as url, aiohttp.ClientSession(url) as http:
        acme = next(one for one in dispatcher.tenants if one.name == "acme")
        assert acme.app is not None
        before, gone = acme.app.assistant, threading.Event()
        close = before.store.aclose

        async def closed() -> None:
            await close()
            gone.set()

        monkeypatch.setattr(before.store, "aclose", closed)
        before.store_health.note_failed(StoreLost("another process has taken it"))
        await asyncio.to_thread(gone.wait, 60)
        await until_ready(http, "acme")

        assert await say(http, "acme") == (200, "acme")


async def test_browsers_go_to_the_host_and_commands_of_the_user_find_the_tenant(
    server: TenantServer, tmp_path: Path
) -> None:
    async with running(server.app()) as url, aiohttp.ClientSession(url) as http:
        server.greeting(url)
        port = url.rpartition(":")[2]
        browser = {"Accept": "text/html,*/*"}
        async with http.get(
            "/t/acme/console/x?a=1", headers=browser, allow_redirects=False
        ) as page:
            assert page.status == 307
            assert page.headers["Location"] == f"//acme.localhost:{port}/console/x?a=1"
        async with http.get("/t/acme/", headers={"Accept": "*/*"}) as page:
            assert (page.status, page.content_type) == (200, "text/html")

        door = await asyncio.to_thread(door_of, f"sqlite:///{tmp_path}/a.db")
        assert door is not None
        assert door.note.url == f"{url}/t/acme"
        said = {"text": "hi", "user": "ann"}
        turn = await asyncio.to_thread(door.post, "/owner/turn", said)
        assert turn["reply"]["text"] == "acme"
