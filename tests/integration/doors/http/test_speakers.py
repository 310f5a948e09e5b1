"""Who may do what at the DeepPavlov door."""

import re

import msgspec
import pytest

from prolocutor.doors.http.api import DeepPavlov
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.testing.channel_kit import KEY, STRICT, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener
from tests.integration.doors.fakes import deeppavlov, get, post


async def test_a_person_need_not_say_who_they_are() -> None:
    async with deeppavlov(STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        _, reply = await post(ann, payload="hello")

    assert reply["user_id"] == "ann"


async def test_a_token_may_stand_in_the_address() -> None:
    async with deeppavlov(STRICT) as door:
        _, reply = await post(door, "/?access_token=the-token-of-ann", payload="hello")

    assert reply["user_id"] == "ann"


async def test_a_person_finds_what_is_theirs() -> None:
    async with deeppavlov(STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        _, reply = await post(ann, payload="hello")
        found = [
            await get(ann, f"/api/dialogs/{reply['dialog_id']}"),
            await get(ann, "/api/user/ann"),
            await get(ann, "/api/dialogs/"),
        ]

    assert [status for status, _ in found] == [200, 200, 200]
    assert found[2][1]["dialog_ids"] == [reply["dialog_id"]]


async def test_a_person_rates_what_was_said_to_them_at_another_door() -> None:
    command = {"command": {"type": "command", "text": "hello"}}
    async with deeppavlov() as door:
        app = Listener(
            door.assistant, [DeepPavlov(door.assistant), Almond(door.assistant)], auth=STRICT
        )
        async with running(app) as url:
            there = msgspec.structs.replace(door, url=url)
            async with there.other_visitor("the-token-of-ann") as ann:
                _, reply = await post(ann, "/api/converse?protocol=2", **command)
                utt_id = reply["messages"][-1]["utt_id"]
                rated = await post(ann, "/rating/utterance", utt_id=utt_id, rating=1, user_id="ann")
            async with there.other_visitor("the-token-of-bob") as bob:
                refused = await post(bob, "/rating/utterance", utt_id=utt_id, rating=1)
        dialogs = [one async for one in door.assistant.store.export(user="almond:ann")]

    assert rated[0] == 200
    assert refused[0] == 404
    [rating] = dialogs[0].utterances[-1].attributes["ratings"]
    assert rating["user_external_id"] == "almond:ann"
    assert rating["rating"] == 1


async def test_a_person_does_not_see_what_is_not_theirs() -> None:
    async with (
        deeppavlov(STRICT) as door,
        door.other_visitor("the-token-of-ann") as ann,
        door.other_visitor("the-token-of-bob") as bob,
    ):
        _, reply = await post(ann, payload="hello")
        id_, utt_id = reply["dialog_id"], reply["utt_id"]
        found = [
            (await get(bob, f"/api/dialogs/{id_}"))[0],
            (await get(bob, "/api/user/ann"))[0],
            (await post(bob, "/rating/dialog", dialog_id=id_, rating=1))[0],
            (await post(bob, "/rating/utterance", utt_id=utt_id, rating=1))[0],
            (await get(bob, "/api/dialogs/"))[1]["dialog_ids"],
            (await get(bob, "/debug/current_load"))[0],
        ]
        dialog = await door.assistant.store.dialog(id_)

    assert found == [404, 403, 404, 404, [], 403]
    assert dialog is not None
    assert dialog.rating is None


async def test_only_operators_delete_people() -> None:
    async with (
        deeppavlov(STRICT) as door,
        door.other_visitor("the-token-of-ann") as ann,
        door.other_visitor(KEY) as operator,
    ):
        _, reply = await post(ann, payload="hello")
        async with ann.http.delete("/api/user/ann") as refused:
            pass
        async with operator.http.delete("/api/user/ann") as deleted:
            pass
        async with operator.http.delete("/api/user/ann") as unknown:
            pass
        left = await get(operator, f"/api/dialogs/{reply['dialog_id']}")

    assert refused.status == 403
    assert deleted.status == 204
    assert unknown.status == 404
    assert left[0] == 404


async def test_an_anonymous_visitor_is_somebody_new() -> None:
    anonymous = AccessPolicy(anonymous=True, loopback=False)
    async with deeppavlov(anonymous) as door:
        _, first = await post(door, payload="hello")
        _, second = await post(door, user_id=first["user_id"], payload="hello")
        _, other = await post(door, payload="hello")

    assert re.fullmatch("anonymous-[0-9a-f]{32}", first["user_id"])
    assert [reply["response"] for reply in (first, second, other)] == [
        "1: hello",
        "2: hello",
        "1: hello",
    ]


@pytest.mark.parametrize("user_id", ["ann", "anonymous-1", "anonymous-" + "x" * 32])
async def test_an_anonymous_visitor_is_nobody_known(user_id: str) -> None:
    async with deeppavlov(AccessPolicy(anonymous=True, loopback=False)) as door:
        status, answer = await post(door, user_id=user_id, payload="hello")

    assert status == 403
    assert answer["field"] == "user_id"


async def test_an_anonymous_visitor_has_no_archive() -> None:
    async with deeppavlov(AccessPolicy(anonymous=True, loopback=False)) as door:
        _, reply = await post(door, payload="hello")
        statuses = [
            (await get(door, f"/api/dialogs/{reply['dialog_id']}"))[0],
            (await get(door, f"/api/user/{reply['user_id']}"))[0],
            (await get(door, "/api/dialogs/"))[0],
        ]

    assert statuses == [404, 403, 403]
