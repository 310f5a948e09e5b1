"""UrlProbe: what a server answers at addresses, each asked once, and what came of it in words."""

from __future__ import annotations

from typing import Any, Final

import aiohttp
import msgspec
from yarl import URL

from prolocutor.dialog.plain import JsonObject, decode

MAX_BODY: Final = 2_000_000


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
    """Asks a server; `tried` is what was done, and what came of it."""

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self.http = http
        self.tried: list[str] = []
        self.is_refused = False
        self._seen: dict[URL, ProbeAnswer] = {}

    async def get(self, url: URL) -> ProbeAnswer:
        """Get what is at an address."""
        if url not in self._seen:
            self._seen[url] = await self._answer("GET", url)
        return self._seen[url]

    async def post(self, url: URL, body: JsonObject) -> ProbeAnswer:
        """Post JSON to an address."""
        return await self._answer("POST", url, json=body)

    async def _answer(self, method: str, url: URL, **options: Any) -> ProbeAnswer:
        try:
            async with self.http.request(method, url, **options) as response:
                body = await response.content.read(MAX_BODY)
                while len(body) < MAX_BODY and (more := await response.content.read(MAX_BODY)):
                    body += more
                self.note(url, response.status, method)
                return ProbeAnswer(response.status, body)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            self.tried.append(f"{method} {url}: {str(error) or 'no answer in time'}")
            return ProbeAnswer(0)

    def note(self, url: URL, status: int, method: str = "GET") -> None:
        """Note a status."""
        self.is_refused = self.is_refused or status in (401, 403)
        self.tried.append(f"{method} {url}: status {status}")
