"""The pages that links of the Almond wire lead to."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from prolocutor.testing.channel_kit import TOKENS, Door
from prolocutor.web.authentication import AccessPolicy
from prolocutor_demo.demonstration import SET_UP, SIGN_IN
from tests.plugins.almond.integration.wire import almond, demonstrated

HOSTILE = '"><script>alert(1)</script>'


async def see(door: Door, path: str, form: Any = None) -> tuple[int, str]:
    request = door.http.get(path) if form is None else door.http.post(path, data=form)
    async with request as response:
        assert response.content_type == "text/html"
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        return response.status, await response.text()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/user/register", "auth.tokens"),
        ("/apps", "demonstration"),
        (SIGN_IN, "Connect Example"),
        (SET_UP, 'name="url" type="url"'),
    ],
)
async def test_every_link_leads_to_a_page(path: str, shown: str) -> None:
    async with demonstrated() as door:
        status, page = await see(door, path)

    assert status == 200
    assert shown in page


async def test_a_filled_in_form_sets_a_device_up() -> None:
    async with demonstrated() as door:
        status, page = await see(door, SET_UP, {"url": "https://example.org", "more": "x"})
        async with door.http.get("/api/devices/list") as response:
            devices = await response.json()

    assert status == 200
    assert "Example is set up" in page
    assert [(device["name"], device["kind"]) for device in devices] == [
        ("demonstration", "org.prolocutor.demonstration"),
        ("Example", "com.example"),
    ]


async def test_a_form_that_lacks_something_sets_nothing_up() -> None:
    async with demonstrated() as door:
        status, page = await see(door, SET_UP, {"url": ""})
        async with door.http.get("/api/devices/list") as response:
            devices = await response.json()

    assert status == 400
    assert "Address is missing" in page
    assert len(devices) == 1


@pytest.mark.parametrize("controls", [HOSTILE, json.dumps({"type": HOSTILE})])
async def test_an_unknown_factory_is_told_on_the_page(controls: str) -> None:
    query = urlencode({"name": HOSTILE, "controls": controls})
    async with demonstrated() as door:
        status, page = await see(door, f"/devices/configure/com.example?{query}")

    assert status == 400
    assert "<script" not in page


async def test_hostile_words_are_words() -> None:
    factory = {"type": "form", "text": HOSTILE, "fields": [{"name": "n", "label": HOSTILE}]}
    query = urlencode({"name": HOSTILE, "controls": json.dumps(factory)})
    async with demonstrated() as door:
        pages = [
            await see(door, f"/devices/{which}/a%22%3E%3Cscript%3E?{query}")
            for which in ("configure", "oauth2")
        ]

    assert [(status, "<script" in page) for status, page in pages] == [(200, False)] * 2


async def test_a_page_elsewhere_cannot_fill_in_a_form() -> None:
    headers = {"Origin": "https://evil.example"}
    async with (
        demonstrated() as door,
        door.http.post(SET_UP, data={"url": "x"}, headers=headers) as response,
    ):
        assert response.status == 403


async def test_who_is_not_known_may_not_set_anything_up() -> None:
    async with (
        almond(AccessPolicy(anonymous=True, loopback=False)) as door,
        door.http.post(SET_UP, data={"url": "x"}) as response,
    ):
        page = await response.text()

    assert response.status == 403
    assert "/user/register" in page


async def test_the_pages_of_almonds_server_are_here() -> None:
    async with almond(AccessPolicy(tokens=TOKENS, loopback=True)) as door:
        async with door.http.get("/conversation", allow_redirects=False) as chat:
            where = chat.headers["Location"]
        async with door.http.get("/devices/create") as create:
            shown = await create.text()
        async with door.http.get("/me/api/profile") as profile:
            who = await profile.json()

    assert chat.status == 302
    assert where == "/"
    assert create.status == 200
    assert "/devices/configure/org.prolocutor." in shown
    assert who["id"] == "almond:local"
    assert who["username"] == "local"
