"""The WebSocket of the DeepPavlov door."""

import aiohttp
import pytest

from prolocutor.testing.channel_kit import STRICT
from tests.integration.doors.fakes import deeppavlov


async def test_a_socket_answers_one_message_after_the_other() -> None:
    async with deeppavlov() as door, door.http.ws_connect("/chat/ws") as socket:
        for n in range(3):
            await socket.send_json({"user_id": "ann", "payload": f"message {n}"})
        replies = [await socket.receive_json() for _ in range(3)]
        dialog = await door.assistant.store.dialog(replies[0]["dialog_id"])

    assert [r["response"] for r in replies] == ["1: message 0", "2: message 1", "3: message 2"]
    assert dialog is not None
    assert dialog.channel_type == "ws_client"


async def test_a_command_is_told_to_be_performed() -> None:
    async with deeppavlov() as door, door.http.ws_connect("/chat/ws") as socket:
        await socket.send_json({"user_id": "ann", "payload": "/start"})
        answer = await socket.receive_json()

    assert answer == "command_performed"


@pytest.mark.parametrize(
    ("message", "field"),
    [("hello", None), ("[]", None), ('{"payload": "hi"}', "user_id"), (b"\xff", None)],
)
async def test_a_wrong_message_does_not_close_the_socket(
    message: str | bytes, field: str | None
) -> None:
    async with deeppavlov() as door, door.http.ws_connect("/chat/ws") as socket:
        await (socket.send_str(message) if isinstance(message, str) else socket.send_bytes(message))
        error = await socket.receive_json()
        await socket.send_json({"user_id": "ann", "payload": "hello"})
        reply = await socket.receive_json()

    assert error["code"] == "bad_input"
    assert error["field"] == field
    assert reply["response"] == "1: hello"


async def test_a_stranger_is_turned_away_at_the_handshake() -> None:
    async with deeppavlov(STRICT) as door:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await door.http.ws_connect("/chat/ws")

    assert refused.value.status == 401


async def test_a_token_in_the_address_opens_a_socket() -> None:
    address = "/chat/ws?access_token=the-token-of-bob"
    async with deeppavlov(STRICT) as door, door.http.ws_connect(address) as socket:
        await socket.send_json({"payload": "hello"})
        reply = await socket.receive_json()

    assert reply["user_id"] == "bob"


async def test_a_turn_outlives_a_socket() -> None:
    async with deeppavlov() as door:
        async with door.http.ws_connect("/chat/ws") as socket:
            await socket.send_json({"user_id": "ann", "payload": "wait"})
            await door.gate.entered.wait()
        door.gate.opened.set()
        async for row in door.assistant.feed("ann"):
            if row.message["type"] == "text":
                break

    assert row.message["text"] == "1: wait"


async def test_a_message_in_hand_is_answered_before_the_socket_is_closed() -> None:
    async with deeppavlov() as door, door.http.ws_connect("/chat/ws") as socket:
        await socket.send_json({"user_id": "ann", "payload": "wait"})
        await door.gate.entered.wait()
        drained = door.app.drain()
        door.gate.opened.set()
        await drained
        reply = await socket.receive_json()
        closed = await socket.receive()

    assert reply["response"] == "1: wait"
    assert closed.type == aiohttp.WSMsgType.CLOSE
    assert closed.data == 1012
