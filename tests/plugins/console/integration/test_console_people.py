"""The console's own pages and endpoints: who the operator is, pages for all, people deleted."""

import aiohttp

from prolocutor.plugins.console.channel import Console
from prolocutor.testing.channel_kit import running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.listener import Listener
from tests.unit.assistant.talks import assistant

POLICY = AccessPolicy(keys={"the-key": "eve"}, loopback=False)
EVE = {"Authorization": "Bearer the-key"}


async def test_an_operator_learns_their_name_and_deletes_a_person() -> None:
    async with assistant() as it:
        await it.reply("hello", "page:a/b c")
        ring = KeyRing(it.store)
        reader, _ = await ring.create("dashboard", ["read"])
        await ring.refresh()
        app = Listener(it, [Console(DoorContext(it))], auth=POLICY, ring=ring)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            known = {}
            for key in ("the-key", reader):
                headers = {"Authorization": f"Bearer {key}"}
                async with http.get("/api/console/operator", headers=headers) as answer:
                    operator = await answer.json()
                    known[operator["name"]] = operator["writes"]
            path = "/api/console/people/page%3Aa%2Fb%20c"
            found = []
            for _ in range(2):
                async with http.delete(path, headers=EVE) as answer:
                    found.append(answer.status)

            assert known == {"eve": True, "dashboard": False}
            assert found == [204, 404]
            assert await it.store.dialog_ids() == []


async def test_an_operator_learns_which_doors_have_data_for_the_console() -> None:
    async with assistant() as it:
        app = it.asgi(["console", "tests"], keys=["the-key"])
        async with running(app.listener) as url, aiohttp.ClientSession(url, headers=EVE) as http:
            async with http.get("/api/console/operator") as answer:
                told = (await answer.json())["data"]
            async with http.get(told[0]) as answer:
                status = answer.status

    assert told == ["/api/console/tests"]
    assert status == 200


async def test_the_pages_are_for_all_and_hold_nothing() -> None:
    async with assistant() as it:
        app = Listener(it, [Console(DoorContext(it))], auth=POLICY)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            pages = set()
            for path in ("", "/", "/conversations/1?kind=down", "/nowhere/at/all"):
                async with http.get(f"/console{path}") as answer:
                    assert answer.status == 200
                    assert "img-src 'self';" in answer.headers["Content-Security-Policy"]
                    pages.add(await answer.text())
            async with http.get("/console/files/none.js") as answer:
                missing = answer.status

            assert len(pages) == 1
            assert missing == 404
