"""Services that answer anything at all: the turn has its reply in time, and nothing is held."""

import asyncio
import gzip
import json
import random
from typing import Any

import aiohttp

from prolocutor.plan.pipeline import Breaker, Pipeline, Service
from tests.fuzz.odd_values import BODIES, TEXTS, odd_value
from tests.fuzz.rounds import patience, rounds
from tests.fuzz.served import served
from tests.integration.connectors.scripted_server import Visit, scripted_server

LINES = [
    b"HTTP/1.1 200 OK", b"HTTP/1.0 200", b"HTTP/9.9 200 OK", b"HTTP/1.1 999 What", b"", b"ICY 200",
    b"HTTP/1.1 204 None", b"HTTP/1.1 301 Moved", b"HTTP/1.1 100 Continue", b"HTTP/1.1 -1 No",
    b"HTTP/1.1 200 " + b"O" * 9_000, b"\x16\x03\x01\x02\x00", b"HTTP/1.1 500 Oh",
]  # fmt: skip
HEADERS = [
    b"Content-Length: 5", b"Content-Length: -1", b"Content-Length: 99999999999999999999",
    b"Content-Length: 5, 7", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked",
    b"Content-Encoding: gzip", b"Content-Encoding: br", b"Location: http://169.254.169.254/",
    b"Content-Type: application/json; charset=utf-16", b"Connection: close", b"X: " + b"y" * 70_000,
    b"No colon", b" folded: x", b"\xff\xfe: \x00", b"Set-Cookie: a=b", b"Connection: upgrade",
]  # fmt: skip
NEVER = Breaker(failures=10**9)
FIELDS = [
    "text",
    "confidence",
    "human_attributes",
    "bot_attributes",
    "messages",
    "ask",
    "attributes",
]


def body(chance: random.Random) -> bytes:
    if chance.random() < 0.4:
        return chance.choice(BODIES)
    made = {"text": "hello", "confidence": 0.5}
    for field in chance.sample(FIELDS, 3):
        made[field] = odd_value(chance)
    number = chance.choice([1, 1, 1, 120, 3_000])
    answer: Any = [made] * number if chance.random() < 0.8 else odd_value(chance)
    return json.dumps(answer).encode()


def answer(chance: random.Random) -> bytes:
    """Return the bytes of an answer: valid around an odd body, or odd itself."""
    content = body(chance)
    if chance.random() < 0.5:
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content)
    if chance.random() < 0.2:
        content = gzip.compress(b"\x00" * 20_000_000)
    lines = [chance.choice(LINES), *(chance.choice(HEADERS) for _ in range(chance.randrange(5)))]
    if chance.random() < 0.2:
        lines += [b"X-%d: y" % number for number in range(3_000)]
    sent = b"\r\n".join(lines) + b"\r\n\r\n"
    if chance.random() < 0.3:
        sent += chance.choice(
            [b"5\r\nhello\r\n0\r\n\r\n", b"FFFFFFFFFFFFFFFFF\r\n", b"-1\r\n", b"5;x\r\n"]
        )
    return sent + content


async def test_a_turn_has_its_reply_whatever_a_service_answers() -> None:
    given: list[random.Random] = []

    async def script(visit: Visit) -> None:
        await visit.request()
        chance = given[0]
        sent = answer(chance)
        at = chance.randrange(len(sent) + 1)
        await visit.say(sent[:at], sent[at:])
        if chance.random() < 0.2:
            visit.reset()
        elif chance.random() < 0.3:
            await visit.until_it_goes()

    async with asyncio.timeout(patience()), scripted_server(script) as peer:
        skills = Pipeline(skills=[Service("odd", peer.url, timeout=0.2, breaker=NEVER)])
        async with (
            served(skills, ("deeppavlov",), fallback="I have no answer.", deadline=2.0) as it,
            aiohttp.ClientSession(it.url) as http,
        ):
            for chance in rounds(20):
                given[:] = [chance]
                text = chance.choice(["hi", *(one for one in TEXTS if one.strip("\x00 \r\n"))])
                said = {
                    "user_id": f"u{chance.randrange(9)}",
                    "payload": text.encode("utf-8", "replace").decode(),
                }
                it.watch.doing = f"{text[:40]!r} round {getattr(chance, 'seed_of_round', None)}"
                async with http.post("/", json=said) as response:
                    assert response.status == 200, await response.text()
                    assert (await response.json())["response"] is not None
