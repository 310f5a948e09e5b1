"""The list of one's conversations and search in them, at the door of the chat page."""

from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.contracts.pairing import Card
from prolocutor.plugins.page.channel import Page, PageDoor
from prolocutor.plugins.page.conversations import SaidMessage
from prolocutor.testing.channel_kit import KEY, STRICT, Door, run_door
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from tests.integration.doors.fakes import get

SECRET = "5" * 32


def the_page(assistant: Assistant) -> Page:
    return Page(DoorContext(assistant))


async def said(door: Door, user: str, dialog: str, *texts: str) -> None:
    for text in texts:
        await door.assistant.reply(text, user, dialog)


async def ask(door: Door, method: str, path: str, body: Any = None, **query: str) -> Any:
    async with door.http.request(method, path, json=body, params=query) as response:
        return response.status


async def listed(door: Door, **query: str) -> list[tuple[str, str]]:
    status, body = await get(door, "/api/conversations", **query)
    assert status == 200, body
    return [(one["id"], one["title"]) for one in body["items"]]


async def test_conversations_are_listed_renamed_and_deleted_by_their_person() -> None:
    long = "can I get my money back if the train to Bergen is late?"
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:ann", "main", long, "thanks")
        await said(door, "almond:ann", "a/b c", "  second\nwords ")
        await said(door, "almond:bob", "his", "a secret")

        assert await listed(ann) == [
            ("a/b c", "Second words"),
            ("main", "Can I get my money back if the train to…"),
        ]
        _, first = await get(ann, "/api/conversations", limit="1")
        assert await listed(ann, limit="1", cursor=first["next"]) == [
            ("main", "Can I get my money back if the train to…")
        ]
        path = "/api/conversations/a%2Fb%20c"
        assert await ask(ann, "PATCH", path, {"title": " <b>Mine</b> "}) == 204
        assert (await listed(ann))[0] == ("a/b c", "<b>Mine</b>")
        assert await ask(ann, "PATCH", path, {"title": None}) == 204
        assert (await listed(ann))[0] == ("a/b c", "Second words")
        assert await ask(ann, "DELETE", path) == 204
        assert [id_ for id_, _ in await listed(ann)] == ["main"]
        refused = [
            await ask(ann, "DELETE", path),
            await ask(ann, "DELETE", "/api/conversations/his"),
            await ask(ann, "PATCH", "/api/conversations/his", {"title": "x"}),
            await ask(ann, "PATCH", "/api/conversations/main", {"title": "x" * 81}),
            (await get(ann, "/api/conversations", cursor="-1"))[0],
            (await get(ann, "/api/conversations", limit="0"))[0],
        ]

    assert refused == [404, 404, 404, 400, 400, 400]


async def test_conversations_are_pinned_tagged_and_put_away() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        for name in ("first", "second", "third"):
            await said(door, "almond:ann", name, f"about the {name} thing")
        path = "/api/conversations"
        given = [
            await ask(ann, "PATCH", f"{path}/first", {"pinned": True, "tags": ["a ", "<b>", "a"]}),
            await ask(ann, "PATCH", f"{path}/second", {"archived": True}),
            await ask(ann, "PATCH", f"{path}/first", {"title": "Mine"}),
        ]
        _, page = await get(ann, path)
        _, away = await get(ann, path, kind="archived")
        tagged = await listed(ann, tag="<b>")
        _, one = await get(ann, path, limit="1")
        refused = [
            await ask(ann, "PATCH", f"{path}/first", {"tags": ["x" * 31]}),
            await ask(ann, "PATCH", f"{path}/first", {"tags": ["x"] * 9}),
            await ask(ann, "PATCH", f"{path}/first", {"pinned": "yes"}),
            await ask(ann, "PATCH", f"{path}/others", {"pinned": True}),
        ]
        await ask(ann, "DELETE", f"{path}/first")
        _, after = await get(ann, path)

    assert given == [204, 204, 204]
    assert [one["id"] for one in page["items"]] == ["third", "first"]
    assert [(one["id"], one["title"], one["tags"]) for one in page["pinned"]] == [
        ("first", "Mine", ["a", "<b>"])
    ]
    assert page["tags"] == ["<b>", "a"]
    assert page["archived"] == 1
    assert [one["id"] for one in away["items"]] == ["second"]
    assert tagged == [("first", "Mine")]
    assert [item["id"] for item in one["items"]] == ["third"]
    assert one["next"] is not None
    assert refused == [400, 400, 400, 404]
    assert after["pinned"] == []
    assert after["tags"] == []


async def test_a_title_says_more_than_the_greeting_and_all_words_can_be_had() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:ann", "main", "Hello!", "where is my parcel from Oslo?")
        await said(door, "almond:ann", "short", "hi", "ok")

        titles = await listed(ann)
        _, page = await get(ann, "/api/conversations/main")
        _, rest = await get(ann, "/api/conversations/main", after="1")
        status, _ = await get(ann, "/api/conversations/nobody")

    assert titles == [("short", "hi"), ("main", "Where is my parcel from Oslo")]
    words = [one["message"].get("command") or one["message"]["text"] for one in page["items"]]
    assert words[::2] == ["Hello!", "where is my parcel from Oslo?"]
    assert [one["id"] for one in rest["items"]] == [2, 3]
    assert page["next"] is None
    assert status == 404


