"""Uploads of any bytes under any name and type: what is shown is a picture, or nothing."""

import asyncio
import io
import random
import zlib

import aiohttp

from prolocutor.testing.channel_kit import Gate, pipeline
from tests.fuzz.rounds import patience, rounds
from tests.fuzz.served import served

MAGIC = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\x00\x00\x00\x00WEBP", b"BM"]
INSIDE = [
    b"<script>alert(document.domain)</script>",
    b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    b"<!doctype html><html>",
    b"%PDF-1.7",
    b"PK\x03\x04",
    b"\x00" * 4_096,
    b"IHDR\xff\xff\xff\xff\xff\xff\xff\xff",
    zlib.compress(b"\x00" * 10_000_000),
]
KINDS = ["image/png", "image/jpeg", "image/svg+xml", "text/html", "image/png; charset=x", ""]
SHOWN = {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}


def picture(chance: random.Random) -> bytes:
    body = b"".join(chance.choice(INSIDE) for _ in range(chance.randrange(4)))
    if chance.random() < 0.7:
        body = chance.choice(MAGIC) + body
    if chance.random() < 0.2:
        body = body[: chance.randrange(len(body) + 1)]
    if chance.random() < 0.1:
        body = body.ljust(chance.choice([999_999, 1_000_001, 1_500_000]), b"\x00")
    return body


async def test_what_is_uploaded_is_a_picture_or_refused() -> None:
    taken = 0
    async with (
        asyncio.timeout(patience()),
        served(pipeline(Gate()), ("page",)) as it,
        aiohttp.ClientSession(it.url) as http,
    ):
        for chance in rounds(40):
            body, kind = picture(chance), chance.choice(KINDS)
            it.watch.doing = f"{kind} {body[:40]!r}"
            try:
                async with http.post(
                    f"/uploads?user={chance.choice(['ann', 'bob', '../x'])}",
                    data=io.BytesIO(body),
                    headers={
                        "Content-Type": kind,
                        "Content-Disposition": 'filename="../../a.html"',
                    },
                ) as response:
                    answer = await response.json()
            except aiohttp.ClientConnectionError:
                continue  # too large, and cut off
            assert response.status in (201, 400, 413, 415), answer
            if response.status != 201:
                continue
            taken += 1
            async with http.get(answer["url"]) as response:
                assert response.status == 200
                assert await response.read() == body
                assert response.content_type in SHOWN
                assert response.headers["X-Content-Type-Options"] == "nosniff"
                assert "sandbox" in response.headers["Content-Security-Policy"]
                if response.content_type == "application/pdf":
                    assert response.headers["Content-Disposition"] == "attachment"
        for name in ("..%2f..%2fetc%2fpasswd", "a.png%00.html", "x" * 5_000 + ".png"):
            async with http.get(f"/uploads/{name}") as response:
                assert response.status in (404, 414)
    assert taken
