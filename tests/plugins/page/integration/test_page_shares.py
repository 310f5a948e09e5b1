"""A conversation that its person shares by a link: read by anybody, until the person ends it."""

import json
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.plugins.page.channel import Page, PageDoor
from prolocutor.testing.channel_kit import STRICT, Door, run_door
from prolocutor.web.door_context import DoorContext
from tests.integration.doors.fakes import get
from tests.plugins.page.integration.test_page_conversations import ask, said, the_page

LINK = "/api/shares/mine"


async def link_of(door: Door, method: str = "PUT") -> str:
    async with door.http.request(method, LINK) as answer:
        assert answer.status == 200, await answer.text()
        path: str = (await answer.json())["path"]
        return path


async def read(door: Door, path: str) -> tuple[int, Any]:
    return await get(door, f"/api{path}")


async def test_anybody_with_the_link_reads_what_was_said_until_it_was_made() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:ann", "mine", "when is the next train")
        await said(door, "almond:ann", "other", "a secret of mine")
        path = await link_of(ann)
        await said(door, "almond:ann", "mine", "my PIN is 1234")
        status, shown = await read(door, path)
        async with door.http.get(path) as page:
            html = await page.text()
        again, kept = await link_of(ann), await link_of(ann, "GET")
        _, later = await read(door, path)

    words = json.dumps(shown)
    assert status == 200
    assert shown["title"] == "Next train"
    assert shown["next"] is None
    assert shown["items"][0]["message"]["type"] == "command"
    assert "1234" not in words
    assert "secret" not in words
    assert "almond:ann" not in words
    assert again == kept == path
    assert "1234" in json.dumps(later)
    assert 'content="noindex"' in html


async def test_a_link_leads_nowhere_once_its_person_ends_it() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:ann", "mine", "when is the next train")
        path = await link_of(ann)
        ended = await ask(ann, "DELETE", LINK)
        seen = (await read(door, path))[0]
        async with door.http.get(path) as page:
            shown = (page.status, page.content_type)
        other = await link_of(ann)

    assert ended == 204
    assert seen == 404
    assert shown == (404, "text/html")
    assert other != path


@pytest.mark.parametrize("what", ["conversation", "person"])
async def test_what_is_deleted_is_shared_no_more(what: str) -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:ann", "mine", "when is the next train")
        path = await link_of(ann)
        if what == "person":
            await door.assistant.archive.delete_person("almond:ann")
        else:
            await ask(ann, "DELETE", "/api/conversations/mine")
        seen = (await read(door, path))[0]
        left = await door.assistant.store.records_since("opened-share")

    assert seen == 404
    assert left == []


async def test_only_ones_own_conversation_is_shared() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:bob", "mine", "a secret")
        refused = [await ask(ann, method, LINK) for method in ("GET", "PUT", "DELETE")]
        unknown = (await read(door, "/shared/x"))[0]

    assert refused == [404, 404, 404]
    assert unknown == 404


async def test_nothing_is_shared_where_the_file_says_so() -> None:
    def closed(assistant: Assistant) -> Page:
        return Page(DoorContext(assistant), PageDoor(shares=False))

    async with run_door(closed, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:ann", "mine", "when is the next train")
        assert await ask(ann, "PUT", LINK) == 404
