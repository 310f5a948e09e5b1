"""The icons of services, at `/icons/<name>`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.assistant.services import ServiceStatus
from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import NotFound
from prolocutor.web.operations import TypedRequest

MAX_BYTES: Final = 1_000_000

_ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)
_TYPES: Final = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
}
_HEADERS: Final = {
    "Cache-Control": "max-age=3600",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
}


class IconName(msgspec.Struct, frozen=True):
    """The parameters of a request for an icon."""

    name: str


class Icons:
    """The icons of services: a file each, or an address elsewhere."""

    def __init__(self, services: Iterable[ServiceStatus]) -> None:
        self._icons = {service.name: service.icon for service in services if service.icon}

    async def show_icon(self, request: TypedRequest[IconName, None]) -> HttpResponse:
        """Return the picture of a service."""
        name = request.params.name
        icon = self._icons.get(name)
        if icon is None:
            raise NotFound(f"there is no icon of {name!r:.80}", field="name")
        if _ADDRESS.match(icon):
            return HttpResponse(status=302, headers={"Location": icon})
        file = Path(icon)
        kind = _TYPES.get(file.suffix.lower())
        if kind is None:
            raise NotFound(f"the icon of {name!r:.80} is no picture", field="name")
        return HttpResponse(await asyncio.to_thread(_read, file, name), 200, kind, _HEADERS)


def _read(file: Path, name: str) -> bytes:
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError:
        raise NotFound(f"the icon of {name!r:.80} cannot be read", field="name") from None
    if len(content) > MAX_BYTES:
        raise NotFound(f"the icon of {name!r:.80} is larger than {MAX_BYTES:,} bytes", field="name")
    return content
