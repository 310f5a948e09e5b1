"""Talking through the DeepPavlov door."""

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.channel_kit import Door, DoorAnswer, Gate, running
from prolocutor.web.listener import Listener
from prolocutor_demo import demonstration
from tests.integration.doors.fakes import deeppavlov, get, post


async def test_a_reply_has_the_keys_of_deeppavlovs() -> None:
    async with deeppavlov() as door:
        status, reply = await post(door, user_id="ann", payload="hello")
        dialog = await door.assistant.store.dialog(reply["dialog_id"])

    assert status == 200
    assert reply.keys() == {
        "dialog_id",
        "utt_id",
        "user_id",
        "response",
        "attributes",
        "active_skill",
    }
    assert reply["user_id"] == "ann"
    assert reply["response"] == "1: hello"
    assert reply["attributes"] == {}
    assert reply["active_skill"] == "gate"
    assert dialog is not None
    assert dialog.utterances[-1].utt_id == reply["utt_id"]
    assert dialog.channel_type == "http_client"


async def test_a_rich_reply_is_said_as_text_beside_its_messages() -> None:
    pipeline = Pipeline(skills=[Service("demonstration", demonstration.answer)])
    async with (
        Assistant(pipeline, store="memory:") as it,
        running(Listener(it, [DeepPavlov(it)])) as url,
        aiohttp.ClientSession(url) as http,
    ):
        door = Door(url, http, it, Listener(it), Gate())
        asked = (await post(door, user_id="ann", payload="choose"))[1]
        wrong = (await post(door, user_id="ann", payload="seven"))[1]

    first = "Which one would you like?"
    colours = ["1. Red: The colour of roses", "2. Blue: The colour of violets"]
    assert asked["response"].splitlines() == [first, *colours]
    assert asked["attributes"]["messages"][0]["text"] == first
    assert wrong["response"].splitlines()[0].startswith("Sorry")
    assert wrong["response"].splitlines()[-2:] == colours


async def test_debug_output_shows_hypotheses_and_annotations() -> None:
    async with deeppavlov() as door:
        _, reply = await post(door, user_id="ann", payload="hello", debug_output=True)

    (hypothesis,) = reply["debug_output"]["hypotheses"]
    assert hypothesis["skill_name"] == "gate"
    assert hypothesis["text"] == "1: hello"
    assert reply["debug_output"]["annotations"] == {}


async def test_debug_output_of_a_repeated_reply_is_the_same() -> None:
    async with deeppavlov() as door:
        replies = [
            await said_with_key(door, {"user_id": "ann", "payload": "hi", "debug_output": True})
            for _ in range(2)
        ]

    assert replies[0].body == replies[1].body
    assert door.gate.calls == 1


async def test_other_keys_become_attributes_of_the_utterance() -> None:
    async with deeppavlov() as door:
        _, reply = await post(
            door, user_id="ann", payload="hello", user_device_type="tv", location="x", lang="en"
        )
        _, dialog = await get(door, f"/api/dialogs/{reply['dialog_id']}")

    assert dialog["human_utterances"][0]["attributes"] == {"lang": "en"}


@pytest.mark.parametrize("command", ["/start", "/close"])
async def test_a_command_ends_the_dialog_without_asking_anybody(command: str) -> None:
    async with deeppavlov() as door:
        _, first = await post(door, user_id="ann", payload="hello")
        status, answer = await post(door, user_id="ann", payload=command)
        calls = door.gate.calls
        _, second = await post(door, user_id="ann", payload="hello")

    assert status == 200
    assert answer == {}
    assert calls == 1
    assert first["dialog_id"] != second["dialog_id"]


async def test_a_missing_payload_is_an_empty_text() -> None:
    async with deeppavlov() as door:
        assert (await post(door, user_id="ann"))[1]["response"] == "1: "


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"payload": "hello"}, "user_id"),
        ({"user_id": "", "payload": "hello"}, "user_id"),
        ({"user_id": None, "payload": "hello"}, "user_id"),
        ({"user_id": {"a": 1}, "payload": "hello"}, "user_id"),
        ({"user_id": True, "payload": "hello"}, "user_id"),
        ({"user_id": "x" * 501, "payload": "hello"}, "user_id"),
        ({"user_id": "ann", "payload": {"text": "hello"}}, "payload"),
        ({"user_id": "ann", "payload": ["hello"]}, "payload"),
        ({"user_id": "ann", "payload": True}, "payload"),
    ],
)
async def test_a_wrong_request_is_told_which_key_is_wrong(body: dict, field: str) -> None:
    async with deeppavlov() as door:
        status, answer = await post(door, **body)

    assert status == 400
    assert answer["code"] == "bad_input"
    assert answer["field"] == field


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b'{"user_id": "ann"',
        b"[1]",
        b'"hello"',
        b"null",
        b'{"user_id": "ann", "payload": NaN}',
        b'{"user_id": "ann", "payload": "\xff"}',
        b'{"user_id": "ann", "payload": "\\ud800"}',
        b'{"user_id": "ann", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
