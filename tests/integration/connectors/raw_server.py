"""A server that answers with the very bytes it is told to, on a real socket."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """Where it listens, and what it was asked: (headers, body) of each request."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[tuple[dict[str, str], bytes]] = []
        self.connections = 0
        self.came = asyncio.Event()
        self.gone = asyncio.Event()

    @property
    def headers(self) -> dict[str, str]:
        return self.asked[-1][0]

    @property
    def body(self) -> object:
        return msgspec.json.decode(self.asked[-1][1])


@asynccontextmanager
async def raw_server(*answers: bytes | None) -> AsyncIterator[RawServer]:
    """Answer request after request with `answers`; the last serves all further ones.

    None hangs up, and so does an answer that is not as long as it says. Without any answer it never
    answers.
    """

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        with contextlib.suppress(ConnectionError):
            while (asked := await _request(reader)) is not None:
                server.asked.append(asked)
                server.came.set()
                if answers:
                    answer = answers[min(len(server.asked), len(answers)) - 1]
                    if answer is None:
                        break
                    writer.write(answer)
                    await writer.drain()
                    if not _is_whole(answer):
                        break
        server.gone.set()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    listener = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    server = RawServer(f"http://127.0.0.1:{port}/agent")
    async with listener:
        yield server


def json(value: object, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return a whole HTTP response with a JSON body."""
    return plain(msgspec.json.encode(value), status, length)


def plain(body: bytes, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return a whole HTTP response; with a `length` that the body does not have if you like."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n"
    return head.encode() + body


async def _request(reader: asyncio.StreamReader) -> tuple[dict[str, str], bytes] | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
    except asyncio.IncompleteReadError:
        return None
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head)}
    return headers, await reader.readexactly(int(headers.get("content-length", 0)))


def _is_whole(answer: bytes) -> bool:
    head, _, body = answer.partition(b"\r\n\r\n")
    return f"Content-Length: {len(body)}".encode() in head.splitlines()
