"""What clients of Almond, and Home Assistant, see over HTTP."""

import json
import re
from typing import Any

import pytest

from prolocutor.testing.channel_kit import KEY, TOKENS, Door
from prolocutor.web.authentication import AccessPolicy
from tests.plugins.almond.integration.wire import almond, client, demonstrated

BASES = ["/api", "/me/api"]


async def post(door: Door, path: str, body: Any) -> tuple[int, Any]:
    async with door.http.post(path, json=body) as response:
        return response.status, await response.json()


async def get(door: Door, path: str) -> tuple[int, Any]:
    async with door.http.get(path) as response:
        return response.status, await response.json()


async def converse(door: Door, text: str, id_: str | None = None, query: str = "") -> Any:
    body = {"command": {"type": "command", "text": text}, "conversationId": id_}
    status, answer = await post(door, f"/api/converse{query}", body)
    assert status == 200, answer
    return answer


@pytest.mark.parametrize("base", BASES)
async def test_converse_has_the_shape_of_the_first_generation(base: str) -> None:
    async with demonstrated() as door:
        body = {"command": {"type": "command", "text": "hello"}, "conversationId": None}
        status, answer = await post(door, f"{base}/converse", body)

    assert status == 200
    assert re.fullmatch(r"stateless-[0-9a-f]{32}", answer.pop("conversationId"))
    assert answer == {
        "askSpecial": None,
        "messages": [
            {
                "type": "text",
                "text": "Hello! What can I do for you?",
                "icon": "demonstration",
            }
        ],
    }


async def test_converse_can_have_the_shape_of_the_second_generation() -> None:
    async with demonstrated() as door:
        answer = await converse(door, "hello", "a", "?protocol=2")

    assert [(message["type"], message["id"]) for message in answer["messages"]] == [
        ("command", 0),
        ("text", 1),
    ]


async def test_a_conversation_goes_on_by_its_id() -> None:
    async with demonstrated() as door:
        asked = await converse(door, "ask me")
        other = await converse(door, "yes")
        answered = await converse(door, "yes", asked["conversationId"])

    assert asked["askSpecial"] == "yesno"
    assert answered["messages"][0]["text"] == "You said yes."
    assert other["conversationId"] != asked["conversationId"]
    assert other["messages"][0]["text"] != "You said yes."


async def test_a_conversation_over_http_and_over_a_socket_is_one() -> None:
    async with demonstrated() as door, client(door) as ann:
        await ann.until_asked()
        await converse(door, "ask me", "main")
        seen = await ann.until_asked()

    assert seen[0]["command"] == "ask me"
    assert seen[-1]["ask"] == "yesno"


async def test_the_same_key_gets_the_same_answer_in_the_same_new_conversation() -> None:
    body = {"command": {"type": "command", "text": "choose"}, "conversationId": None}
    async with demonstrated() as door:
        answers = []
        for key in ("k", "k", "other"):
            headers = {"Idempotency-Key": key}
            async with door.http.post("/api/converse", json=body, headers=headers) as response:
                answers.append(await response.json())
        headers = {"Idempotency-Key": ""}
        async with door.http.post("/api/converse", json=body, headers=headers) as wrong:
            await wrong.read()

    assert answers[0] == answers[1]
    assert answers[0]["askSpecial"] == "choice"
    assert answers[2]["conversationId"] != answers[0]["conversationId"]
    assert wrong.status == 400


async def test_saying_nothing_tells_how_things_stand() -> None:
    async with demonstrated() as door:
        await converse(door, "ask me", "a")
        answer = await converse(door, "  ", "a")

    assert answer == {"conversationId": "a", "messages": [], "askSpecial": "yesno"}


async def test_a_silent_turn_has_no_messages() -> None:
    stop = {"code": ["bookkeeping", "special", "special:stop"], "entities": {}}
    async with demonstrated() as door:
        await converse(door, "ask me", "a")
        body = {"command": {"type": "parsed", "json": stop}, "conversationId": "a"}
        answer = await post(door, "/api/converse", body)

    assert answer == (200, {"conversationId": "a", "messages": [], "askSpecial": None})


@pytest.mark.parametrize("body", [{}, {"command": None}, {"command": "hello"}])
async def test_a_missing_command_is_told_as_upstream_does(body: Any) -> None:
    async with demonstrated() as door:
        status, answer = await post(door, "/api/converse", body)

    assert status == 400
    assert answer["error"] == "Missing command"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"command": {"type": "dance"}}, "type"),
        ({"command": {"type": "command", "text": "a"}, "conversationId": 5}, "conversationId"),
    ],
)
async def test_an_invalid_request_is_refused_with_its_fault(body: Any, field: str) -> None:
    async with demonstrated() as door:
        status, answer = await post(door, "/api/converse", body)

    assert status == 400
    assert answer["field"] == field


