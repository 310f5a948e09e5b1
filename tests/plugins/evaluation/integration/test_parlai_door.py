"""What a client of ParlAI's websocket chat service sees at `/websocket`."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import aiohttp
import pytest

from prolocutor.contracts.store import DialogQuery
from prolocutor.plugins.evaluation.chat_door import Parlai, quick_replies
from prolocutor.testing.channel_kit import TOKENS, Door, run_door
from prolocutor.web.authentication import AccessPolicy


def parlai(auth: AccessPolicy | None = None) -> AbstractAsyncContextManager[Door]:
    return run_door(Parlai, auth)


async def talk(socket: aiohttp.ClientWebSocketResponse, text: Any) -> Any:
    await socket.send_json({"id": "terminal", "text": text})
    return (await socket.receive_json())["text"]


async def test_a_reply_has_parlais_fields() -> None:
    async with parlai() as door, door.http.ws_connect("/websocket") as socket:
        await socket.send_json({"text": "hello"})
        reply = await socket.receive_json()

    assert reply["text"] == "1: hello"
    assert reply["quick_replies"] is None


async def test_two_sockets_are_two_people() -> None:
    async with (
        parlai() as door,
        door.http.ws_connect("/websocket") as ann,
        door.http.ws_connect("/websocket") as bob,
    ):
        said = [await talk(ann, "a"), await talk(bob, "b"), await talk(ann, "c")]

    assert said == ["1: a", "1: b", "2: c"]


async def test_who_has_a_token_goes_on_over_a_new_socket() -> None:
    auth = AccessPolicy(tokens=TOKENS, loopback=False)
    said = []
    async with parlai(auth) as door, door.other_visitor("the-token-of-ann") as ann:
        for text in "ab":
            async with ann.http.ws_connect("/websocket") as socket:
                said.append(await talk(socket, text))

    assert said == ["1: a", "2: b"]


async def test_an_anonymous_visitor_goes_on_by_the_name_it_was_given() -> None:
    async with parlai(AccessPolicy(anonymous=True, loopback=False)) as door:
        async with door.http.ws_connect("/websocket") as socket:
            await socket.send_json({"text": "a"})
            name = (await socket.receive_json())["user"]
        async with door.http.ws_connect(f"/websocket?user={name}") as socket:
            assert await talk(socket, "b") == "2: b"


async def test_an_anonymous_visitor_cannot_be_somebody_by_name() -> None:
    async with (
        parlai(AccessPolicy(anonymous=True, loopback=False)) as door,
        door.http.ws_connect("/websocket?user=ann") as socket,
    ):
        refused = await socket.receive_json()

    assert refused["code"] == "forbidden"


@pytest.mark.parametrize("word", ["[DONE]", "[RESET]"])
async def test_the_words_of_parlais_worlds_end_the_dialog(word: str) -> None:
    async with parlai() as door, door.http.ws_connect("/websocket?user=ann") as socket:
        for text in ("a", word, "b"):
            await talk(socket, text)
        found = await door.assistant.store.dialog_ids(DialogQuery(user="parlai:ann"))

    assert len(found) == 2
    assert door.gate.calls == 2


async def test_exit_closes_the_socket() -> None:
    async with parlai() as door, door.http.ws_connect("/websocket") as socket:
        assert await talk(socket, "EXIT") == "Goodbye."
        assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE


async def test_an_error_is_told_as_text_too_and_the_session_goes_on() -> None:
    async with parlai() as door, door.http.ws_connect("/websocket") as socket:
        told = await talk(socket, 5)
        await socket.send_str("no JSON")
        refused = await socket.receive_json()
        said = await talk(socket, "a")

    assert told == "text is needed, as a text"
    assert refused["code"] == "bad_input"
    assert said == "1: a"


async def test_a_payload_is_an_attribute_of_what_was_said() -> None:
    async with parlai() as door, door.http.ws_connect("/websocket?user=ann") as socket:
        await socket.send_json({"text": "look", "payload": {"type": "image"}})
        await socket.receive_json()
        (id_,) = await door.assistant.store.dialog_ids(DialogQuery(user="parlai:ann"))
        dialog = await door.assistant.store.dialog(id_)

    assert dialog is not None
    assert dialog.utterances[0].attributes["payload"] == {"type": "image"}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, None),
        ({"messages": "none"}, None),
        ({"messages": [{"type": "text", "text": "x"}]}, None),
        (
            {"messages": [{"type": "choice", "title": "a"}, {"type": "button", "title": "b"}]},
            ["a", "b"],
        ),
    ],
)
def test_buttons_and_choices_are_quick_replies(
    attributes: dict[str, Any], expected: list[str] | None
) -> None:
    assert quick_replies(attributes) == expected


async def test_half_of_a_character_is_told_as_what_it_is_and_the_session_goes_on() -> None:
    async with parlai() as door, door.http.ws_connect("/websocket") as socket:
        await socket.send_str(r'{"text": "\ud800"}')
        told = await socket.receive_json()
        again = await talk(socket, "hello")

    assert told["text"] == "a lone surrogate is not Unicode text"
    assert again == "1: hello"
