"""SessionAdmission: who comes in by a session, and what a session alone may not do."""

from __future__ import annotations

from typing import Final, Protocol
from urllib.parse import urlsplit

from prolocutor.contracts.http import Access, Visitor
from prolocutor.errors import Forbidden
from prolocutor.web.authentication import Headers
from prolocutor.web.cors import is_own_page

SESSION_ENDED: Final = 4401
"""The code by which a socket is closed whose session has ended."""


class SessionFinder(Protocol):
    """The sessions of visitors who signed in; their browsers send a cookie."""

    url: str | None
    """Where browsers find this server; None for the address that they asked."""

    async def find(self, header: str | None) -> Visitor | None:
        """Return who sends this header `Cookie`; None without a session that goes on."""

    async def ended(self, visitor: Visitor) -> None:
        """Wait until the session of a visitor has ended."""


class SessionAdmission:
    """Admits the visitor of a session (`listener.Admit`)."""

    def __init__(self, visitor: Visitor, url: str | None, *, writes: bool) -> None:
        self._visitor = visitor
        self._url = url
        self._writes = writes

    def __call__(
        self,
        headers: Headers,
        query: bytes,
        client: str | None,
        access: Access,
        *,
        address: str | None,
    ) -> Visitor:
        """Return the visitor; raise `Forbidden` for what the session does not reach."""
        admit_session(self._visitor, headers, access, url=self._url, writes=self._writes)
        return self._visitor


def admit_session(
    visitor: Visitor, headers: Headers, access: Access, *, url: str | None, writes: bool
) -> None:
    """Raise `Forbidden` for what a visitor's session does not reach.

    Browsers send cookies with every request, also of other pages: what changes something has to
    name our own page as its origin, and nothing may name another one. `origins` of a file do not
    count here. A form of a page without a referrer has the origin `null`; then it is the browser
    that says where it comes from (`Sec-Fetch-Site`, which no page can set).
    """
    origin = headers.get(b"origin")
    if origin in (None, b"null") and headers.get(b"sec-fetch-site") == b"same-origin":
        pass
    elif origin is None:
        if writes:
            raise Forbidden("a request with a session needs the header Origin; or use a token")
    elif not _is_own(origin.decode("latin-1"), headers.get(b"host", b"").decode("latin-1"), url):
        raise Forbidden("a session counts only for pages of this server; or use a token")
    if access == "operators" and visitor.kind != "operator":
        raise Forbidden("only operators may do this")


def _is_own(origin: str, host: str, url: str | None) -> bool:
    try:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https"):
            return False
        if url is not None:
            own = urlsplit(url)
            return (parts.scheme, parts.netloc) == (own.scheme, own.netloc)
    except ValueError:
        return False
    return is_own_page(origin, host)