@pytest.mark.parametrize("path", ["/api/nothing", "/me/api/apps", "/api/devices/delete/x"])
async def test_an_unknown_endpoint_is_told_as_upstream_does(path: str) -> None:
    async with demonstrated() as door:
        status, answer = await post(door, path, {})

    assert status == 404
    assert answer["error"] == "Invalid endpoint"


@pytest.mark.parametrize("base", BASES)
async def test_home_assistant_is_answered_and_told_whether_to_listen_on(base: str) -> None:
    async with demonstrated() as door:
        said = {"text": "ask me", "language": "en", "conversation_id": None, "agent_id": "x"}
        asked = await post(door, f"{base}/conversation/process", said)
        id_ = asked[1]["conversation_id"]
        answered = await post(
            door, f"{base}/conversation/process", {"text": "yes", "conversation_id": id_}
        )

    assert asked[1]["response"]["speech"]["plain"]["speech"] == "Do you like questions? [yes/no]"
    assert asked[1]["continue_conversation"] is True
    assert answered[1] == {
        "response": {
            "response_type": "action_done",
            "language": "en",
            "data": {"targets": [], "success": [], "failed": []},
            "speech": {"plain": {"speech": "You said yes.", "extra_data": None}},
        },
        "conversation_id": id_,
        "continue_conversation": False,
    }


async def test_home_assistant_reads_the_choices_aloud() -> None:
    async with demonstrated() as door:
        _, answer = await post(door, "/api/conversation/process", {"text": "choose"})

    assert answer["response"]["speech"]["plain"]["speech"].splitlines() == [
        "Which one would you like?",
        "1. Red: The colour of roses",
        "2. Blue: The colour of violets",
    ]


async def test_home_assistant_hears_a_result_once() -> None:
    async with demonstrated() as door:
        _, answer = await post(door, "/api/conversation/process", {"text": "result"})

    assert answer["response"]["speech"]["plain"]["speech"].splitlines() == [
        "Here is a result.",
        "It is 21 degrees.",
    ]


@pytest.mark.parametrize("body", [{}, {"text": 5}])
async def test_home_assistant_has_to_say_something(body: Any) -> None:
    async with demonstrated() as door:
        status, answer = await post(door, "/api/conversation/process", body)

    assert status == 400
    assert answer["field"] == "text"


async def test_skills_are_devices() -> None:
    async with demonstrated() as door:
        _, devices = await get(door, "/api/devices/list")

    assert devices == [
        {
            "uniqueId": "org.prolocutor.demonstration",
            "name": "demonstration",
            "description": "The skill demonstration",
            "kind": "org.prolocutor.demonstration",
            "version": 0,
            "ownerTier": "global",
            "class": "data",
            "isTransient": True,
            "authType": "none",
        }
    ]


@pytest.mark.parametrize("base", BASES)
async def test_a_device_that_was_recorded_is_listed_by_name(base: str) -> None:
    async with demonstrated() as door:
        created = await post(door, f"{base}/devices/create", {"kind": "com.xkcd"})
        again = await post(door, f"{base}/devices/create", {"kind": "com.xkcd"})
        _, devices = await get(door, f"{base}/devices/list")

    assert created == again
    assert created[0] == 200
    assert created[1]["uniqueId"] == "com.xkcd"
    assert created[1]["kind"] == "com.xkcd"
    assert [device["name"] for device in devices] == ["com.xkcd", "demonstration"]


@pytest.mark.parametrize("kind", ["demonstration", "org.prolocutor.demonstration"])
async def test_a_kind_that_is_a_skills_enables_it(kind: str) -> None:
    async with demonstrated() as door:
        _, created = await post(door, "/api/devices/create", {"kind": kind})
        _, devices = await get(door, "/api/devices/list")

    assert created["isTransient"] is False
    assert devices == [created]


async def test_settings_of_a_device_are_shown_to_nobody() -> None:
    device = {"kind": "org.mastodon", "name": "Toots", "password": "secret", "port": 5}
    async with demonstrated() as door:
        _, created = await post(door, "/api/devices/create", device)
        _, devices = await get(door, "/api/devices/list")

    assert created in devices
    assert re.fullmatch(r"org\.mastodon-[0-9a-f]{8}", created["uniqueId"])
    assert created["name"] == "Toots"
    assert created["authType"] == "custom"
    assert "secret" not in json.dumps(devices)


