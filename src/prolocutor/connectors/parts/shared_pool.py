"""SharedPool: a client's share in the pool that all clients of one server have in common."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final

from prolocutor.connectors.parts.http_address import HttpAddress
from prolocutor.connectors.parts.http_connection import HttpConnection
from prolocutor.connectors.parts.http_pool import HttpPool, PoolClosed

_Origin = tuple[str, int, ssl.SSLContext | None]


class SharedPool:
    """What a client needs of an `HttpPool`, with room for `most` connections of its own.

    Services of one server are often asked one after the other, over the connections of each other.
    The clients of an event loop share a pool, which closes with the last of them.
    """

    def __init__(self, address: HttpAddress, most: int, tls: ssl.SSLContext | None) -> None:
        self._address = address
        self._most = most
        self._tls = tls
        self._pool: HttpPool | None = None
        self._is_closed = False

    async def acquire(self, *, fresh: bool = False) -> HttpConnection:
        """Return a connection as `HttpPool` does; `PoolClosed` after `aclose`."""
        if self._is_closed:
            raise PoolClosed
        pool = self._pool or self._join()
        return await pool.acquire(fresh=fresh)

    def release(self, connection: HttpConnection) -> None:
        """Return a connection."""
        assert self._pool is not None, "nothing was acquired"
        self._pool.release(connection)

    async def aclose(self) -> None:
        """End the share; close all connections if it was the last."""
        pool, was_closed, self._is_closed = self._pool, self._is_closed, True
        if pool is not None and not was_closed and not pool.add_room(-self._most):
            for pools in _POOLS.values():
                if pools.get(self._origin) is pool:
                    del pools[self._origin]
            await pool.aclose()

    @property
    def _origin(self) -> _Origin:
        return self._address.host, self._address.port, self._tls

    def _join(self) -> HttpPool:
        for loop in [loop for loop in _POOLS if loop.is_closed()]:
            del _POOLS[loop]
        pools = _POOLS.setdefault(asyncio.get_running_loop(), {})
        pool = self._pool = pools.get(self._origin) or HttpPool(self._address, 0, self._tls)
        pools[self._origin] = pool
        pool.add_room(self._most)
        return pool


_POOLS: Final[dict[asyncio.AbstractEventLoop, dict[_Origin, HttpPool]]] = {}
"""The pools of each event loop that runs, by server."""
