"""Cross-origin requests: the sites whose pages may talk to this assistant in a browser (CORS).

Source: the Fetch standard, section 3.3. Credentials are never allowed: keys and tokens come in
headers, which pages set themselves.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from prolocutor.web.asgi import App, Message, Receive, Scope, Send

_ALLOWED: Final = [
    (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, Idempotency-Key"),
    (b"access-control-max-age", b"600"),
]


class CrossOrigin:
    """An ASGI app to answer preflight requests and name the allowed origin in responses."""

    def __init__(self, app: App, origins: Collection[str]) -> None:
        self._app = app
        self._any = "*" in origins
        self._origins = frozenset(origin.encode("latin-1") for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight request, and hand every other request on."""
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        if origin is None:
            await self._app(scope, receive, send)
            return
        granted = self._grant_headers(origin)
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            start = {"type": "http.response.start", "status": 200 if granted else 400}
            await send({**start, "headers": [*granted, *(_ALLOWED if granted else ())]})
            await send({"type": "http.response.body", "body": b""})
            return

        async def send_granted(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *granted]
            await send(message)

        await self._app(scope, receive, send_granted)

    def _grant_headers(self, origin: bytes) -> list[tuple[bytes, bytes]]:
        if self._any:
            return [(b"access-control-allow-origin", b"*")]
        if origin in self._origins:
            return [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]
        return []


def is_own_page(origin: str | None, host: str | None) -> bool:
    """Return whether `Origin` is missing or names the host of the request."""
    if origin is None:
        return True
    try:
        site = urlsplit(origin).netloc
    except ValueError:  # such as "http://["
        return False
    return bool(site) and site == host