@pytest.mark.parametrize(
    ("device", "field"),
    [
        ({}, "kind"),
        ({"kind": ""}, "kind"),
        ({"kind": "x" * 201}, "kind"),
        ({"kind": "a", "b": {}}, "b"),
        ({"kind": "a", "b": None}, "b"),
        ({"kind": "a", "b": "x" * 10_001}, None),
    ],
)
async def test_an_invalid_device_is_refused(device: Any, field: str | None) -> None:
    async with demonstrated() as door:
        status, answer = await post(door, "/api/devices/create", device)

    assert status == 400
    assert answer["field"] == field


async def test_devices_are_their_persons_own() -> None:
    auth = AccessPolicy(keys=[KEY], tokens=TOKENS, anonymous=True, loopback=False)
    async with almond(auth) as door:
        async with door.other_visitor("the-token-of-ann") as ann:
            await post(ann, "/api/devices/create", {"kind": "com.xkcd"})
            own = await get(ann, "/api/devices/list")
        async with door.other_visitor("the-token-of-bob") as bob:
            others = await get(bob, "/api/devices/list")
        refused = await post(door, "/api/devices/create", {"kind": "com.xkcd"})
        async with door.other_visitor(KEY) as operator:
            seen = await get(operator, "/api/devices/list?user=ann")

    assert [len(listed) for _, listed in (own, others, seen)] == [2, 1, 2]
    assert refused[0] == 403


async def test_examples_are_counted_and_the_popular_ones_listed() -> None:
    async with demonstrated() as door:
        for example in (7, 8, 7, -1):
            command = {"type": "parsed", "json": {"code": ["$yes", ";"], "example_id": example}}
            await post(door, "/api/converse", {"command": command})
        popular = await get(door, "/api/commands/popular")
        one = await get(door, "/me/api/commands/popular?limit=1")
        wrong = await get(door, "/api/commands/popular?limit=0")

    assert popular[1] == [{"example_id": 7, "count": 2}, {"example_id": 8, "count": 1}]
    assert one[1] == popular[1][:1]
    assert wrong[0] == 400
    assert wrong[1]["field"] == "limit"


TIMER = "timer(base=$now, interval=1h);"


async def test_programs_are_started_listed_and_stopped() -> None:
    async with demonstrated() as door:
        created = await post(door, "/api/apps/create", {"code": TIMER, "name": "Watch"})
        [app] = (await get(door, "/me/api/apps/list"))[1]
        found = await get(door, f"/api/apps/get/{app['uniqueId']}")
        others = await get(door, "/api/apps/list?user=bob")
        stopped = await post(door, f"/api/apps/delete/{app['uniqueId']}", {})
        again = await post(door, f"/api/apps/delete/{app['uniqueId']}", {})

    assert created[0] == 200
    assert created[1]["errors"] == []
    assert created[1]["uniqueId"] == app["uniqueId"]
    assert found == (200, app)
    assert app["name"] == "Watch"
    assert app["isRunning"] is True
    assert others == (200, [])
    assert stopped == (200, {"status": "ok"})
    assert again[0] == 404


async def test_programs_are_stopped_on_a_page() -> None:
    async with demonstrated() as door:
        await post(door, "/api/apps/create", {"code": TIMER, "name": "<b>Watch"})
        [app] = (await get(door, "/api/apps/list"))[1]
        async with door.http.get("/apps") as page:
            shown = await page.text()
        async with door.http.post("/apps", data={"id": app["uniqueId"]}) as page:
            after = (page.status, "None." in await page.text())
        async with door.http.post("/apps", json={"id": app["uniqueId"]}) as page:
            refused = page.status
        left = await get(door, "/api/apps/list")

    assert "&lt;b&gt;Watch" in shown
    assert f'name="id" value="{app["uniqueId"]}">Stop' in shown
    assert after == (200, True)
    assert refused == 400
    assert left == (200, [])


async def test_errors_of_a_program_are_told() -> None:
    async with demonstrated() as door:
        status, answer = await post(door, "/api/apps/create", {"code": "broken"})
        wrong, told = await post(door, "/api/apps/create", {"code": "a", "name": 5})

    assert status == 400
    assert answer["errors"] == [answer["error"]]
    assert answer["error"].startswith("line 1, column ")
    assert wrong == 400
    assert told["field"] == "name"


async def test_where_nothing_runs_there_are_no_apps() -> None:
    async with demonstrated() as door:
        listed = await get(door, "/api/apps/list")
        found = await get(door, "/api/apps/get/x")
        deleted = await post(door, "/api/apps/delete/x", {})
        wrong = await post(door, "/api/apps/create", {})

    assert listed == (200, [])
    assert found[0] == 404
    assert deleted[0] == 404
    assert wrong[0] == 400
    assert wrong[1]["field"] == "code"
