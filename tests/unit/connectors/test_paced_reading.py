"""What servers send is read in small pieces."""

from __future__ import annotations

import asyncio
import socket

from prolocutor.connectors.parts.http_connection import READ_BYTES, HttpConnection


class WatchedConnection(HttpConnection):
    """Notes the sizes of what it is handed at once."""

    def data_received(self, data: bytes) -> None:
        sizes.append(len(data))


sizes: list[int] = []


async def test_a_flood_comes_to_a_connection_in_small_pieces() -> None:
    sizes.clear()
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    loop = asyncio.get_running_loop()
    made = WatchedConnection(loop, lambda _: None, lambda _: None)
    await loop.create_connection(lambda: made, sock=ours)

    await loop.sock_sendall(theirs, b"[" * 1_000_000)
    theirs.close()
    await made.lost

    assert sum(sizes) == 1_000_000
    assert max(sizes) <= READ_BYTES
