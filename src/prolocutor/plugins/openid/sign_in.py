"""SignIn: the routes by which people sign in and out, under `/auth`."""

from __future__ import annotations

import asyncio
import html
import logging
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.background import BackgroundTasks
from prolocutor.clocks import DAY
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse, Visitor
from prolocutor.contracts.shared_store import store_clock
from prolocutor.errors import (
    BadInput,
    Forbidden,
    Overloaded,
    ProlocutorError,
    ProviderAway,
    SignInFailed,
    StoreError,
)
from prolocutor.plugins.openid.login_attempt import (
    MAX_ATTEMPTS,
    LoginAttempt,
    find_attempt,
    forget_attempts,
)
from prolocutor.plugins.openid.openid_settings import OpenIdSettings
from prolocutor.plugins.openid.provider import IdentityProvider
from prolocutor.plugins.openid.roles import find_role, person_id
from prolocutor.plugins.openid.sessions import COOKIE, Sessions, write_cookie
from prolocutor.web.authentication import admit_session
from prolocutor.web.door_context import DoorContext
from prolocutor.web.error_table import error_response
from prolocutor.web.operations import Operation, TypedRequest

log = logging.getLogger(__name__)
audit = logging.getLogger("prolocutor.audit")

LOGIN: Final = "/auth/login"
CALLBACK: Final = "/auth/callback"
LOGOUT: Final = "/auth/logout"
BACK_CHANNEL: Final = "/auth/backchannel-logout"

MAX_AT_ONCE: Final = 32
"""Sign-ins that are finished at once."""

SWEEP: Final = DAY
FORM: Final = "application/x-www-form-urlencoded"
_PRIVATE: Final = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
_POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_FAILURE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not signed in</title>
<h1>You are not signed in</h1>
<p>{error}</p>
<p><a href="{again}">Try again</a></p>
</html>
"""

_Header: TypeAlias = Annotated[str | None, Meta(extra={"in": "header"})]
_Text: TypeAlias = Annotated[str, Meta(max_length=4_096)]


class BrowserHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """The headers of a browser's request."""

    accept: _Header = msgspec.field(default=None, name="Accept")
    cookie: _Header = msgspec.field(default=None, name="Cookie")
    host: _Header = msgspec.field(default=None, name="Host")
    origin: _Header = msgspec.field(default=None, name="Origin")
    scheme: _Header = msgspec.field(default=None, name="X-Forwarded-Proto")


class LoginParams(BrowserHeaders, frozen=True, kw_only=True):
    """The parameters of a request to sign in."""

    next: Annotated[_Text, Meta(description="The path to go to afterwards.")] = "/"


class CallbackParams(BrowserHeaders, frozen=True, kw_only=True):
    """The parameters with which the identity provider sends the browser back."""

    state: _Text = ""
    code: _Text = ""
    error: _Text = ""
    iss: _Text | None = None


class SignedOut(msgspec.Struct, frozen=True):
    """The provider's sign-out address for the browser; null if the provider has none."""

    url: str | None