async def test_settings_are_kept_with_their_person_and_go_with_them() -> None:
    chosen = {"language": "pt-BR", "time_zone": "Asia/Tokyo", "theme": "dark", "enter_sends": False}
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:ann", "main", "hi")
        kept = await ask(ann, "PUT", "/api/settings", chosen)
        refused = [
            await ask(ann, "PUT", "/api/settings", wrong)
            for wrong in (
                {"time_zone": "../../etc/passwd"},
                {"language": "<b>"},
                {"theme": "pink"},
                {"enter_sends": 1},
            )
        ]
        _, told = await get(ann, "/api/settings")
        await door.assistant.archive.delete_person("almond:ann")
        _, gone = await get(ann, "/api/settings")

    assert kept == 204
    assert refused == [400] * 4
    assert told == chosen
    assert gone == {}


async def test_search_leads_to_the_messages_with_all_words_the_latest_first() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:ann", "main", "Where is the LATE train?", "something else")
        await said(door, "almond:ann", "work", "a train of thought, " + "x" * 500)
        await said(door, "almond:bob", "main", "the late train is mine")

        status, body = await get(ann, "/api/search", words="Train late")
        _, both = await get(ann, "/api/search", words="train", limit="3")
        _, rest = await get(ann, "/api/search", words="train", cursor=both["next"])
        nothing = await get(ann, "/api/search", words="mine")
        refused = [(await get(ann, "/api/search", **query))[0] for query in ({}, {"words": "  "})]

    assert status == 200
    hits = [(one["conversation"], one["message"], one["own"], one["text"]) for one in body["items"]]
    assert hits == [
        ("main", 1, False, "1: Where is the LATE train?"),
        ("main", 0, True, "Where is the LATE train?"),
    ]
    assert all(one["at"] > 1_700_000_000 for one in body["items"])
    assert [one["conversation"] for one in both["items"]] == ["work", "work", "main"]
    assert all(len(one["text"]) <= 202 for one in both["items"])
    assert [one["message"] for one in rest["items"]] == [0]
    assert rest["next"] is None
    assert nothing[1]["items"] == []
    assert refused == [400, 400]


async def test_an_anonymous_person_has_several_conversations() -> None:
    async with run_door(the_page, AccessPolicy(anonymous=True, loopback=False)) as door:
        user, id_ = f"almond:anonymous-{SECRET}", f"web-{SECRET}"
        await said(door, user, "main", "one")
        await said(door, user, "next", "two")
        await said(door, f"almond:anonymous-{'6' * 32}", "main", "not mine")

        assert await listed(door, id=id_) == [(f"{id_}.next", "Two"), (id_, "One")]
        assert await listed(door, id=f"{id_}.next") == await listed(door, id=id_)
        path = "/api/conversations/web-"
        others = await ask(door, "DELETE", f"{path}{'6' * 32}", id=id_)
        own = await ask(door, "DELETE", f"{path}{SECRET}.next", id=id_)
        _, hits = await get(door, "/api/search", words="o", id=id_)
        nobody = await get(door, "/api/conversations")

    assert others == 404
    assert own == 204
    assert nobody[0] == 403
    assert {one["conversation"] for one in hits["items"]} == {id_}


@pytest.mark.parametrize("secret", [None, "a-guess"])
async def test_strangers_are_told_nothing(secret: str | None) -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor(secret) as stranger:
        asked = ["/api/conversations", "/api/search?words=a", "/api/page"]
        found = [(await get(stranger, path))[0] for path in asked]
        found.append(await ask(stranger, "DELETE", "/api/conversations/main"))

    assert found == [401] * 4


async def test_an_operator_reads_those_of_the_user_they_name() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor(KEY) as operator:
        await said(door, "almond:bob", "his", "a secret")

        assert await listed(operator, user="bob") == [("his", "A secret")]
        assert await listed(operator) == []


async def test_starters_are_the_files_or_examples_of_cards() -> None:
    def written(assistant: Assistant) -> Channel:
        return Page(DoorContext(assistant, starters=["Hello!"]), PageDoor(voice=True))

    def of_cards(assistant: Assistant) -> Channel:
        texts = {"gate": ["One", "Two", "Three"], "gone": ["Four"]}
        cards = {name: Card(examples=examples) for name, examples in texts.items()}
        return Page(DoorContext(assistant, cards=cards))

    async with run_door(written) as door:
        _, info = await get(door, "/api/page")
        async with door.http.get("/") as page:
            permissions = page.headers["Permissions-Policy"]
    async with run_door(of_cards) as door:
        _, other = await get(door, "/api/page")

    assert info["starters"] == ["Hello!"]
    assert info["voice"] is True
    assert "microphone=(self)" in permissions
    assert info["agents"] == [{"name": "gate", "icon": False, "markdown": False}]
    assert other["starters"] == ["One", "Two"]
    assert other["voice"] is False


async def test_the_address_of_an_uploaded_file_is_neither_in_a_title_nor_in_a_hit() -> None:
    file = f"http://127.0.0.1:8931/uploads/{'a' * 32}.png"
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        await said(door, "almond:ann", "asked", f"what is on this picture? {file}")
        await said(door, "almond:ann", "only", file)
        titles = await listed(ann)
        _, hits = await get(ann, "/api/search", words="picture?")

    assert titles == [("only", "A picture"), ("asked", "What is on this picture")]
    assert [one["text"] for one in hits["items"] if one["own"]] == ["what is on this picture?"]


def test_a_hit_keeps_the_lines_by_which_markdown_is_read() -> None:
    said = SaidMessage(type="text", text="You get:\n\n| late |   back |\n|---|---|\n| 1 h | half |")

    assert said.around(["half"]) == "You get:\n\n| late | back |\n|---|---|\n| 1 h | half |"
