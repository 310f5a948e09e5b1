"""What a client of Almond sees on a WebSocket, frame by frame."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from websockets.asyncio.client import connect

from prolocutor.contracts.store import DialogQuery
from prolocutor.errors import PersonMoved, StoreFull
from prolocutor.plugins.almond.door.dialects import MAX_FRAME
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.testing.channel_kit import TOKENS, Door, Gate
from prolocutor.testing.channel_kit import running as serving
from prolocutor.web import event_writing
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.listener import Listener
from tests.plugins.almond.integration.wire import (
    almond,
    client,
    demonstrated,
    kinds,
    opened,
    summary,
)

ADDRESSES = ["/api/conversation", "/ws/conversation", "/me/api/conversation", "/me/ws/conversation"]
HELP = {"code": ["bookkeeping", "special", "special:help"], "entities": {}}


@pytest.mark.parametrize("address", ADDRESSES)
async def test_a_socket_opens_with_the_conversation_and_its_open_ask(address: str) -> None:
    async with almond() as door, client(door, "", address) as ann:
        frames = await ann.until_asked()

    assert frames == [
        {"type": "id", "id": "main"},
        {"type": "askSpecial", "ask": None, "context": {"code": ["null"], "entities": {}}},
    ]


async def test_words_are_echoed_and_answered_with_ids_and_one_ask() -> None:
    async with demonstrated() as door, opened(door) as ann:
        frames = await ann.say("hello")

    assert summary(frames) == ["command", "Hello! What can I do for you?", [None]]
    assert [frame.get("id") for frame in frames] == [0, 1, None]
    assert frames[0]["command"] == "hello"
    assert frames[1]["icon"] == "demonstration"


async def test_a_second_client_sees_the_conversation_and_its_open_ask() -> None:
    async with demonstrated() as door, opened(door) as ann:
        said = await ann.say("choose")
        async with client(door) as bob:
            seen = await bob.until_asked()

    assert seen == [{"type": "id", "id": "main"}, *said]
    assert [frame["title"] for frame in seen if frame["type"] == "choice"] == ["Red", "Blue"]
    assert seen[-1]["ask"] == "choice"


async def test_ten_messages_of_before_are_shown_at_most() -> None:
    async with demonstrated() as door, opened(door) as ann:
        for _ in range(7):
            await ann.say("hello")
        async with client(door) as bob:
            seen = await bob.until_asked()

    assert [frame["id"] for frame in seen[1:-1]] == list(range(4, 14))


async def test_history_can_be_left_out() -> None:
    async with demonstrated() as door, opened(door) as ann:
        await ann.say("ask me")
        async with client(door, "?skip_history=1") as bob:
            seen = await bob.until_asked()

    assert kinds(seen) == ["id", "askSpecial"]
    assert seen[-1]["ask"] == "yesno"


@pytest.mark.parametrize(("after", "expected"), [(0, [1, 2, 3]), (2, [3]), (3, []), (99, [])])
async def test_a_reconnecting_client_gets_the_messages_since(
    after: int, expected: list[int]
) -> None:
    async with demonstrated() as door, opened(door) as ann:
        await ann.say("hello")
        await ann.say("hello")
        async with client(door, f"?after={after}") as again:
            await again.until_asked()

    assert again.ids == expected


async def test_who_reconnects_gets_more_than_a_page() -> None:
    async with demonstrated() as door, opened(door) as ann:
        for _ in range(52):
            await ann.say("hello")
        async with client(door, "?after=3") as again:
            await again.until_asked()

    assert again.ids == list(range(4, 104))


async def test_all_clients_see_the_same_messages_once_each() -> None:
    async with demonstrated() as door, opened(door) as ann, opened(door) as bob:
        said = [await ann.say("ask me"), await ann.say("yes")]
        seen = [await bob.until_asked(), await bob.until_asked()]

    assert seen == said


async def test_an_id_names_a_dialog_of_its_own() -> None:
    async with demonstrated() as door, opened(door, "?id=kitchen") as ann, opened(door) as bob:
        await ann.say("ask me")
        said = await bob.say("hello")

    assert ann.frames[0] == {"type": "id", "id": "kitchen"}
    assert [frame.get("id") for frame in said] == [0, 1, None]


async def test_the_first_generation_has_neither_ids_nor_echo() -> None:
    async with demonstrated() as door, client(door, "?protocol=1") as ann:
        opening = await ann.until_asked()
        said = await ann.say("choose")

    assert opening == [{"type": "askSpecial", "ask": None}]
    assert said == [
        {"type": "text", "text": "Which one would you like?", "icon": "demonstration"},
        {
            "type": "choice",
            "idx": 0,
            "title": "Red",
            "text": "The colour of roses",
            "icon": "demonstration",
        },
        {
            "type": "choice",
            "idx": 1,
            "title": "Blue",
            "text": "The colour of violets",
            "icon": "demonstration",
        },
        {"type": "askSpecial", "ask": "choice"},
    ]


async def test_the_demonstration_goes_as_its_description_says() -> None:
    async with demonstrated() as door, opened(door) as ann:
        asked = [await ann.say("ask me"), await ann.say("yes")]
        chosen = [await ann.say("choose"), await ann.say("blue")]
        told = [await ann.say("tell me"), await ann.say("cancel")]
        left = [await ann.say("ask for a number"), await ann.say("never mind")]
        cards = await ann.say("cards")

    assert [summary(turn)[-1] for turn in (asked[0], chosen[0], told[0], left[0])] == [
        ["yesno"],
        ["choice"],
        ["raw_string"],
        ["number"],
    ]
    assert summary(asked[1])[1:] == ["You said yes.", [None]]
    assert summary(chosen[1])[1:] == ["You chose Blue.", [None]]
    assert summary(told[1])[1:] == ["Noted: cancel", [None]]
    assert summary(left[1])[1:] == ["All right, never mind.", [None]]
    assert kinds(cards) == [
        "command",
        "text",
        "picture",
        "rdl",
        "button",
        "link",
        "link",
        "askSpecial",
    ]
    assert cards[4]["json"] == HELP
    assert cards[5]["url"] == cards[5]["link"]


async def test_a_result_is_shown_once_in_either_generation() -> None:
    async with demonstrated() as door, opened(door) as ann:
        frames = await ann.say("result")
        async with opened(door, "?protocol=1&id=old") as bob:
            old = await bob.say("result")

    assert summary(frames) == ["command", "Here is a result.", "It is 21 degrees.", [None]]
    assert summary(old) == ["Here is a result.", "result", [None]]


@pytest.mark.parametrize(
    ("frame", "echo"),
    [
        ({"title": "Help", "json": HELP}, "Help"),
        ({"json": json.dumps(HELP)}, "\\r " + json.dumps(HELP, separators=(",", ":"))),
        (dict(HELP), "\\r " + json.dumps(HELP, separators=(",", ":"))),
    ],
)
async def test_a_button_is_pressed_by_changing_its_type(frame: Any, echo: str) -> None:
    async with demonstrated() as door, opened(door) as ann:
        await ann.send(type="parsed", **frame)
        frames = await ann.until_asked()

    assert frames[0]["command"] == echo
    assert frames[0]["json"] == HELP
    assert kinds(frames).count("askSpecial") == 1
    assert frames[1]["type"] == "text"


@pytest.mark.parametrize("key", ["code", "tt"])
async def test_broken_thingtalk_ends_with_one_ask_like_any_turn(key: str) -> None:
    async with demonstrated() as door, opened(door) as ann:
        await ann.send(type="tt", **{key: 'now =>"lol");'})
        frames = await ann.until_asked()
        then = await ann.say("hello")

    assert frames[0]["command"] == '\\t now =>"lol");'
    assert kinds(frames)[1:] == ["text"] * (len(frames) - 2) + ["askSpecial"]
    assert summary(then) == ["command", "Hello! What can I do for you?", [None]]


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ('{"type": "dance"}', "'dance'"),
        ('{"text": "hello"}', "None"),
        ("no JSON", "JSON"),
        ("[]", "object"),
        ('{"type": "command", "text": 5}', "text"),
        (json.dumps({"type": "command", "text": "x" * 100_001}), "100,000"),
        (json.dumps({"type": "command", "text": "x" * MAX_FRAME}), "512,000"),
        ('{"type": "command", "text": "\\ud800"}', "surrogate"),
        ('{"type": "req-subproto", "proto": "audio", "caps": []}', "subprotocol"),
    ],
)
async def test_an_invalid_frame_is_told_and_the_round_goes_on(frame: str, told: str) -> None:
    async with demonstrated() as door, opened(door) as ann:
        await ann.say("ask me")
        await ann.socket.send_str(frame)
        frames = await ann.until_asked()
        then = await ann.say("yes")

    assert kinds(frames) == ["error", "askSpecial"]
    assert told in frames[0]["error"]
    assert frames[0]["error"] == frames[0]["message"]
    assert frames[1]["ask"] == "yesno"
    assert summary(then) == ["command", "You said yes.", [None]]


@pytest.mark.parametrize("blank", ["", "  ", "\n\t"])
async def test_who_says_nothing_is_told_how_things_stand(blank: str) -> None:
    async with demonstrated() as door, opened(door) as ann, opened(door) as bob:
        await ann.say("ask me")
        frames = await ann.say(blank)
        seen = [await bob.until_asked(), await bob.say("yes")]

    assert summary(frames) == [["yesno"]]
    assert summary(seen[1]) == ["command", "You said yes.", [None]]


async def test_a_ping_is_not_answered() -> None:
    async with demonstrated() as door, opened(door) as ann:
        await ann.send(type="ping")
        frames = await ann.say("hello")

    assert kinds(frames) == ["command", "text", "askSpecial"]


async def test_frames_are_handled_in_order_and_read_meanwhile() -> None:
    async with almond() as door, connect(door.url.replace("http", "ws") + ADDRESSES[0]) as socket:
        await socket.send('{"type": "command", "text": "wait"}')
        await door.gate.entered.wait()
        for n in range(20):
            await socket.send(json.dumps({"type": "command", "text": f"{n}"}))
        await (await socket.ping())
        door.gate.opened.set()
        frames = [json.loads(await socket.recv()) for _ in range(2 + 21 * 3)][2:]

    assert [frame["command"] for frame in frames[::3]] == ["wait", *map(str, range(20))]
    assert [frame["id"] for frame in frames if "id" in frame] == list(range(42))


async def test_who_sends_very_much_at_once_is_answered_in_order() -> None:
    async with almond() as door, opened(door) as ann:
        for n in range(150):
            await ann.send(type="command", text=f"{n}")
        turns = [await ann.until_asked() for _ in range(150)]

    assert [turn[1]["text"] for turn in turns] == [f"{n + 1}: {n}" for n in range(150)]


async def test_a_frame_may_come_as_bytes() -> None:
    async with demonstrated() as door, opened(door) as ann:
        await ann.socket.send_bytes(b'{"type": "command", "text": "hello"}')
        frames = await ann.until_asked()

    assert kinds(frames) == ["command", "text", "askSpecial"]


async def test_frames_sent_before_the_opening_are_answered_after_it() -> None:
    async with demonstrated() as door, client(door) as ann:
        await ann.send(type="command", text="hello")
        frames = [await ann.until_asked(), await ann.until_asked()]

    assert kinds(frames[0]) == ["id", "askSpecial"]
    assert kinds(frames[1]) == ["command", "text", "askSpecial"]


async def test_words_of_a_client_that_left_are_in_the_dialog() -> None:
    async with demonstrated() as door:
        async with opened(door) as ann:
            for _ in range(3):
                await ann.send(type="command", text="hello")
        async with opened(door) as again:
            while len(again.ids) < 6:
                await again.receive()

    assert again.ids == list(range(6))


async def test_a_full_queue_is_told_with_an_ask() -> None:
    async with almond() as door, opened(door) as ann:
        await ann.send(type="command", text="wait")
        await door.gate.entered.wait()
        crowd = [
            asyncio.ensure_future(door.assistant.turn(f"{n}", user="almond:local"))
            for n in range(100)
        ]
        async with opened(door, "?id=other") as bob:
            frames = await bob.say("hello")
        door.gate.opened.set()
        await asyncio.gather(*crowd, return_exceptions=True)

    assert kinds(frames) == ["error", "askSpecial"]
    assert frames[0]["code"] == "overloaded"


async def test_a_full_store_is_told_with_an_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: Any) -> Any:
        raise StoreFull("the disk is full")

    async with demonstrated() as door, opened(door) as ann:
        await ann.say("ask me")
        with monkeypatch.context() as full:
            full.setattr(door.assistant.store, "open_turn", refuse)
            frames = await ann.say("yes")
        then = await ann.say("yes")

    assert [frames[0]["code"], frames[-1]["ask"]] == ["store_full", "yesno"]
    assert kinds(frames) == ["error", "askSpecial"]
    assert summary(then) == ["command", "You said yes.", [None]]


async def test_a_feed_that_cannot_be_read_for_a_while_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_writing, "RETRY_SECONDS", 0.01)
    failures = iter(range(3))
    async with demonstrated() as door, opened(door) as ann:
        feed = door.assistant.store.feed

        async def fails(*arguments: Any) -> Any:
            if next(failures, None) is not None:
                raise StoreFull("the disk is full")
            return await feed(*arguments)

        monkeypatch.setattr(door.assistant.store, "feed", fails)
        frames = await ann.say("hello")
        then = await ann.say("hello")

    assert kinds(frames) == kinds(then) == ["command", "text", "askSpecial"]


async def test_the_socket_of_who_is_in_another_database_now_is_told_to_connect_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(*_: Any) -> Any:
        raise PersonMoved("this person is in another database")

    async with demonstrated() as door, opened(door) as ann:
        await ann.say("hello")
        monkeypatch.setattr(door.assistant.store, "feed", refuse)
        door.assistant.feeds.wake("almond:local")
        closed = await ann.socket.receive()

    assert closed.type == aiohttp.WSMsgType.CLOSE
    assert closed.data == 1012


async def test_who_was_deleted_goes_on_as_somebody_new() -> None:
    async with demonstrated() as door, opened(door) as ann:
        await ann.say("hello")
        await ann.say("hello")
        await door.assistant.archive.delete_person("almond:local")
        frames = await ann.say("hello")

    assert [frame.get("id") for frame in frames] == [0, 1, None]


async def test_devices_come_first_and_without_their_settings() -> None:
    device = {"kind": "com.example", "name": "Example", "password": "secret"}
    async with demonstrated() as door:
        async with door.http.post("/api/devices/create", json=device):
            pass
        async with client(door, "?sync_devices=1") as ann:
            frames = await ann.until_asked()

    assert kinds(frames) == ["id", "new-device", "new-device", "askSpecial"]
    assert frames[2]["state"] == {"kind": "com.example", "name": "Example"}
    assert "secret" not in json.dumps(frames)


@pytest.mark.parametrize("query", ["?after=x", "?after=--5", "?protocol=3", "?id=" + "x" * 201])
async def test_a_wrong_query_is_told_and_the_socket_closed(query: str) -> None:
    async with demonstrated() as door, client(door, query) as ann:
        frame = await ann.receive()
        closed = await ann.socket.receive()

    assert frame["type"] == "error"
    assert frame["code"] == "bad_input"
    assert closed.type == aiohttp.WSMsgType.CLOSE
    assert closed.data == 1008


LONG = "x" * 450_000


def long_winded(_: dict[str, Any]) -> dict[str, Any]:
    return {"text": LONG, "confidence": 1.0}


async def test_a_client_that_does_not_read_holds_nobody_up() -> None:
    impatient = ListenerLimits(patience=0.2)
    async with demonstrated(long_winded, limits=impatient) as door, opened(door) as ann:
        host = door.url.removeprefix("http://")
        reader, writer = await asyncio.open_connection(*host.split(":"), limit=1024)
        try:
            writer.write(
                f"GET /api/conversation HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\n"
                "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
            )
            await reader.readuntil(b"\r\n\r\n")
            writer.transport.pause_reading()
            turns = 0
            while len(door.app._sockets) == 2:
                frames = await ann.say("hello")
                assert kinds(frames) == ["command", "text", "askSpecial"]
                turns += 1
        finally:
            writer.transport.abort()

    assert ann.ids == list(range(2 * turns))


async def test_more_than_fits_into_the_outbox_is_shown_to_who_reads() -> None:
    async with demonstrated(long_winded) as door, opened(door) as ann:
        for _ in range(8):
            await ann.say("hello")
        async with client(door) as again, client(door, "?after=-1") as anew:
            for one in (again, anew):
                await one.until_asked()

    assert again.ids == list(range(6, 16))
    assert anew.ids == list(range(16))


async def test_people_with_tokens_are_apart() -> None:
    auth = AccessPolicy(tokens=TOKENS, loopback=False)
    said = []
    async with almond(auth) as door:
        for token in TOKENS:
            async with opened(door, f"?access_token={token}") as one:
                said.append(summary(await one.say("hello")))
        found = [
            await door.assistant.store.dialog_ids(DialogQuery(user=f"almond:{u}"))
            for u in TOKENS.values()
        ]

    assert said == [["command", "1: hello", [None]]] * 2
    assert [len(ids) for ids in found] == [1, 1]


@pytest.mark.parametrize("address", ["/me/api/anonymous", "/me/ws/anonymous", "/api/conversation"])
async def test_anonymous_people_are_apart_and_go_on_by_their_id(address: str) -> None:
    async with almond(AccessPolicy(anonymous=True, loopback=False)) as door:
        async with client(door, "", address) as one, client(door, "", address) as other:
            name = (await one.until_asked())[0]["id"]
            await other.until_asked()
            said = [await one.say("a"), await other.say("b")]
        async with opened(door, f"?id={name}", address) as again:
            went_on = await again.say("c")

    assert [turn[1]["text"] for turn in said] == ["1: a", "1: b"]
    assert went_on[1]["text"] == "2: c"


async def test_who_has_a_token_is_in_the_wrong_place_at_the_anonymous_address() -> None:
    auth = AccessPolicy(tokens=TOKENS, anonymous=True, loopback=False)
    async with (
        almond(auth) as door,
        door.other_visitor("the-token-of-ann") as ann,
        client(ann, "", "/me/api/anonymous") as socket,
    ):
        closed = await socket.socket.receive()

    assert closed.type == aiohttp.WSMsgType.CLOSE
    assert closed.data == 1008


async def test_a_bridge_goes_on_in_the_conversation_of_its_choice_by_the_secret() -> None:
    async with almond(AccessPolicy(anonymous=True, loopback=False)) as door:
        async with client(door, "?id=bridge", "/me/api/anonymous") as one:
            [opening, *_] = await one.until_asked()
            await one.say("hello")
        query = f"?id=bridge&secret={opening['secret']}"
        async with client(door, query, "/me/api/anonymous") as again:
            back = await again.until_asked()
        async with client(door, "?id=bridge", "/me/api/anonymous") as stranger:
            empty = await stranger.until_asked()

    assert opening["id"] == "bridge"
    assert back[0] == opening
    assert kinds(back) == ["id", "command", "text", "askSpecial"]
    assert kinds(empty) == ["id", "askSpecial"]


async def test_a_new_conversation_begins_with_the_welcome_unless_it_is_hidden() -> None:
    async with demonstrated() as plain_door:
        it = plain_door.assistant
        app = Listener(it, [Almond(it, welcome="Welcome!")])
        async with serving(app) as url, aiohttp.ClientSession(url) as http:
            door = Door(url, http, it, app, Gate())
            async with client(door, "?hide_welcome=1") as hidden:
                without = await hidden.until_asked()
            async with client(door) as first:
                opening = await first.until_asked()
            async with client(door) as second:
                again = await second.until_asked()

    assert kinds(without) == ["id", "askSpecial"]
    assert [one.get("text") for one in opening] == [None, "Welcome!", None]
    assert again == opening
