"""HttpClient: requests to a URL over a pool of connections.

No cookies, no redirects; bodies and heads of a bounded size. Time-outs are the caller's, who
cancels. Only here errors of the layers below become a `ServiceError`.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Collection, Mapping
from time import monotonic
from typing import NoReturn

from prolocutor.connectors.parts.connecting import Network, reachable_networks
from prolocutor.connectors.parts.http_answer import MAX_EXCERPT, BodyStream, HttpReply
from prolocutor.connectors.parts.http_connection import BrokenExchange
from prolocutor.connectors.parts.http_pool import HttpPool, PoolClosed, SharedPool
from prolocutor.connectors.parts.url import HttpAddress, Url, tls_context
from prolocutor.contracts.connector import WireExchange, running_effect, wire_exchanges
from prolocutor.errors import ServiceRefused, ServiceUnreachable

MAX_CONNECTIONS = 100


class HttpClient:
    """The way to a URL. `headers` go out with every request.

    A request is sent a second time only if its idle connection turns out to be closed before a byte
    of the answer. `tls`: the context for https; by default it verifies certificates and host names.
    `shared`: shared clients of the same server use the same connections, up to the sum of their
    `max_connections`. `by_proxy`: https goes through the environment's proxy, if any. `within`: the
    networks allowed for the server, checked for the address of each connection; not for shared
    connections.
    """

    def __init__(
        self,
        url: str | Url,
        *,
        headers: Mapping[str, str] | None = None,
        max_connections: int = MAX_CONNECTIONS,
        tls: ssl.SSLContext | None = None,
        shared: bool = False,
        by_proxy: bool = False,
        within: Collection[Network] | None = None,
    ) -> None:
        self._address = HttpAddress(url, headers or {})
        context = (tls or tls_context()) if self._address.is_tls else None
        self._by_proxy = by_proxy
        self._pool: HttpPool | SharedPool
        if shared:
            self._pool = SharedPool(self._address, max_connections, context)
        else:
            proxy = self._address.environment_proxy() if by_proxy and context is not None else None
            self._pool = HttpPool(self._address, max_connections, context, proxy, within)

    async def post(
        self,
        body: bytes,
        headers: Mapping[str, str],
        *,
        max_bytes: int,
        stream: BodyStream | None = None,
    ) -> HttpReply:
        """Send a POST and return the answer with status 2xx. A body of the stream's `kinds` goes
        to `stream`, if given. Raise `ServiceUnreachable`, `ServiceRefused` (with the status) or
        `BadReply` otherwise.
        """
        reply = await self.exchange(body, headers, max_bytes=max_bytes, stream=stream)
        if reply.status // 100 != 2:
            raise ServiceRefused(refusal_text(reply), status=reply.status)
        return reply

    async def exchange(
        self,
        body: bytes,
        headers: Mapping[str, str],
        *,
        max_bytes: int,
        stream: BodyStream | None = None,
        method: str | None = None,
        target: str | None = None,
    ) -> HttpReply:
        """Send a request, by default a POST; return any answer.

        `target` is another path of the same server, with its query, in place of the URL's. Other
        statuses than 2xx do not raise; of their bodies only the start is kept.
        """
        head = self._address.call_head(headers, method, target)
        request = b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)
        seen = wire_exchanges.get()
        if seen is None:
            return await self._exchange_twice(request, max_bytes, stream)
        one = WireExchange(url=self._address.shown, request=body, began=monotonic())
        seen.append(one)
        watched = stream and _SeenStream(stream, one)
        reply = await self._exchange_twice(request, max_bytes, watched)
        one.end(reply.status, reply.body)
        return reply

    async def _exchange_twice(
        self, request: bytes, max_bytes: int, stream: BodyStream | None
    ) -> HttpReply:
        """Send a request, again where its idle connection was closed before."""
        try:
            try:
                once = running_effect.get() is not None  # a new connection is never stale
                return await self._exchange(request, max_bytes, stream, fresh=once)
            except BrokenExchange as broken:
                if not broken.is_stale:
                    raise
                return await self._exchange(request, max_bytes, stream, fresh=True)
        except BrokenExchange as broken:
            self._raise_broken(broken)
        except PoolClosed:
            raise ServiceUnreachable(f"the client of {self._address.shown} is closed") from None

    def confine(self) -> Collection[Network] | None:
        """Return the networks an answering server may lead to, and be in from now on: none
        less public than its own. None: any network.
        """
        pool = self._pool
        if isinstance(pool, HttpPool) and pool.network is not None:
            pool.within = reachable_networks(pool.network)
            return pool.within
        return None

    async def aclose(self) -> None:
        """Close the client's own connections; waiting calls fail."""
        await self._pool.aclose()

    async def _exchange(
        self, request: bytes, max_bytes: int, stream: BodyStream | None, *, fresh: bool = False
    ) -> HttpReply:
        try:
            connection = await self._pool.acquire(fresh=fresh)
        except OSError as error:
            raise self._unreachable(error) from None
        try:
            return await connection.exchange(request, max_bytes, stream)
        finally:
            self._pool.release(connection)

    def _unreachable(self, error: OSError) -> ServiceUnreachable:
        shown = self._address.shown
        if isinstance(error, ssl.SSLCertVerificationError):
            return ServiceUnreachable(
                f"the certificate of {shown} is not accepted: {error.verify_message}",
                sent=False,
            )
        reason = system_text(error)
        proxy = not self._by_proxy and self._address.environment_proxy()
        hint = " (a proxy is set in the environment, but proxies are not used)" if proxy else ""
        what = f"cannot connect to {shown}: {reason[:MAX_EXCERPT]}{hint}"
        return ServiceUnreachable(what, sent=False)

    def _raise_broken(self, broken: BrokenExchange) -> NoReturn:
        shown = self._address.shown
        reason = f": {broken.reason}" if broken.reason else ""
        if broken.is_begun:
            what = f"{shown} broke off in the middle of its reply"
        else:
            what = f"{shown} closed the connection without a reply"
        raise ServiceUnreachable(what + reason) from None


class _SeenStream:
    """A stream in front of a stream, which notes the bytes passing by."""

    def __init__(self, stream: BodyStream, seen: WireExchange) -> None:
        self.kinds = stream.kinds
        self._stream = stream
        self._seen = seen

    def feed(self, piece: bytes) -> bool:
        """Note a piece and pass it on."""
        self._seen.add(piece)
        return self._stream.feed(piece)


def system_text(error: OSError) -> str:
    """Return the system's text of an error, without asyncio's additions."""
    if error.errno and not isinstance(error, ssl.SSLError | socket.gaierror):
        return os.strerror(error.errno)
    return error.strerror or str(error) or type(error).__name__


def refusal_text(reply: HttpReply) -> str:
    """Return the message for an answer with a status other than 2xx."""
    if reply.is_redirect:
        return f"status {reply.status}: a redirect, which is not followed"
    excerpt = " ".join(reply.body.decode(errors="replace").split())[:MAX_EXCERPT]
    return f"status {reply.status}: {excerpt}" if excerpt else f"status {reply.status}"
