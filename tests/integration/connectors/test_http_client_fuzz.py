"""The HTTP client against random answers: it agrees with aiohttp's, and never mixes answers up."""

import asyncio
import hashlib
from itertools import pairwise
from typing import Any

import aiohttp
import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.errors import ServiceError, ServiceRefused
from tests.integration.connectors.scripted_server import Visit, scripted_server

FUZZED = settings(deadline=None, suppress_health_check=list(HealthCheck))
MOST = 5000

STATUSES = [200, 201, 203, 204, 206, 299, 300, 304, 400, 404, 418, 429, 500, 503]
HEADERS = st.sampled_from(
    [b"X: y", b"x-empty:", b"Set-Cookie: a=b", b"Keep-Alive: timeout=5", b"Server:  s p a c e ",
     b"Content-Type: application/json", b"Date: Thu, 01 Jan 1970 00:00:00 GMT"]
)  # fmt: skip
FEW_HEADERS = st.lists(HEADERS, max_size=4, unique=True)
BODIES = st.one_of(st.binary(max_size=300), st.just(b""), st.binary(min_size=900, max_size=1100))


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Cut data at these places, modulo its length."""
    at = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(at)]


class Answer(msgspec.Struct):
    """An answer as it is sent."""

    status: int
    body: bytes
    pieces: list[bytes]
    ends: bool
    """Whether the connection is closed behind it."""


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """Make a valid answer, of any kind and cut in any way."""
    status = draw(st.sampled_from(STATUSES))
    body = b"" if status in (204, 304) else draw(BODIES)
    version = draw(st.sampled_from([b"1.0", b"1.1", b"1.1"]))
    head = [b"HTTP/%b %d %b" % (version, status, draw(st.sampled_from([b"OK", b"", b"N. N."])))]
    head += draw(FEW_HEADERS)
    framing = draw(st.sampled_from(["length", "chunked", "close"]))
    ends = version == b"1.0" or framing == "close"
    if status in (204, 304):
        sent, ends = b"", version == b"1.0"
    elif framing == "length":
        head.append(
            draw(st.sampled_from([b"Content-Length: %d", b"content-length:%d"])) % len(body)
        )
        sent = body
    elif framing == "chunked" and version == b"1.1":
        head.append(b"Transfer-Encoding: chunked")
        sent = b"".join(
            b"%x%b\r\n%b\r\n" % (len(one), draw(st.sampled_from([b"", b";a=b"])), one)
            for one in cut(body, draw(st.lists(st.integers(0, 2000), max_size=5)))
            if one
        )
        sent += b"0\r\n" + draw(st.sampled_from([b"", b"X-Trailer: t\r\n"])) + b"\r\n"
    else:
        sent, ends = body, True
    if ends or draw(st.booleans()):
        head.append(b"Connection: close")
        ends = True
    data = b"\r\n".join(head) + b"\r\n\r\n" + sent
    if version == b"1.1" and draw(st.booleans()):
        data = b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + data
    return Answer(status, body, cut(data, draw(st.lists(st.integers(0, 3000), max_size=8))), ends)


async def told_by_aiohttp(url: str, count: int) -> list[tuple[int, bytes]]:
    async with aiohttp.ClientSession() as session:
        told = []
        for _ in range(count):
            async with session.post(url, data=b"{}", allow_redirects=False) as response:
                told.append((response.status, await response.read()))
        return told


async def told_by_ours(url: str, count: int) -> list[tuple[int, bytes]]:
    client = HttpClient(url)
    told = []
    for _ in range(count):
        try:
            reply = await client.post(b"{}", {}, max_bytes=MOST)
            told.append((reply.status, reply.body))
        except ServiceRefused as error:
            told.append((error.status, str(error).encode()))
    await client.aclose()
    return told


@FUZZED
@given(st.lists(answers(), min_size=1, max_size=5))
async def test_valid_answers_are_read_as_aiohttp_reads_them(sequence: list[Answer]) -> None:
    left: list[Answer] = []

    async def script(visit: Visit) -> None:
        while True:
            await visit.request()
            answer = left.pop(0)
            for piece in answer.pieces:
                await visit.say(piece)
                await asyncio.sleep(0)
            if answer.ends:
                return

    async with scripted_server(script) as server:
        left[:] = sequence
        theirs = await told_by_aiohttp(server.url, len(sequence))
        left[:] = sequence
        ours = await told_by_ours(server.url, len(sequence))

    assert theirs == [(answer.status, answer.body) for answer in sequence]
    for (status, body), (our_status, our_body) in zip(theirs, ours, strict=True):
        assert status == our_status
        if status // 100 == 2:
            assert body == our_body
        else:
            excerpt = " ".join(body[:800].decode(errors="replace").split())[:200].strip()
            assert our_body.startswith(f"status {status}".encode())
            assert excerpt[:100] in our_body.decode()


class Call(msgspec.Struct):
    """One call: how the server answers it, and after how many steps it is given up."""

    kind: str
    junk: bytes
    places: list[int]
    patience: int | None


CALLS = st.builds(
    Call,
    kind=st.sampled_from(
        ["good", "good", "good", "junk", "cut", "followed", "twice", "early", "changed", "gone"]
    ),
    junk=st.one_of(
        st.binary(min_size=1, max_size=50),
        st.sampled_from(
            [b"\r\n", b"\0", b"HTTP/1.1 ", b"HTTP/1.1 200 OK\r\n\r\n", b"0\r\n\r\n",
             b"HTTP/1.1 102 P\r\n\r\n" * 40, b"HTTP/1.1 204 N\r\n\r\n", b"HTTP/1.1 101 S\r\n\r\n"]
        ),
    ),
    places=st.lists(st.integers(0, 200), max_size=5),
    patience=st.one_of(st.none(), st.integers(0, 12)),
)  # fmt: skip


def text_of(number: int) -> bytes:
    """Return the answer to a call: one that no change of a few bytes makes another call's."""
    return hashlib.blake2b(b"%d" % number, digest_size=16).hexdigest().encode()