async def test_what_is_no_json_object_is_a_400(body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    async with deeppavlov() as door, door.http.post("/", data=body, headers=headers) as response:
        answer = await response.json()

    assert response.status == 400
    assert answer["code"] == "bad_input"


async def test_attributes_nested_too_deep_are_a_400() -> None:
    body = b'{"user_id": "ann", "payload": "hi", "a": ' + b"[" * 80 + b"]" * 80 + b"}"
    headers = {"Content-Type": "application/json"}
    async with deeppavlov() as door, door.http.post("/", data=body, headers=headers) as response:
        answer = await response.json()

    assert response.status == 400
    assert answer["field"] == "attributes"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
async def test_another_content_type_is_a_400(kind: str) -> None:
    body, headers = b'{"user_id": "ann"}', {"Content-Type": kind}
    async with deeppavlov() as door, door.http.post("/", data=body, headers=headers) as response:
        answer = await response.json()

    assert response.status == 400
    assert answer["field"] == "Content-Type"


async def test_a_key_that_is_too_long_is_a_400() -> None:
    async with deeppavlov() as door:
        answer = await said_with_key(door, {"user_id": "ann", "payload": "hi"}, "k" * 256)

    assert answer.status == 400
    assert answer.body["field"] == "Idempotency-Key"


async def said_with_key(door: Door, body: dict, key: str = "k") -> DoorAnswer:
    async with door.http.post("/", json=body, headers={"Idempotency-Key": key}) as response:
        return await DoorAnswer.read_response(response, lambda body: body["response"])


@pytest.mark.parametrize(
    ("asked", "shown"),
    [(True, True), (1, True), ("yes", True), (0, False), (False, False), (None, False)],
)
async def test_any_true_value_asks_for_debug_output(asked: object, shown: bool) -> None:
    async with deeppavlov() as door:
        _, reply = await post(door, user_id="ann", payload="hello", debug_output=asked)

    assert ("debug_output" in reply) is shown


async def test_numbers_are_read_as_their_texts() -> None:
    async with deeppavlov() as door:
        _, first = await post(door, user_id=7, payload=42)
        _, second = await post(door, user_id=7.5, payload=0.25)
        status, wrong = await post(door, user_id="ann", payload={"text": "hi"})

    assert first["user_id"] == 7
    assert first["response"] == "1: 42"
    assert second["user_id"] == 7.5
    assert second["response"] == "1: 0.25"
    assert status == 400
    assert wrong["field"] == "payload"


async def test_the_plain_chat_page_runs_its_own_script_alone() -> None:
    async with deeppavlov() as door:
        answers = []
        for path in ("/chat", "/chat/chat.js", "/chat/chat.css", "/chat/api.py"):
            async with door.http.get(path) as response:
                answers.append((response.status, response.content_type))
                policy = response.headers.get("Content-Security-Policy", "")

    kinds = ["text/html", "text/javascript", "text/css"]
    assert answers[:3] == [(200, kind) for kind in kinds]
    assert answers[3][0] == 404
    assert "unsafe" not in policy


async def test_the_load_is_sent_until_the_client_leaves() -> None:
    async with deeppavlov() as door, door.http.ws_connect("/debug/current_load/ws") as socket:
        loads = [await socket.receive_json() for _ in range(2)]

    assert all(load["current_load"] == {"gate": 0, "agent": 0} for load in loads)


async def test_a_persona_is_as_it_is_there_where_that_wire_is_asked_for() -> None:
    async with deeppavlov() as door:
        _, reply = await post(door, user_id="ann", payload="hello")
        shown = []
        for wire in ("native", "deeppavlov"):
            _, dialog = await get(door, f"/api/dialogs/{reply['dialog_id']}", wire=wire)
            _, (listed,) = await get(door, "/api/user/ann", wire=wire)
            assert listed == dialog
            people = [dialog["human"], dialog["bot"], *(u["user"] for u in dialog["utterances"])]
            shown.append([person["persona"] for person in people])

    assert shown == [[[]] * 4, [{}] * 4]
