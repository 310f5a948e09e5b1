"""Requests and frames of any shape at all doors: no error of the server, no held loop."""

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import aiohttp

from prolocutor.testing.channel_kit import Gate, pipeline
from tests.fuzz.odd_values import BODIES, TEXTS, as_json, nearly, odd_value
from tests.fuzz.rounds import patience, rounds
from tests.fuzz.served import served

HEADERS = {
    "Origin": ["http://[", "null", "https://evil.example", "http://127.0.0.1"],
    "Cookie": ["prolocutor_session=x", "a=b;" * 900, "=;=;="],
    "Authorization": [
        "Bearer x",
        "Basic eDp4",
        "Bearer",
        "Négotiate é".encode("latin-1").decode("latin-1"),
    ],
    "Idempotency-Key": ["k", "k" * 300, "\x7f"],
    "Accept": ["text/html", "*/*;q=abc", "a" * 5_000],
    "If-None-Match": ["*", '"' * 500],
    "X-Forwarded-For": ["127.0.0.1", "unknown, ," * 300],
    "Forwarded": ['for="[::1', "for=" * 900],
    "Content-Encoding": ["gzip", "br"],
    "Last-Event-ID": ["-1", "x" * 900],
}
KINDS = [
    "application/json",
    "text/plain",
    "application/jsonfoo",
    "application/json; charset=utf-7",
    "",
]


def requests(document: Any, chance: random.Random) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Make one request for each operation of an OpenAPI document."""
    components = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, described in operations.items():
            if "x-websocket" in described:
                continue
            at, query, headers = path, {}, {}
            for parameter in described.get("parameters", ()):
                text = str(chance.choice(TEXTS)).encode("utf-8", "replace").decode()
                if parameter["in"] == "path":
                    name = chance.choice([text, "0" * 32, "f" * 32])
                    at = at.replace(f"{{{parameter['name']}}}", name.replace("/", "") or "x")
                elif parameter["in"] == "query" and chance.random() < 0.6:
                    query[parameter["name"]] = text[: chance.choice([50, 4_000, 9_000])]
            for name, values in HEADERS.items():
                if chance.random() < 0.1:
                    headers[name] = chance.choice(values)
            options: dict[str, Any] = {"params": query, "headers": headers}
            for kind, content in described.get("requestBody", {}).get("content", {}).items():
                body = chance.choice(BODIES)
                if chance.random() < 0.8 and "schema" in content:
                    body = as_json(nearly(content["schema"], components, chance), chance)
                options["data"] = body
                headers["Content-Type"] = chance.choice([kind, kind, kind, *KINDS])
            yield method.upper(), at, options


async def test_no_request_is_an_error_of_the_server_or_holds_it() -> None:
    broken = []
    async with asyncio.timeout(patience()), served(pipeline(Gate())) as it:
        timeout = aiohttp.ClientTimeout(total=120)
        async with aiohttp.ClientSession(it.url, timeout=timeout) as http:
            async with http.get("/openapi.json") as response:
                document = await response.json()
            for chance in rounds(2):
                for method, path, options in requests(document, chance):
                    it.watch.doing = f"{method} {path} {options}"
                    try:
                        async with http.request(
                            method, path, allow_redirects=False, **options
                        ) as answer:
                            if answer.status == 500:
                                broken.append((it.watch.doing, await answer.text()))
                            if answer.content_type != "text/event-stream":
                                await answer.read()
                            assert answer.headers["X-Content-Type-Options"] == "nosniff"
                    except (ValueError, aiohttp.ClientConnectionError):
                        continue  # the client itself refuses, or was cut off as a flood
            async with http.post("/", json={"user_id": "last", "payload": "still there?"}) as reply:
                assert (await reply.json())["response"].endswith("still there?")
    assert broken == []


async def test_no_frame_is_an_error_of_the_server_or_holds_it(caplog: Any) -> None:
    async with (
        asyncio.timeout(patience()),
        served(pipeline(Gate())) as it,
        aiohttp.ClientSession(it.url) as http,
    ):
        async with http.get("/openapi.json") as response:
            document = await response.json()
        components = document["components"]["schemas"]
        sockets = {
            path: operations["get"]["x-websocket"].get("receives", {})
            for path, operations in document["paths"].items()
            if "x-websocket" in operations.get("get", {})
        }
        for chance in rounds(1):
            for path, schema in sockets.items():
                await frames(http, path, schema, components, chance)
        async with http.post("/", json={"user_id": "last", "payload": "still there?"}) as reply:
            assert (await reply.json())["response"].endswith("still there?")
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def frames(
    http: aiohttp.ClientSession, path: str, schema: Any, components: Any, chance: random.Random
) -> None:
    """Send odd frames to a socket, and leave now and then without a word."""
    async with http.ws_connect(path, max_msg_size=0) as socket:
        for _ in range(12):
            value = odd_value(chance)
            if chance.random() < 0.6:
                value = nearly(schema, components, chance)
            frame = chance.choice(BODIES) if chance.random() < 0.3 else as_json(value, chance)
            try:
                if chance.random() < 0.3:
                    await socket.send_bytes(frame)
                else:
                    await socket.send_str(frame.decode("utf-8", "replace"))
            except ConnectionError:
                return
        if chance.random() < 0.3:
            assert socket._writer.transport is not None
            socket._writer.transport.abort()
        await socket.close()
