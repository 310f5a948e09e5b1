"""Quotas at the doors: each says 429 in its own form and when to come again."""

import asyncio
from collections import Counter
from typing import Any

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.plugins.a2a.door.door import A2a
from prolocutor.plugins.agui.channel import AgUi
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.plugins.page.channel import Page
from prolocutor.testing.channel_kit import KEY, TOKENS, Gate, pipeline, run_door, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.listener import Listener
from prolocutor.web.quotas import VisitorQuotas
from tests.integration.doors.fakes import deeppavlov, line, post

PNG = b"\x89PNG\r\n\x1a\n".ljust(900_000, b"0")
OPEN = AccessPolicy(anonymous=True, loopback=False)
SAID = {"user_id": "ann", "payload": "hi"}
SOCKET = "/chat/ws"
TOKEN = {"Authorization": "Bearer the-token-of-ann"}


@pytest.mark.parametrize("auth", [AccessPolicy(), OPEN], ids=["local", "anonymous"])
async def test_a_flood_of_uploads_under_fresh_names_does_not_pass(auth: AccessPolicy) -> None:
    async with run_door(lambda it: Page(DoorContext(it)), auth) as door:

        async def upload(number: int) -> tuple[int, str | None]:
            query = {"user": f"u{number}"} if auth is not OPEN else {"id": f"web-{number:032x}"}
            async with door.http.post("/uploads", params=query, data=PNG) as response:
                return response.status, response.headers.get("Retry-After")

        answers = await asyncio.gather(*map(upload, range(60)))

    statuses = Counter(status for status, _ in answers)
    assert statuses == {201: 11, 429: 49}
    assert all(int(wait or 0) >= 1 for status, wait in answers if status == 429)


SAY: list[tuple[str, dict[str, Any]]] = [
    ("/", {"payload": "hi"}),
    ("/api/converse", {"command": {"type": "command", "text": "hi"}}),
    (
        "/v1/chat/completions",
        {"model": "assistant", "messages": [{"role": "user", "content": "a"}]},
    ),
    ("/v1/responses", {"model": "assistant", "input": "hi"}),
    (
        "/agui",
        {
            "threadId": "t",
            "runId": "r",
            "state": {},
            "messages": [{"id": "m", "role": "user", "content": "hi"}],
            "tools": [],
            "context": [],
            "forwardedProps": {},
        },
    ),
    (
        "/a2a/v1/message:send",
        {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}},
    ),
]


async def test_every_door_says_when_to_come_again() -> None:
    limits = ListenerLimits(token=VisitorQuotas(turns=1))
    auth = AccessPolicy(keys=[KEY], tokens=TOKENS)
    kinds = (DeepPavlov, Almond, OpenAi, AgUi, A2a, Mcp)
    async with Assistant(pipeline(Gate()), store="memory:") as assistant:
        app = Listener(assistant, [kind(assistant) for kind in kinds], auth=auth, limits=limits)
        async with running(app) as url, aiohttp.ClientSession(url, headers=TOKEN) as http:
            seen = {}
            for path, body in SAY * 2:
                async with http.post(path, json=body) as response:
                    text = await response.text()
                    seen[path] = response.status, "Retry-After" in response.headers, "token" in text

    assert seen == {path: (429, True, True) for path, _ in SAY}


async def test_sockets_are_counted_while_they_are_open_and_their_turns_too() -> None:
    limits = ListenerLimits(token=VisitorQuotas(sockets=2, turns=1))
    async with (
        deeppavlov(AccessPolicy(tokens=TOKENS), limits=limits) as door,
        door.other_visitor("the-token-of-ann") as ann,
    ):
        first, second = await ann.http.ws_connect(SOCKET), await ann.http.ws_connect(SOCKET)
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await ann.http.ws_connect(SOCKET)
        assert refused.value.status == 429
        assert refused.value.headers is not None
        assert "Retry-After" in refused.value.headers

        await second.close()
        await first.send_json({"payload": "hi"})
        assert (await first.receive_json())["response"] == "1: hi"
        await first.send_json({"payload": "hi"})
        assert (await first.receive_json())["code"] == "quota_exceeded"
        third = await ann.http.ws_connect(SOCKET)
        await third.close()
        await first.close()


async def test_a_person_has_so_many_sockets_and_is_shown_so_much_again() -> None:
    quotas = VisitorQuotas(sockets=1, backlog=12)
    limits = ListenerLimits(person=quotas, token=VisitorQuotas(), address=VisitorQuotas())
    path = "/api/conversation?hide_welcome=1&history=no"
    async with run_door(Almond, AccessPolicy(tokens=TOKENS), limits=limits) as door:

        async def errors(query: str) -> list[str]:
            async with door.http.ws_connect(path + query, headers=TOKEN) as socket:
                await socket.send_json({"type": "ping"})
                async for frame in socket:
                    told = frame.json()
                    if told.get("type") in ("error", "askSpecial") or "code" in told:
                        return [told.get("code", "")]
            return ["closed"]

        async with door.http.ws_connect(path, headers=TOKEN) as first:
            await first.send_json({"type": "command", "text": "hi"})
            assert await errors("") == ["quota_exceeded"]
        async with asyncio.timeout(60):
            while await errors("") == ["quota_exceeded"]:  # noqa: ASYNC110
                await asyncio.sleep(0)
        for _ in range(4):
            command = {"command": {"type": "command", "text": "hi"}, "conversationId": "main"}
            async with door.http.post("/api/converse", json=command, headers=TOKEN) as said:
                assert said.status == 200
        assert await errors("&after=0") == [""]
        assert await errors("&after=0") == ["quota_exceeded"]


async def test_wrong_keys_slow_down_by_the_address_of_the_client() -> None:
    auth = AccessPolicy(keys=[KEY], tokens=TOKENS, trusted_proxies=["127.0.0.1"])
    async with deeppavlov(auth, limits=ListenerLimits(wrong_keys=3)) as door:

        async def knock(secret: str, address: str) -> int:
            headers = {"Authorization": f"Bearer {secret}", "X-Forwarded-For": address}
            async with door.http.post("/", json=SAID, headers=headers) as response:
                return response.status

        known = await knock(KEY, "6.6.6.6")
        guesses = [await knock(f"guess {n}", f"{n}.1.1.1, 6.6.6.6") for n in range(5)]
        there = [await knock(secret, "6.6.6.6") for secret in (*TOKENS, KEY)]
        elsewhere = await knock(KEY, "203.0.113.5")

    assert known == 200
    assert guesses == [401, 401, 401, 429, 429]
    assert there == [429, 429, 200]  # a key that was used there before goes on
    assert elsewhere == 200


@pytest.mark.parametrize("auth", [AccessPolicy(), AccessPolicy(anonymous=True)])
@pytest.mark.parametrize("asked", [b"GET /metrics", b"GET /api/dialogs/", b"DELETE /api/user/ann"])
async def test_nobody_is_an_operator_behind_a_proxy_that_says_nothing(
    auth: AccessPolicy, asked: bytes
) -> None:
    async with deeppavlov(auth, metrics=TurnMetrics()) as door, line(door.url) as (reader, writer):
        writer.write(asked + b" HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        status = (await reader.readline()).split()[1]

    assert status == (b"403" if auth.anonymous else b"401")


async def test_a_trusted_proxy_on_this_machine_makes_nobody_an_operator() -> None:
    async with deeppavlov(AccessPolicy(trusted_proxies=["127.0.0.1"], loopback=True)) as door:
        assert (await post(door, user_id="ann", payload="hi"))[0] == 401
