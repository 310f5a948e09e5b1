"""Whatever comes in at the doors, nothing is a 500, and the next request is answered.

The examples of a run are few; `PROLOCUTOR_FUZZ=20000` makes it an hour.
"""

import asyncio
import json
import os
import random
from collections.abc import Iterator
from typing import Any

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.channels.channel_catalog import CHANNELS
from prolocutor.testing.channel_kit import Gate, pipeline, running
from prolocutor.web.listener import make_app

EXAMPLES = int(os.environ.get("PROLOCUTOR_FUZZ", "6"))
DOORS = ("deeppavlov", "almond", "page", "console", "openai", "a2a", "mcp", "agui", "parlai")
TEXTS = [
    "",
    "ann",
    "\x00",
    "\ud800",
    "{text:.40!r}",
    "../../etc/passwd",
    "%s%n",
    "🦜" * 40,
    "[" * 2000,
]
ODD = [None, True, -1, 0, 1e308, 2**63, 10**30, [], {}, [[]], {"": {}}, *TEXTS]
BODIES = [
    b"",
    b"{",
    b"[" * 5000,
    b"\xff\xfe",
    b'{"a":NaN}',
    b'"\\ud800"',
    b"\x89PNG\r\n\x1a\n",
    b"null",
]


def values(schema: Any, components: Any, chance: random.Random, depth: int = 0) -> Any:
    """Make a value that fits a schema, or nearly."""
    if not isinstance(schema, dict) or depth > 5 or chance.random() < 0.15:
        return chance.choice(ODD)
    if "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return values(chance.choice(schema[key]), components, chance, depth + 1)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            needed = set(schema.get("required", ()))
            return {
                name: values(kind, components, chance, depth + 1)
                for name, kind in fields.items()
                if name in needed or chance.random() < 0.5
            }
        case "array":
            item = schema.get("items", {})
            return [values(item, components, chance, depth + 1) for _ in range(chance.randrange(3))]
        case "integer":
            return chance.choice([0, 1, -1, 2**70])
        case "boolean":
            return chance.random() < 0.5
    return chance.choice(TEXTS)


def requests(document: Any, chance: random.Random) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Make one request for each operation of an OpenAPI document."""
    components = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, described in operations.items():
            at, query = path, {}
            for parameter in described.get("parameters", ()):
                text = str(chance.choice(TEXTS)).encode("utf-8", "replace").decode()
                if parameter["in"] == "path":
                    at = at.replace(f"{{{parameter['name']}}}", text.replace("/", "") or "x")
                elif parameter["in"] == "query" and chance.random() < 0.6:
                    query[parameter["name"]] = text[:200]
            options: dict[str, Any] = {"params": query}
            for kind, content in described.get("requestBody", {}).get("content", {}).items():
                body = chance.choice(BODIES)
                if chance.random() < 0.8 and "schema" in content:
                    body = json.dumps(values(content["schema"], components, chance)).encode()
                options["data"] = body
                options["headers"] = {"Content-Type": chance.choice([kind, kind, "text/plain"])}
            if "x-websocket" not in described:
                yield method.upper(), at, options


async def test_no_request_or_frame_is_an_error_of_the_server() -> None:
    chance = random.Random(EXAMPLES)
    async with asyncio.timeout(7200), Assistant(pipeline(Gate()), store="memory:") as assistant:
        app = make_app(assistant, [CHANNELS.make(door, assistant) for door in DOORS])
        async with (
            running(app) as url,
            aiohttp.ClientSession(url, timeout=aiohttp.ClientTimeout(total=60)) as http,
        ):
            async with http.get("/openapi.json") as response:
                document = await response.json()
            broken = []
            for _ in range(EXAMPLES):
                for method, path, options in requests(document, chance):
                    async with http.request(method, path, allow_redirects=False, **options) as it:
                        if it.status == 500:
                            broken.append((method, path, options, await it.text()))
            assert broken == []
            sockets = [
                path
                for path, operations in document["paths"].items()
                if "x-websocket" in operations.get("get", {})
            ]
            for path in sockets * max(1, EXAMPLES // 6):
                async with http.ws_connect(path, max_msg_size=0) as socket:
                    for _ in range(20):
                        frame = chance.choice([*BODIES, json.dumps(chance.choice(ODD)).encode()])
                        if chance.random() < 0.5:
                            await socket.send_bytes(frame)
                        else:
                            await socket.send_str(frame.decode("utf-8", "replace"))
                    await socket.close()
            async with http.post("/", json={"user_id": "last", "payload": "still there?"}) as reply:
                assert (await reply.json())["response"].endswith("still there?")
