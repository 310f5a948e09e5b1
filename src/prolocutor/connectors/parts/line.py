"""Line: POSTs to one server over a pool of connections; foreign exceptions become ours here alone.

No cookies, no redirects, no proxies, bodies of a bounded size. Time-outs are whoever cancels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.tracing import Trace
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from yarl import URL

from prolocutor.contracts.connector import Request
from prolocutor.errors import BadReply, ConfigError, ServiceRefused, ServiceUnreachable

KEEP_ALIVE: Final = 4.0
"""Seconds an idle connection is kept: less than the 5 after which uvicorn closes it."""

MAX_EXCERPT: Final = 200
NO_LIMITS: Final = aiohttp.ClientTimeout(total=None, sock_connect=None)

Read = Callable[[aiohttp.ClientResponse, int], Awaitable[bytes]]
"""Reads the body of a good reply, of at most so many bytes."""


class Line:
    """The line to one server: a request goes out a second time only if a kept connection turns out
    to be closed before a byte of the reply came."""

    def __init__(self, url: str | URL, *, max_connections: int = 100) -> None:
        self.url = address(url)
        self._shown = str(self.url.with_user(None).with_query(None).with_fragment(None))
        self._max_connections = max_connections
        self._session: aiohttp.ClientSession | None = None
        self._fresh: set[str] = set()  # keys of the requests that go over a new connection

    async def post(
        self, body: bytes, headers: Mapping[str, str], most: int, read: Read | None = None
    ) -> bytes:
        """Return the body of the reply to one POST; `ServiceError` tells what went wrong."""
        session = self._session or self._open()
        read = read or whole
        try:
            try:
                return await self._exchange(session, body, headers, most, read)
            except _StaleConnection:
                return await self._exchange(session, body, headers, most, read)
        except aiohttp.ClientConnectorError as error:
            reason = error.os_error.strerror or error.os_error
            failure = ServiceUnreachable(f"nobody answers at {self._shown}: {reason}")
        except aiohttp.ClientPayloadError:
            failure = ServiceUnreachable(f"{self._shown} broke off in the middle of its reply")
        except (aiohttp.ServerDisconnectedError, _StaleConnection):
            failure = ServiceUnreachable(f"{self._shown} closed the line without a reply")
        except (aiohttp.ClientOSError, ConnectionError) as error:
            failure = ServiceUnreachable(f"the line to {self._shown} broke: {error.strerror}")
        except aiohttp.ClientResponseError as error:
            raise BadReply(f"not HTTP: {error.message[:MAX_EXCERPT]}") from None
        except aiohttp.ClientError as error:
            failure = ServiceUnreachable(f"{self._shown}: {type(error).__name__}")
        raise failure

    async def aclose(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _exchange(
        self,
        session: aiohttp.ClientSession,
        body: bytes,
        headers: Mapping[str, str],
        most: int,
        read: Read,
    ) -> bytes:
        key = headers["Idempotency-Key"]
        answered = False
        try:
            async with session.post(
                self.url, data=body, headers=headers, allow_redirects=False
            ) as response:
                answered = True
                if response.status // 100 != 2:
                    refusal = await _refusal(response)
                    raise ServiceRefused(refusal, status=response.status)
                return await read(response, most)
        except (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError) as error:
            if answered or key in self._fresh:
                raise
            raise _StaleConnection from error
        finally:
            self._fresh.discard(key)

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=_Pool(self._fresh, self._max_connections),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=NO_LIMITS,
            auto_decompress=False,
        )
        return self._session


def address(url: str | URL) -> URL:
    """Read a URL of http or https; `ConfigError` for another."""
    try:
        found = URL(url)
    except ValueError as error:
        raise ConfigError(f"{url!r} is no URL: {error}") from None
    if found.scheme not in ("http", "https") or not found.host:
        raise ConfigError(f"{url!r} is no URL; write it as http://host:port/path")
    return found


def headers_of(requests: Sequence[Request], also: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of one POST for these requests: `X-Turn-Id`, `Idempotency-Key` (of a
    batch: the first request's key, `+` and a digest of all keys, so that another batch never has
    the same), `traceparent` within a recording span, and `also`."""
    first = requests[0]
    key = first.key
    if len(requests) > 1:
        keys = "\n".join([request.key for request in requests])
        key += "+" + hashlib.blake2b(keys.encode(), digest_size=8).hexdigest()
    if not key.isascii():
        key = quote(key, safe="/+")
    headers = {**also, "X-Turn-Id": first.turn_id, "Idempotency-Key": key}
    if get_current_span().is_recording():
        TraceContextTextMapPropagator().inject(headers)
    return headers


async def whole(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Read the body, but give up as soon as it is known to have more than `most` bytes."""
    length = response.content_length
    if length is not None and length > most:
        raise BadReply(f"{length:,} bytes, more than the {most:,} allowed")
    content = response.content
    body = await content.readany()
    while not content.at_eof():
        body += await content.readany()
        if len(body) > most:
            raise BadReply(f"more than the {most:,} bytes allowed")
    return body


class _StaleConnection(Exception):
    """A kept connection was closed by the other side just as a request went out."""


class _Pool(aiohttp.TCPConnector):
    """aiohttp's pool, which also notes the key of a request for which it opens a connection.

    (aiohttp's own way to tell, a `TraceConfig`, costs a fifth of the whole request.)
    """

    def __init__(self, fresh: set[str], limit: int) -> None:
        super().__init__(limit=limit, keepalive_timeout=KEEP_ALIVE)
        self._fresh = fresh

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        self._fresh.add(req.headers["Idempotency-Key"])
        return await super()._create_connection(req, traces, timeout)


async def _refusal(response: aiohttp.ClientResponse) -> str:
    if "Location" in response.headers:
        return f"status {response.status}: a redirect, which is not followed"
    start = await response.content.read(4 * MAX_EXCERPT)
    excerpt = " ".join(start.decode(errors="replace").split())[:MAX_EXCERPT]
    return f"status {response.status}: {excerpt}" if excerpt else f"status {response.status}"
