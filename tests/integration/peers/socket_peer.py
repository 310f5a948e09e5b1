"""A service behind a WebSocket, in this process: it behaves well or badly, as it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import WSMsgType, web

Act = Callable[[Any, web.WebSocketResponse], Awaitable[None]]


class SocketPeer:
    """Counts its connections and keeps what it was asked; `act` answers one message."""

    def __init__(self, act: Act, opening: Sequence[Any]) -> None:
        self.queries: list[dict[str, str]] = []
        self.asked: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.sockets: set[web.WebSocketResponse] = set()
        self.url = ""
        self._act = act
        self._opening = opening

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer the messages of one connection."""
        self.headers.append(dict(request.headers))
        self.queries.append(dict(request.query))
        if request.headers.get("Authorization", "Bearer right") != "Bearer right":
            raise web.HTTPUnauthorized
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        for frame in self._opening:
            await socket.send_str(json.dumps(frame))
        self.sockets.add(socket)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                self.asked.append(json.loads(message.data))
                await self._act(self.asked[-1], socket)
        return socket

    async def hang_up(self) -> None:
        """Close all connections."""
        for socket in self.sockets:
            await socket.close()
        self.sockets.clear()


@asynccontextmanager
async def socket_peer(
    act: Act, *, port: int = 0, opening: Sequence[Any] = ()
) -> AsyncIterator[SocketPeer]:
    peer = SocketPeer(act, opening)
    app = web.Application()
    app.router.add_get("/bot", peer.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        host, port = runner.addresses[0][:2]
        peer.url = f"ws://{host}:{port}/bot"
        yield peer
    finally:
        await peer.hang_up()
        await runner.cleanup()


def behaving(act: Callable[[Any], Any]) -> Act:
    """Answer with what a function of the request returns; a request may ask for a delay."""

    async def answer(asked: Any, socket: web.WebSocketResponse) -> None:
        if isinstance(asked, dict) and "seconds" in asked:
            await asyncio.sleep(asked.pop("seconds"))
        try:
            said = json.dumps(act(asked))
        except (Exception, SystemExit) as error:
            said = json.dumps({"error": str(error)})
        await socket.send_str(said)

    return answer
