"""SignInPages: the pages on the way to a sign-in at an MCP server, and back."""

from __future__ import annotations

import hmac
import secrets
from html import escape
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import msgspec

from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.dialog.plain import encode
from prolocutor.errors import BadInput, Forbidden, NotFound, ProlocutorError, ServiceError
from prolocutor.plugins.mcp.oauth.tokens import (
    DOCUMENT,
    NAME,
    SIGNED_IN,
    authorization_address,
    check_issuer,
    client_document,
    find_client,
    redeem,
)
from prolocutor.plugins.mcp.oauth.vault import SIGN_IN_SECONDS, BegunSignIn, Vault, digest
from prolocutor.plugins.mcp.oauth.web import OAuthWeb
from prolocutor.web.door_context import may_see
from prolocutor.web.error_table import error_response

SIGN_IN: Final = "/mcp/sign-in/{ticket}"
COOKIE: Final = "prolocutor_mcp"
MAX_COOKIE_CHARACTERS: Final = 16_384

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
_PAGE: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme"'
    ' content="light dark"><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p>'
    "</body></html>"
)

_HTML: Final = "text/html; charset=utf-8"


class SignInPages:
    """The pages by which people let the assistant use an MCP server for them.

    The browser that opens a link keeps a secret; only that browser can finish the sign-in.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self.routes = [
            Route("GET", SIGN_IN, self.begin, access="all"),
            Route("GET", SIGNED_IN, self.end, access="all"),
            Route("GET", DOCUMENT, self.document, access="all"),
        ]

    async def begin(self, request: HttpRequest) -> HttpResponse:
        """Send a browser on to the authorization server."""
        try:
            return await self._begin(request)
        except (ProlocutorError, ServiceError) as error:
            return _failure_page(error)

    async def end(self, request: HttpRequest) -> HttpResponse:
        """Handle the return of a browser from the authorization server."""
        try:
            return await self._end(request)
        except (ProlocutorError, ServiceError) as error:
            return _failure_page(error)

    async def document(self, request: HttpRequest) -> HttpResponse:
        """Return the client metadata document, at the address that is our client id."""
        base = _base(request)
        document = client_document(base + SIGNED_IN, base + DOCUMENT)
        return HttpResponse(encode(document), headers={"Cache-Control": "max-age=3600"})

    async def _begin(self, request: HttpRequest) -> HttpResponse:
        sign_in = await self._vault.find(request.params["ticket"])
        if sign_in is None or sign_in.client is not None:
            raise NotFound("this link has ended; ask the assistant for another one")
        visitor = request.visitor
        if visitor.kind == "person" and not may_see(visitor, sign_in.user):
            raise Forbidden("this link is another person's")
        base = sign_in.settings.address.rstrip("/") or _base(request)
        redirect = base + SIGNED_IN
        server = sign_in.protection.server
        client = await find_client(server, sign_in.settings, redirect, _web(sign_in))
        browser, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        state = await self._vault.begin(
            msgspec.structs.replace(
                sign_in,
                client=client,
                redirect=redirect,
                verifier=verifier,
                browser=digest(browser),
            )
        )
        where = authorization_address(sign_in.protection, client, redirect, state, verifier)
        cookie = _cookie(browser, int(SIGN_IN_SECONDS), secure=base.startswith("https:"))
        headers = {**_HEADERS, "Location": where}
        return HttpResponse(b"", HTTPStatus.SEE_OTHER, _HTML, headers, cookies=(cookie,))

    async def _end(self, request: HttpRequest) -> HttpResponse:
        state, code = request.query("state") or "", request.query("code")
        known = await self._vault.find(state)
        if known is None or known.client is None:
            raise NotFound("this sign-in is over; ask the assistant for another link")
        secure = known.redirect.startswith("https:")
        kept = digest(_browser_secret(request, secure=secure))
        if not hmac.compare_digest(kept, known.browser):
            raise Forbidden("another browser began this sign-in; open the link here")
        sign_in = await self._vault.take(state)
        if sign_in is None or sign_in.client is None:
            raise NotFound("this sign-in is over; ask the assistant for another link")
        check_issuer(sign_in.protection.server, request.query("iss"))
        if code is None:
            said = request.query("error_description") or request.query("error") or "no code"
            raise BadInput(f"the authorization server says: {said[:200]}")
        token = await redeem(
            sign_in.protection,
            sign_in.client,
            sign_in.redirect,
            code,
            sign_in.verifier,
            _web(sign_in),
        )
        await self._vault.keep(sign_in.user, sign_in.url, token)
        host = urlsplit(sign_in.url).hostname
        text = f"{NAME} may use {host} for you now. Go back to the conversation and say yes."
        forget = _cookie("", 0, secure=secure)
        return _page("You are signed in", text, 200, (forget,))


def _web(sign_in: BegunSignIn) -> OAuthWeb:
    return OAuthWeb(None if sign_in.within is None else frozenset(sign_in.within))


def _base(request: HttpRequest) -> str:
    """Return the base URL by which a browser reaches the server, without a final slash."""
    is_tls = request.header("x-forwarded-proto") == "https"
    host = request.header("host") or "localhost"
    return f"{'https' if is_tls else 'http'}://{host}{request.root}"


def _cookie(value: str, seconds: int, *, secure: bool) -> str:
    tls = "; Secure" if secure else ""
    name = _cookie_name(secure=secure)
    return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{tls}"


def _cookie_name(*, secure: bool) -> str:
    """Return the name of the cookie; with TLS no other host can set a cookie of this name."""
    return f"__Host-{COOKIE}" if secure else COOKIE


def _browser_secret(request: HttpRequest, *, secure: bool) -> str:
    """Return the secret in a browser's cookie, or ""."""
    wanted = _cookie_name(secure=secure)
    header = (request.header("cookie") or "")[:MAX_COOKIE_CHARACTERS]
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return next((value for name, _, value in pairs if name == wanted), "")


def _failure_page(error: Exception) -> HttpResponse:
    if isinstance(error, ServiceError):
        return _page("You are not signed in", str(error), HTTPStatus.BAD_GATEWAY)
    refused = error_response(error)
    return _page("You are not signed in", refused.error, refused.status)


def _page(title: str, text: str, status: int, cookies: tuple[str, ...] = ()) -> HttpResponse:
    body = _PAGE.format(title=escape(title), text=escape(text)).encode("utf-8", "replace")
    return HttpResponse(body, status, _HTML, _HEADERS, cookies=cookies)