class SignIn:
    """The channel by which people sign in with an identity provider, and its sessions."""

    name: Final = "openid"
    prefix: Final = "openid:"

    def __init__(
        self, assistant: Assistant, settings: OpenIdSettings, prefixes: tuple[str, ...] = ("",)
    ) -> None:
        self.url = settings.url
        self._settings = settings
        self._clock = store_clock(assistant.store)
        self._provider = IdentityProvider(settings, self._clock)
        self.sessions = Sessions(assistant.store, self._provider, prefixes, self._clock)
        self._finishing = 0
        self._sweeping = BackgroundTasks("sessions")
        moved = {303: "To the identity provider, or back."}
        errors = (SignInFailed, ProviderAway, Overloaded)
        page: dict[str, Any] = {"statuses": moved, "produces": "text/html", "errors": errors}
        back = Operation(
            self.sign_out_from_provider, consumes=(FORM,), errors=[SignInFailed, ProviderAway]
        )
        self.routes = [
            Route("GET", LOGIN, Operation(self.begin_sign_in, **page), "all"),
            Route("GET", CALLBACK, Operation(self.finish_sign_in, **page), "all"),
            Route("POST", LOGOUT, Operation(self.sign_out, returns=SignedOut), "all"),
            Route("POST", BACK_CHANNEL, back, "all"),
        ]

    async def open(self) -> None:
        """Delete ended sessions, now and once a day."""
        self._sweeping.start(self._sweep_daily())

    async def close(self) -> None:
        """Close the connections to the provider; sessions stay."""
        await self._sweeping.aclose()
        await self.sessions.aclose()
        await self._provider.aclose()

    async def find(self, header: str | None) -> Visitor | None:
        """Return the visitor of a header `Cookie`; None without a valid session."""
        return await self.sessions.find(header)

    async def wait_for_end(self, visitor: Visitor) -> None:
        """Wait until the session of a visitor has ended."""
        await self.sessions.wait_for_end(visitor)

    # -- routes -----------------------------------------------------------------------------

    async def begin_sign_in(self, request: TypedRequest[LoginParams, None]) -> HttpResponse:
        """Send the browser to the identity provider."""
        params = request.params
        try:
            document = await self._provider.document()
        except ProlocutorError as error:
            return _error_page(error, params, params.next)
        attempt = LoginAttempt.begin(params.next, self._clock())
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._base(params) + CALLBACK,
            "scope": " ".join(dict.fromkeys(("openid", *self._settings.scopes))),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        joint = "&" if urlsplit(document.authorization_endpoint).query else "?"
        secure = self._secure(params)
        cookies = (
            *forget_attempts(params.cookie, MAX_ATTEMPTS - 1, secure=secure),
            attempt.cookie(secure=secure),
        )
        return _redirect(document.authorization_endpoint + joint + urlencode(asked), cookies)

    async def finish_sign_in(self, request: TypedRequest[CallbackParams, None]) -> HttpResponse:
        """Create a session from the provider's answer; send the browser back to its path."""
        params = request.params
        secure = self._secure(params)
        attempt = None
        if params.state:
            attempt = find_attempt(params.cookie, params.state, self._clock(), secure=secure)
        try:
            value = await self._finish(params, attempt)
        except ProlocutorError as error:
            log.info("a person could not sign in: %s", error)
            return _error_page(error, params, attempt.next if attempt else "/")
        assert attempt is not None
        cookie = write_cookie(COOKIE, value, int(self._settings.session), secure=secure)
        forgotten = forget_attempts(params.cookie, 0, secure=secure)
        return _redirect(attempt.next, (*forgotten, cookie))

    async def sign_out(self, request: TypedRequest[BrowserHeaders, None]) -> HttpResponse:
        """End the session of a browser."""
        params = request.params
        headers = {b"host": (params.host or "").encode("latin-1", "replace")}
        if params.origin is not None:
            headers[b"origin"] = params.origin.encode("latin-1", "replace")
        visitor = await self.sessions.find(params.cookie)
        url = None
        if visitor is not None:
            admit_session(visitor, headers, "known", url=self.url, writes=True)
            tokens = await self.sessions.sign_out(params.cookie)
            audit.info("%s (%s) signed out", visitor.name, visitor.user)
            url = await self._provider_sign_out_url(params, tokens.id_token if tokens else None)
        body = msgspec.json.encode(SignedOut(url))
        gone = write_cookie(COOKIE, "", 0, secure=self._secure(params))
        return HttpResponse(body, headers=_PRIVATE, cookies=(gone,))

    async def sign_out_from_provider(self, request: TypedRequest[None, bytes]) -> HttpResponse:
        """End the sessions of a person who signed out at the provider (back-channel logout)."""
        given = dict(parse_qsl(request.body.decode("latin-1"), max_num_fields=20))
        if "logout_token" not in given:
            raise BadInput("logout_token is needed", field="logout_token")
        claims = await self._provider.logged_out(given["logout_token"])
        person = person_id(self._settings.issuer, claims["sub"])
        sid = claims.get("sid")
        ended = await self.sessions.end_all(person, sid if isinstance(sid, str) else None)
        audit.info("%s signed out at the identity provider: %d sessions", person, ended)
        return HttpResponse(headers=_PRIVATE)

    # -- parts ------------------------------------------------------------------------------

    async def _finish(self, params: CallbackParams, attempt: LoginAttempt | None) -> str:
        """Return the value of the cookie of a new session."""
        if attempt is None:
            raise SignInFailed("this sign-in was not begun in this browser, or too long ago")
        document = await self._provider.document()
        if params.iss is None and document.authorization_response_iss_parameter_supported:
            raise SignInFailed("the answer does not say which identity provider it is from")
        if params.iss not in (None, self._settings.issuer):
            raise SignInFailed("the answer is from another identity provider")
        if params.error or not params.code:
            why = params.error if params.error.isascii() and params.error.isprintable() else ""
            raise SignInFailed(f"the identity provider let nobody in: {why[:100] or 'no code'}")
        if self._finishing >= MAX_AT_ONCE:
            raise Overloaded("too many people sign in at this moment; try again")
        self._finishing += 1
        try:
            redirect = self._base(params) + CALLBACK
            grant = await self._provider.redeem(
                params.code, attempt.verifier, redirect, attempt.nonce
            )
        finally:
            self._finishing -= 1
        who = find_role(grant.claims, self._settings)
        if who is None:
            audit.info("%s may not come in", person_id(self._settings.issuer, grant.claims["sub"]))
            raise Forbidden("you are signed in there, but nothing lets you in here")
        value = await self.sessions.create(who, grant)
        kind = "a person" if who.scopes is None else f"an operator ({', '.join(who.scopes)})"
        audit.info("%s (%s) signed in as %s", who.name, who.person, kind)
        return value

    async def _provider_sign_out_url(
        self, params: BrowserHeaders, id_token: str | None
    ) -> str | None:
        """Return the provider's sign-out address (RP-Initiated Logout 1.0), None without it."""
        try:
            endpoint = (await self._provider.document()).end_session_endpoint
        except ProviderAway:
            return None
        if endpoint is None:
            return None
        query = {"client_id": self._settings.client_id}
        query["post_logout_redirect_uri"] = self._base(params) + "/"
        if id_token is not None:
            query["id_token_hint"] = id_token
        return endpoint + ("&" if urlsplit(endpoint).query else "?") + urlencode(query)

    def _base(self, params: BrowserHeaders) -> str:
        if self.url is not None:
            return self.url.rstrip("/")
        scheme = "https" if params.scheme == "https" else "http"
        return f"{scheme}://{params.host or 'localhost'}"

    def _secure(self, params: BrowserHeaders) -> bool:
        return self._base(params).startswith("https:")

    async def _sweep_daily(self) -> None:
        while True:
            try:
                await self.sessions.days.sweep()
            except StoreError as error:
                log.warning("ended sessions cannot be deleted; next try tomorrow: %s", error)
            await asyncio.sleep(SWEEP)


def _redirect(to: str, cookies: tuple[str, ...]) -> HttpResponse:
    return HttpResponse(
        status=HTTPStatus.SEE_OTHER, headers={**_PRIVATE, "Location": to}, cookies=cookies
    )


def _error_page(error: ProlocutorError, params: BrowserHeaders, next_: str) -> HttpResponse:
    """Return an error as a page with a link to try again for browsers, as JSON for others."""
    response = error_response(error)
    if "text/html" not in (params.accept or ""):
        return response.response()
    headers = {**response.headers, **_PRIVATE, "Content-Security-Policy": _POLICY}
    again = f"{LOGIN}?{urlencode({'next': next_})}"
    page = _FAILURE.format(error=html.escape(response.error), again=html.escape(again, quote=True))
    return HttpResponse(page.encode(), response.status, "text/html; charset=utf-8", headers)


class OpenId(OpenIdSettings, frozen=True, kw_only=True):
    """Sign in with an identity provider (OpenID Connect)."""

    def build(self, context: DoorContext) -> SignIn:
        """Return the sign-in channel."""
        return SignIn(context.assistant, self, context.prefixes)
