"""The page at `/chat`: a plain one for trying the WebSocket, as DeepPavlov Agent has it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import NotFound
from prolocutor.web.operations import TypedRequest

_FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    "chat.html": "text/html; charset=utf-8",
    "chat.css": "text/css; charset=utf-8",
    "chat.js": "text/javascript; charset=utf-8",
}
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


class ChatPageFile(msgspec.Struct, frozen=True):
    """The parameters of a request for a file of the page."""

    file: str


async def chat_page(_: TypedRequest[None, None]) -> HttpResponse:
    """Return a plain page that talks over `/chat/ws`."""
    return _file("chat.html")


async def chat_page_file(request: TypedRequest[ChatPageFile, None]) -> HttpResponse:
    """Return a script or a style of the plain chat page."""
    return _file(request.params.file)


def _file(name: str) -> HttpResponse:
    if name not in _TYPES:
        raise NotFound("the page has no file of this name", field="file")
    return HttpResponse((_FOLDER / name).read_bytes(), 200, _TYPES[name], _HEADERS)
