"""What an operator has said to a person over HTTP."""

from typing import Any

import pytest

from prolocutor.testing.channel_kit import KEY, TOKENS, Door
from prolocutor.web.authentication import AccessPolicy
from tests.plugins.almond.integration.wire import almond, client, demonstrated, opened, summary


async def notify(door: Door, **body: Any) -> tuple[int, Any]:
    async with door.http.post("/api/notify", json=body) as response:
        return response.status, await response.json()


async def test_every_client_gets_unasked_messages() -> None:
    async with demonstrated() as door, opened(door) as ann, opened(door) as again:
        told = await notify(door, user="local", messages="The tea is ready.")
        seen = [summary(await one.until_asked()) for one in (ann, again)]

    assert told == (200, {"queued": False})
    assert seen == [["The tea is ready.", [None]]] * 2


async def test_a_question_is_answered_to_its_skill() -> None:
    async with demonstrated() as door, opened(door) as ann:
        await notify(door, user="local", messages=["More tea?"], ask="yesno", skill="demonstration")
        asked = summary(await ann.until_asked())
        answered = summary(await ann.say("yes"))

    assert asked == ["More tea?", ["yesno"]]
    assert answered == ["command", "You said yes.", [None]]


async def test_it_waits_while_something_is_asked() -> None:
    async with demonstrated() as door, opened(door) as ann:
        await ann.say("ask me")
        told = await notify(door, user="local", messages="The tea is ready.", key="tea")
        answered = summary(await ann.say("yes"))
        then = summary(await ann.until_asked())

    assert told == (202, {"queued": True})
    assert answered == ["command", "You said yes.", [None]]
    assert then == ["The tea is ready.", [None]]


async def test_who_is_away_finds_it_later() -> None:
    async with demonstrated() as door:
        await notify(door, user="almond:local", messages="The tea is ready.")
        async with client(door) as ann:
            seen = summary(await ann.until_asked())

    assert seen == ["id", "The tea is ready.", [None]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": "x"}, "user"),
        ({"user": "local"}, "messages"),
        ({"user": "local", "messages": 5}, "messages"),
        ({"user": "local", "messages": "x", "ask": "dance", "skill": "demonstration"}, "ask"),
        ({"user": "local", "messages": "x", "ask": "yesno"}, "skill"),
        ({"user": "local", "messages": "x", "key": 5}, "key"),
        ({"user": "local", "permission": {"person": "Bob"}}, "permission"),
        ({"user": "local", "permission": "Bob"}, "permission"),
    ],
)
async def test_an_invalid_notification_is_refused_with_its_fault(body: Any, field: str) -> None:
    async with demonstrated() as door:
        status, answer = await notify(door, **body)

    assert status == 400
    assert answer["field"] == field


async def test_the_same_key_says_the_same_thing_once() -> None:
    body, headers = {"user": "local", "messages": "Tea!"}, {"Idempotency-Key": "tea"}
    async with demonstrated() as door:
        for _ in range(2):
            async with door.http.post("/api/notify", json=body, headers=headers) as response:
                assert response.status == 200
                assert await response.json() == {"queued": False}
        other = await notify(door, user="local", messages="Coffee!", key="tea")
        async with client(door) as ann:
            seen = summary(await ann.until_asked())

    assert other[0] == 422
    assert other[1]["field"] == "key"
    assert seen == ["id", "Tea!", [None]]


async def test_it_can_be_said_in_another_dialog() -> None:
    async with demonstrated() as door, opened(door, "?id=work") as ann:
        await notify(door, user="local", messages="Tea!", conversationId="work")
        seen = summary(await ann.until_asked())

    assert seen == ["Tea!", [None]]


async def test_only_operators_may() -> None:
    auth = AccessPolicy(keys=[KEY], tokens=TOKENS, loopback=False)
    async with almond(auth) as door, door.other_visitor("the-token-of-ann") as ann:
        status, _ = await notify(ann, user="bob", messages="boo")

    assert status == 403