async def answer_each(visit: Visit) -> None:
    """Answer each request in the way that its body asks for."""
    while True:
        headers, body = await visit.request()
        call = msgspec.json.decode(body, type=Call)
        own = text_of(int(headers["x-id"]))
        if int(headers["x-id"]) % 2:
            good = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(own), own)
        else:
            good = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            good += b"%x\r\n%b\r\n0\r\n\r\n" % (len(own), own)
        place = call.places[0] % len(good) if call.places else 0
        sent = {
            "good": good,
            "early": good,
            "junk": call.junk,
            "cut": good[:place],
            "followed": good + call.junk,
            "twice": good + good,
            "changed": good[:place] + call.junk + good[place + len(call.junk) :],
            "gone": b"",
        }[call.kind]
        places = call.places
        if call.kind in ("followed", "twice"):
            # What comes behind an answer in a packet of its own, once the next request is out, is
            # an answer to that one as far as any client of HTTP/1.1 can know.
            places = [place % len(good) for place in places]
        for piece in cut(sent, places):
            await visit.say(piece)
            await asyncio.sleep(0)
        if call.kind in ("junk", "cut", "changed", "gone"):
            return


@FUZZED
@given(st.lists(CALLS, min_size=1, max_size=12), st.integers(1, 3))
async def test_no_call_gets_what_is_not_its_own_and_the_next_one_works(
    calls: list[Call], connections: int
) -> None:
    async def ask(number: int, call: Call) -> bytes | ServiceError:
        try:
            reply = await client.post(
                msgspec.json.encode(call), {"X-Id": str(number)}, max_bytes=MOST
            )
        except ServiceError as error:
            return error
        return reply.body

    async def give_up(task: asyncio.Task[Any], patience: int) -> None:
        for _ in range(patience):
            await asyncio.sleep(0)
        task.cancel()

    async with scripted_server(answer_each) as server:
        client = HttpClient(server.url, max_connections=connections)
        tasks = [asyncio.create_task(ask(1000 + n, call)) for n, call in enumerate(calls)]
        given_up = [
            give_up(task, call.patience)
            for task, call in zip(tasks, calls, strict=True)
            if call.patience is not None
        ]
        await asyncio.gather(*given_up)
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        good = Call("good", b"", [], None)
        after = await asyncio.gather(*(ask(2000 + n, good) for n in range(connections)))
        await client.aclose()

    for number, (call, end) in enumerate(zip(calls, ended, strict=True)):
        own = text_of(1000 + number)
        if isinstance(end, asyncio.CancelledError):
            assert call.patience is not None
        elif call.kind in ("good", "early", "followed", "twice"):
            assert end == own
        elif call.kind in ("cut", "gone"):
            assert isinstance(end, ServiceError)
        else:
            others = {text_of(1000 + other) for other in range(len(calls))} - {own}
            assert isinstance(end, ServiceError | bytes)
            assert end not in others
    assert after == [text_of(2000 + n) for n in range(connections)]
