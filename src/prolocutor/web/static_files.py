"""The files of a page, read once; their headers forbid other scripts."""

from __future__ import annotations

import gzip
import hashlib
import html
import re
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import NotFound
from prolocutor.web.operations import Operation, TypedRequest

SHARED: Final = Path(__file__).parent / "shared_files"
"""Files that all pages share: colours, elements, escaping of text, borrowed libraries."""

INDEX: Final = "index.html"

TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
}

SAFE: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "geolocation=(self), camera=(), microphone=()",
    "Cache-Control": "no-cache",
}

HEARING: Final = "geolocation=(self), camera=(), microphone=(self)"
"""The permissions of a page into which words may be spoken."""

_GZIP: Final = re.compile(r"(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?(?:\s|,|$))", re.IGNORECASE)
"""The `Accept-Encoding` of browsers that take gzip; `gzip;q=0` refuses it."""


def content_policy(*, pictures: str = "'self'") -> str:
    """Return a content security policy: own files, and pictures and sound from `pictures`."""
    sources = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": pictures,
        "media-src": pictures,
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return "; ".join(f"{what} {where}" for what, where in sources.items())


POLICY: Final = content_policy(pictures="'self' http: https:")
"""The policy of a page that shows pictures from anywhere."""

OWN_POLICY: Final = content_policy()
"""The policy of a page that asks nobody else for anything."""


class CachedCopy(msgspec.Struct, frozen=True, kw_only=True):
    """The headers of a browser about its cached copy and its known encodings."""

    etag: Annotated[str | None, Meta(extra={"in": "header"})] = msgspec.field(
        default=None, name="If-None-Match"
    )
    encodings: Annotated[str, Meta(extra={"in": "header"})] = msgspec.field(
        default="", name="Accept-Encoding"
    )


class FilePath(CachedCopy, frozen=True, kw_only=True):
    """The parameters of a request for a file of the page."""

    file: str


class _File(msgspec.Struct):
    body: bytes
    content_type: str
    etag: str
    packed: bytes | None = None
    """The body as gzip, once a browser took it so."""


class StaticFiles:
    """The files of a folder and the shared files of all pages, by name.

    `{{name}}` in a page becomes the assistant's name. `speaks`: a page may use the microphone.
    """

    def __init__(
        self, folder: Path, name: str, policy: str = POLICY, *, speaks: bool = False
    ) -> None:
        self._headers = {"Content-Security-Policy": policy, **SAFE}
        if speaks:
            self._headers["Permissions-Policy"] = HEARING
        self._files = {
            path.relative_to(root).as_posix(): _read(path)
            for root in (SHARED, folder)
            for path in root.rglob("*")
            if path.suffix in TYPES
        }
        for page, file in self._files.items():
            if page.endswith(".html"):
                named = file.body.replace(b"{{name}}", html.escape(name).encode())
                self._files[page] = _file(named, TYPES[".html"])

    def routes(self, page: str, file: str) -> list[Route]:
        """Return the routes, for all, of the page and of its files, at a path with `{file}`."""
        cached = {304: "The browser has it already."}
        page_operation = Operation(self.page, produces="text/html", statuses=cached)
        operation = Operation(self.page_file, produces="*/*", statuses=cached, errors=[NotFound])
        return [Route("GET", page, page_operation, "all"), Route("GET", file, operation, "all")]

    async def page(self, request: TypedRequest[CachedCopy, None]) -> HttpResponse:
        """Return the page."""
        return self.find(INDEX, request.params)

    async def page_file(self, request: TypedRequest[FilePath, None]) -> HttpResponse:
        """Return a file of the page."""
        return self.find(request.params.file, request.params)

    def find(self, name: str, cached: CachedCopy) -> HttpResponse:
        """Return the response with a file, 304 if the browser has it already; raise `NotFound`."""
        file = self._files.get(name)
        if file is None:
            raise NotFound("the page has no file of this name")
        packs = _GZIP.search(cached.encodings) is not None
        etag = f'{file.etag[:-1]}-gzip"' if packs else file.etag
        headers = {**self._headers, "ETag": etag, "Vary": "Accept-Encoding"}
        if cached.etag == etag:
            return HttpResponse(status=304, content_type=file.content_type, headers=headers)
        if not packs:
            return HttpResponse(file.body, content_type=file.content_type, headers=headers)
        if file.packed is None:
            file.packed = gzip.compress(file.body, mtime=0)
        headers["Content-Encoding"] = "gzip"
        return HttpResponse(file.packed, content_type=file.content_type, headers=headers)


def _read(path: Path) -> _File:
    return _file(path.read_bytes(), TYPES[path.suffix])


def _file(body: bytes, content_type: str) -> _File:
    digest = hashlib.blake2b(body, digest_size=12).hexdigest()
    return _File(body, content_type, f'"{digest}"')
