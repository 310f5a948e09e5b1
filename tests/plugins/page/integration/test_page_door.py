"""The door of the chat page: who may see which turn, rate it, and upload."""

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.plugins.page.channel import Page
from prolocutor.testing.channel_kit import KEY, STRICT, Door, run_door
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from tests.integration.doors.fakes import get, post
from tests.unit.observe.records import record, service

SECRET = "5" * 32
PNG = b"\x89PNG\r\n\x1a\n..."


def the_page(assistant: Assistant) -> Page:
    return Page(DoorContext(assistant))


async def reply_to(door: Door, user: str) -> str:
    """Let somebody say something over the wire, and give the id of the reply."""
    return (await door.assistant.reply("hello", user)).utt_id


async def test_a_person_sees_how_their_own_replies_came_about() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        mine = await get(ann, f"/api/turns/{await reply_to(door, 'almond:ann')}")
        others = await get(ann, f"/api/turns/{await reply_to(door, 'almond:bob')}")

    assert mine[0] == 200
    assert mine[1]["response"] == "1: hello"
    assert mine[1]["chosen"] == ["gate.0"]
    assert others[0] == 404
    assert others[1]["code"] == "not_found"


async def test_an_operator_sees_everybodys() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor(KEY) as operator:
        status, turn = await get(operator, f"/api/turns/{await reply_to(door, 'almond:bob')}")

    assert status == 200
    assert turn["active_skill"] == "gate"


async def test_operators_alone_are_told_of_the_page_for_operators() -> None:
    def page(assistant: Assistant) -> Page:
        return Page(DoorContext(assistant, operators_page="/desk"))

    async with (
        run_door(page, STRICT) as door,
        door.other_visitor(KEY) as operator,
        door.other_visitor("the-token-of-ann") as ann,
    ):
        told = (await get(operator, "/api/visitor"))[1]["operators_page"]
        others = (await get(ann, "/api/visitor"))[1]["operators_page"]

    assert told == "/desk"
    assert others is None


async def test_an_anonymous_person_is_known_by_the_conversation() -> None:
    async with run_door(the_page, AccessPolicy(anonymous=True, loopback=False)) as door:
        utt_id = await reply_to(door, f"almond:anonymous-{SECRET}")
        known = await get(door, f"/api/turns/{utt_id}", id=f"web-{SECRET}")
        another = await get(door, f"/api/turns/{utt_id}", id=f"web-{'6' * 32}")
        nobody = await get(door, f"/api/turns/{utt_id}")

    assert [known[0], another[0], nobody[0]] == [200, 404, 403]


async def test_a_stranger_sees_the_page_and_nothing_else() -> None:
    async with run_door(the_page, STRICT) as door:
        async with door.http.get("/") as page:
            assert page.status == 200
        utt_id = await reply_to(door, "almond:ann")
        turn = await get(door, f"/api/turns/{utt_id}")
        visitor = await get(door, "/api/visitor")
        rating = await post(door, "/rating/reply", utt_id=utt_id, rating=1)

    assert [turn[0], visitor[0], rating[0]] == [401] * 3


async def test_a_recent_turn_has_its_services_and_an_old_one_its_hypotheses() -> None:
    recent = RecentTurns(size=1)

    def make(assistant: Assistant) -> Channel:
        assistant.observers.add(recent)
        return Page(DoorContext(assistant, recent=recent))

    async with run_door(make) as door:
        old, new = [await reply_to(door, "almond:local") for _ in range(2)]
        _, stored = await get(door, f"/api/turns/{old}")
        _, kept = await get(door, f"/api/turns/{new}")

    assert [one["name"] for one in kept["services"]] == ["gate"]
    assert stored["services"] is None
    assert stored["faults"] is None
    assert stored["seconds"] is None
    assert stored.keys() == kept.keys()
    assert [one["text"] for one in stored["hypotheses"]] == ["1: hello"]
    assert stored["chosen"] == kept["chosen"] == ["gate.0"]


async def test_only_operators_read_the_words_of_errors() -> None:
    recent = RecentTurns()
    broken = service("gate", outcome="failed", error="no route to 10.0.0.7", code="unreachable")
    faults = [{"service": "gate", "what": "no route to 10.0.0.7"}]

    async with (
        run_door(lambda assistant: Page(DoorContext(assistant, recent=recent)), STRICT) as door,
        door.other_visitor("the-token-of-ann") as ann,
        door.other_visitor(KEY) as operator,
    ):
        utt_id = await reply_to(door, "almond:ann")
        recent.turn_ended(record(broken, faults=faults, utt_id=utt_id))
        _, hers = await get(ann, f"/api/turns/{utt_id}")
        _, theirs = await get(operator, f"/api/turns/{utt_id}")

    assert "10.0.0.7" not in str(hers)
    assert hers["services"][0]["error"] == "unreachable"
    assert theirs["services"][0]["error"] == theirs["faults"][0]["what"] == "no route to 10.0.0.7"


async def test_a_reply_is_rated_by_whom_it_was_for() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        mine, others = await reply_to(door, "almond:ann"), await reply_to(door, "almond:bob")
        async with ann.http.post("/rating/reply", json={"utt_id": mine, "rating": -1}) as rated:
            assert rated.status == 204
        refused = await post(ann, "/rating/reply", utt_id=others, rating=1)
        (_, said) = await door.assistant.store.turn(mine)
        (_, untouched) = await door.assistant.store.turn(others)

    assert refused[0] == 404
    assert [(one["rating"], one["user_external_id"]) for one in said.attributes["ratings"]] == [
        (-1, "almond:ann")
    ]
    assert "ratings" not in untouched.attributes


async def test_a_rating_that_is_none_is_refused_by_its_field() -> None:
    async with run_door(the_page) as door:
        utt_id = await reply_to(door, "almond:local")
        answers = [
            await post(door, "/rating/reply", **body)
            for body in (
                {"utt_id": utt_id, "rating": 2},
                {"utt_id": utt_id, "rating": True},
                {"utt_id": 7, "rating": 1},
                {"utt_id": "x", "rating": 1},
            )
        ]

    fields = [body["field"] for status, body in answers if status == 400]
    assert fields == ["rating", "rating", "utt_id", "utt_id"]


async def test_a_picture_is_kept_and_shown_to_whoever_knows_its_name() -> None:
    async with run_door(the_page, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        async with ann.http.post("/uploads", data=PNG) as answer:
            url = msgspec.json.decode(await answer.read())["url"]
        async with door.http.get(url) as shown:
            assert shown.status == 200
            assert await shown.read() == PNG
        async with door.http.post("/uploads", data=PNG) as refused:
            assert refused.status == 401
        async with ann.http.post("/uploads", data=b"<svg>") as refused:
            assert refused.status == 415


async def test_openapi_describes_all_its_routes() -> None:
    async with run_door(the_page) as door, door.http.get("/openapi.json") as response:
        described = (await response.json())["paths"]
        page = Page(DoorContext(door.assistant))

    told = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert {(route.method, route.path.replace(":path}", "}")) for route in page.routes} <= told
