"""What the tests of the doors share: a counting assistant behind one, and bare lines to it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from prolocutor.doors.http.api import DeepPavlov
from prolocutor.testing.channel_kit import Door, run_door
from prolocutor.web.authentication import AccessPolicy


def deeppavlov(
    auth: AccessPolicy | None = None, **options: Any
) -> AbstractAsyncContextManager[Door]:
    return run_door(DeepPavlov, auth, **options)


async def post(door: Door, path: str = "/", **body: Any) -> tuple[int, Any]:
    async with door.http.post(path, json=body) as response:
        return response.status, await response.json(content_type=None)


async def get(door: Door, path: str, **query: Any) -> tuple[int, Any]:
    async with door.http.get(path, params=query) as response:
        return response.status, await response.json(content_type=None)


@asynccontextmanager
async def line(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection to the listener at `url`."""
    host, port = url.removeprefix("http://").rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer_to(
    url: str, head: bytes, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> bytes:
    """Send raw bytes with `Connection: close` and give all that comes back."""
    extra = "".join(f"{k}: {v}\r\n" for k, v in (headers or {}).items()).encode()
    async with line(url) as (reader, writer):
        writer.write(b"%b\r\nConnection: close\r\n%b\r\n%b" % (head, extra, body))
        return await reader.read()
