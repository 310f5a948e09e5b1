"""UrlProbe: what a server answers at addresses, each asked once, and what came of it in words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from prolocutor.connectors.parts.http_answer import HttpReply
from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.connectors.parts.url import Url
from prolocutor.dialog.plain import JsonObject, decode, encode
from prolocutor.errors import ServiceError

MAX_BODY: Final = 2_000_000
MAX_REDIRECTS: Final = 5
SECONDS: Final = 5.0


class ProbeAnswer(msgspec.Struct):
    """What came: a status, 0 for no answer, and the body."""

    status: int
    body: bytes = b""

    def json(self) -> Any:
        """Return the body as JSON, None if it is none."""
        try:
            return decode(self.body) if self.status == 200 else None
        except (ValueError, RecursionError):
            return None


class UrlProbe:
    """Asks a server; `tried` is what was done, and what came of it.

    `headers` go to the server of `url` alone, also where it says to ask elsewhere.
    """

    def __init__(self, url: Url, headers: Mapping[str, str]) -> None:
        self.tried: list[str] = []
        self.is_refused = False
        self._headers = {url.origin: headers}
        self._clients: dict[str, HttpClient] = {}
        self._seen: dict[Url, ProbeAnswer] = {}

    async def aclose(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.aclose()

    async def get(self, url: Url) -> ProbeAnswer:
        """Get what is at an address, or where it says that it is."""
        if url not in self._seen:
            self._seen[url] = await self._answer("GET", url, b"")
        return self._seen[url]

    async def post(self, url: Url, body: JsonObject) -> ProbeAnswer:
        """Post JSON to an address."""
        return await self._answer("POST", url, encode(body))

    async def _answer(self, method: str, url: Url, body: bytes) -> ProbeAnswer:
        try:
            async with asyncio.timeout(SECONDS):
                place = url
                reply = await self._reply(method, place, body)
                for _ in range(MAX_REDIRECTS if method == "GET" else 0):
                    if not reply.is_redirect:
                        break
                    place = place.join(reply.headers[b"location"].decode("latin-1"))
                    reply = await self._reply(method, place, body)
        except (ServiceError, TimeoutError, ValueError) as error:
            self.tried.append(f"{method} {url}: {str(error) or 'no answer in time'}")
            return ProbeAnswer(0)
        self.note(url, reply.status, method)
        return ProbeAnswer(reply.status, reply.body)

    async def _reply(self, method: str, url: Url, body: bytes) -> HttpReply:
        if url.origin not in self._clients:
            headers = self._headers.get(url.origin, {})
            self._clients[url.origin] = HttpClient(url.origin, headers=headers)
        sent = {"Content-Type": "application/json"} if body else {}
        return await self._clients[url.origin].exchange(
            body, sent, max_bytes=MAX_BODY, method=method, target=url.target
        )

    def note(self, url: Url, status: int, method: str = "GET") -> None:
        """Note a status."""
        self.is_refused = self.is_refused or status in (401, 403)
        self.tried.append(f"{method} {url}: status {status}")
