"""OAuthWeb: requests to servers of metadata and tokens, within the allowed networks."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from prolocutor.connectors.parts.connecting import Network
from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.connectors.parts.url import http_url
from prolocutor.errors import BadReply, ConfigError, ServiceError, ServiceUnreachable

MAX_ANSWER: Final = 1_000_000
"""Bytes of an answer."""

ANSWER_TIMEOUT: Final = 8.0
"""Seconds for an answer."""

_LOCAL: Final = ("localhost", "127.0.0.1", "::1")

T = TypeVar("T")


class GrantDenied(ServiceError):
    """The authorization server refuses a token; `error` is its reason (RFC 6749, section 5.2)."""

    answered = True

    def __init__(self, what: str, error: str) -> None:
        self.error = error
        super().__init__(what)


class OAuthWeb:
    """Sends requests to servers over HTTP.

    `within` are the networks that they may be in: an MCP server cannot lead us into networks less
    public than its own.
    """

    def __init__(self, within: Collection[Network] | None = None) -> None:
        self._within = within

    async def find(self, url: str, kind: type[T]) -> T | None:
        """Return the document at an address; None if it is missing or unreadable."""
        status, body = await self._ask("GET", url, {}, b"")
        if status != 200:
            return None
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None

    async def register(self, url: str, document: Mapping[str, Any], kind: type[T]) -> T:
        """Post a document as JSON; return the answer."""
        headers = {"Content-Type": "application/json"}
        status, body = await self._ask("POST", url, headers, msgspec.json.encode(document))
        return _read(status, body, kind)

    async def token(
        self, url: str, form: Mapping[str, str], headers: Mapping[str, str], kind: type[T]
    ) -> T:
        """Post a form; return the answer, or raise `GrantDenied`."""
        headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        status, body = await self._ask("POST", url, headers, urlencode(form).encode())
        return _read(status, body, kind)

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes]:
        try:
            address = http_url(url)
        except ConfigError as error:
            raise BadReply(f"{url!r:.200} is not an address: {error}") from None
        client = HttpClient(address, by_proxy=True, within=self._within)
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                reply = await client.exchange(
                    body,
                    {"Accept": "application/json", **headers},
                    max_bytes=MAX_ANSWER,
                    method=method,
                    target=address.target,
                )
        except TimeoutError:
            raise ServiceUnreachable(
                f"no answer of {address.origin} in {ANSWER_TIMEOUT:g} s"
            ) from None
        finally:
            await client.aclose()
        return reply.status, reply.body


class _Refusal(msgspec.Struct):
    error: str = ""
    error_description: str = ""


def _read(status: int, body: bytes, kind: type[T]) -> T:
    if status not in (200, 201):
        try:
            refusal = msgspec.json.decode(body, type=_Refusal)
        except (msgspec.MsgspecError, UnicodeError):
            refusal = _Refusal()
        said = refusal.error_description or refusal.error or f"status {status}"
        raise GrantDenied(f"the authorization server refused: {said[:200]}", refusal.error)
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadReply(f"the answer of the authorization server cannot be read: {error}") from None


def is_safe(url: str, server: str) -> bool:
    """Return whether a URL may carry secrets: by TLS, on loopback, or to a server without TLS."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme == "http":
        return server.startswith("http://") or parts.hostname in _LOCAL
    return parts.scheme == "https" and bool(parts.hostname)
