"""HttpConnector: a service behind a URL, on the native wire or on DeepPavlov's.

Native: POST of one request as JSON, the bare reply as JSON; batched `{"batch": [...]}` both ways.
DeepPavlov: a dict of lists goes out (several requests are merged by joining their lists key by
key), a list comes back, element i for request i; a request on its own takes element 0.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal
from urllib.parse import quote

import aiohttp
import msgspec
from aiohttp.client_proto import ResponseHandler
from aiohttp.tracing import Trace
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from yarl import URL

from prolocutor.contracts.connector import Request
from prolocutor.dialog.plain import MAX_BYTES, Plain, encode, parse
from prolocutor.errors import (
    BadReply,
    ConfigError,
    ServiceError,
    ServiceRefused,
    ServiceUnreachable,
)

Wire = Literal["native", "deeppavlov"]
Replies = Sequence[Plain | ServiceError]

KEEP_ALIVE: Final = 4.0
"""Seconds an idle connection is kept: less than the 5 after which uvicorn closes it."""

MAX_EXCERPT: Final = 200
NO_LIMITS: Final = aiohttp.ClientTimeout(total=None, sock_connect=None)


class HttpConnector:
    """The way to a service behind `url`, over a pool of connections.

    Headers: `X-Turn-Id`, `Idempotency-Key` (of a batch: the first request's key, `+` and a digest
    of all keys, so that another batch never has the same), `traceparent` within a recording span,
    and `headers`. No cookies, no redirects, no proxies, replies of at most 1 MB. Time-outs are
    whoever cancels `send`. A request is sent a second time only if a kept connection turns out
    to be closed before a byte of the reply came.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        wire: Wire = "native",
        batched: bool = False,
        max_connections: int = 100,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._url = _address(url)
        self._shown = str(self._url.with_user(None).with_query(None).with_fragment(None))
        self._merged = wire == "deeppavlov"
        self._batched = batched
        self._max_connections = max_connections
        self._headers = {
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            **(headers or {}),
        }
        self._session: aiohttp.ClientSession | None = None
        self._fresh: set[str] = set()  # keys of the requests that go over a new connection

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Post the requests and read the replies; `ServiceError` tells what went wrong."""
        first = requests[0]
        if self._merged:
            if len(requests) == 1:
                elements = _elements(await self._post(first.body(), requests), None)
                return (parse(bytes(elements[0])),)
            merged = _merge(requests)
            if merged is None:
                return await asyncio.gather(*map(self._send_alone, requests))
            return _items(_elements(await self._post(merged, requests), len(requests)))
        if self._batched:
            body = b'{"batch":[%b]}' % b",".join([request.body() for request in requests])
            return _items(_batch(await self._post(body, requests), len(requests)))
        return (parse(await self._post(first.body(), requests)),)

    async def aclose(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _send_alone(self, request: Request) -> Plain | ServiceError:
        try:
            return (await self.send((request,)))[0]
        except ServiceError as error:
            return error

    async def _post(self, body: bytes, requests: Sequence[Request]) -> bytes:
        """Give the body of the reply to one POST; foreign exceptions become ours here alone."""
        session = self._session or self._open()
        headers = self._headers_for(requests)
        most = MAX_BYTES * len(requests)
        try:
            try:
                return await self._exchange(session, body, headers, most)
            except _StaleConnection:
                return await self._exchange(session, body, headers, most)
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

    async def _exchange(
        self, session: aiohttp.ClientSession, body: bytes, headers: dict[str, str], most: int
    ) -> bytes:
        key = headers["Idempotency-Key"]
        answered = False
        try:
            async with session.post(
                self._url, data=body, headers=headers, allow_redirects=False
            ) as response:
                answered = True
                if response.status // 100 != 2:
                    refusal = await _refusal(response)
                    raise ServiceRefused(refusal, status=response.status)
                return await _read(response, most)
        except (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError) as error:
            if answered or key in self._fresh:
                raise
            raise _StaleConnection from error
        finally:
            self._fresh.discard(key)

    def _headers_for(self, requests: Sequence[Request]) -> dict[str, str]:
        first = requests[0]
        key = first.key
        if len(requests) > 1:
            keys = "\n".join([request.key for request in requests])
            key += "+" + hashlib.blake2b(keys.encode(), digest_size=8).hexdigest()
        if not key.isascii():
            key = quote(key, safe="/+")
        headers = {**self._headers, "X-Turn-Id": first.turn_id, "Idempotency-Key": key}
        if get_current_span().is_recording():
            TraceContextTextMapPropagator().inject(headers)
        return headers

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=_Pool(self._fresh, self._max_connections),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=NO_LIMITS,
            auto_decompress=False,
        )
        return self._session


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


def _address(url: str) -> URL:
    try:
        address = URL(url)
    except ValueError as error:
        raise ConfigError(f"{url!r} is no URL: {error}") from None
    if address.scheme not in ("http", "https") or not address.host:
        raise ConfigError(f"{url!r} is no URL; write it as http://host:port/path")
    return address


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
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


async def _refusal(response: aiohttp.ClientResponse) -> str:
    if "Location" in response.headers:
        return f"status {response.status}: a redirect, which is not followed"
    start = await response.content.read(4 * MAX_EXCERPT)
    excerpt = " ".join(start.decode(errors="replace").split())[:MAX_EXCERPT]
    return f"status {response.status}: {excerpt}" if excerpt else f"status {response.status}"


class _Batch(msgspec.Struct):
    batch: list[msgspec.Raw]


_read_batch: Final = msgspec.json.Decoder(_Batch).decode
_read_list: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


def _batch(body: bytes, count: int) -> list[msgspec.Raw]:
    try:
        return _counted(_read_batch(body).batch, count)
    except msgspec.ValidationError:
        raise BadReply(f'a batch wants {{"batch": [...]}} with {count} replies') from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReply(f"not JSON: {error}") from None


def _elements(body: bytes, count: int | None) -> list[msgspec.Raw]:
    try:
        elements = _read_list(body)
    except msgspec.ValidationError:
        raise BadReply("DeepPavlov's wire wants a list as the reply") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReply(f"not JSON: {error}") from None
    if count is None and not elements:
        raise BadReply("an empty list has no reply")
    return elements if count is None else _counted(elements, count)


def _counted(elements: list[msgspec.Raw], count: int) -> list[msgspec.Raw]:
    if len(elements) != count:
        raise BadReply(f"{len(elements)} replies to a batch of {count} requests")
    return elements


def _items(elements: list[msgspec.Raw]) -> Replies:
    return [_item(element) for element in elements]


def _item(element: msgspec.Raw) -> Plain | ServiceError:
    try:
        return parse(bytes(element))
    except BadReply as error:
        return error


def _merge(requests: Sequence[Request]) -> bytes | None:
    """Join the lists of all requests key by key; None where they do not fit together."""
    values = [request.value() for request in requests]
    keys = list(values[0]) if isinstance(values[0], dict) else []
    merged: dict[str, list[Any]] = {key: [] for key in keys}
    for value in values:
        if not isinstance(value, dict) or not value or value.keys() != merged.keys():
            return None
        for key, items in value.items():
            if not isinstance(items, list) or len(items) != 1:
                return None
            merged[key] += items
    return encode(merged)
