"""OAuth 2.0 for applications that speak for a person: authorization codes, with PKCE (RFC 7636)."""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import msgspec
from msgspec import Meta

from prolocutor.clocks import DAY
from prolocutor.contracts.http import HttpResponse, Visitor
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog import plain
from prolocutor.errors import BadInput, Forbidden
from prolocutor.plugins.almond.door.applications import Application, GrantedCodes
from prolocutor.plugins.almond.door.pages import button, page, paragraph, read_field
from prolocutor.web.door_context import LOCAL
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.operations import TypedRequest

SCOPES: Final = "profile converse"
"""The scope of every token; narrower scopes are not supported."""

MOST_TOKENS: Final = 10
"""The number of tokens of one person for one application; a further token ends the oldest."""

_CHALLENGE: Final = re.compile(r"[\w-]{43}", re.ASCII)
_MOST_FIELDS: Final = 20

Parameter = Annotated[str | None, Meta(description="As RFC 6749 and RFC 7636 have it.")]

_UNCACHED: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class AuthorizationQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters with which an application sends a person."""

    client_id: Parameter = None
    redirect_uri: Parameter = None
    response_type: Parameter = None
    scope: Parameter = None
    state: Parameter = None
    code_challenge: Parameter = None
    code_challenge_method: Parameter = None


class TokenHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """The header by which an application may send its id and secret."""

    authorization: Annotated[str | None, Meta(extra={"in": "header"})] = msgspec.field(
        default=None, name="Authorization"
    )


class IssuedToken(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token for an application; `expires_in` seconds, if it ends."""

    access_token: str
    token_type: str
    scope: str
    expires_in: int | None = None


class TokenRefused(msgspec.Struct, frozen=True):
    """Why there is no token, in the words of RFC 6749."""

    error: str
    error_description: str


class OAuthEndpoints:
    """The page on which a person agrees, and the exchange of its code for a token."""

    def __init__(
        self, applications: Mapping[str, Application], records: RecordStore, ring: KeyRing
    ) -> None:
        self._applications = applications
        self._codes = GrantedCodes(records)
        self._ring = ring

    async def authorize_page(self, request: TypedRequest[AuthorizationQuery, None]) -> HttpResponse:
        """Ask a person whether an application may speak for them."""
        params = request.params
        application, redirect = self._find_application(params)
        self._refuse_application(request.visitor)
        if (wrong := _request_error(params, application)) is not None:
            return _sent_back(redirect, {**wrong, "state": params.state})
        name = application.name or params.client_id or ""
        return page(
            f"May {name} speak for you?",
            paragraph(
                f"{name} will talk to this assistant as {_find_user(request.visitor)}, see what was"
                " said, and run programs for you, until you have its token revoked."
            ),
            button("answer", "yes", "Allow it"),
            button("answer", "no", "Do not"),
            leads_to=_policy_source(redirect),
        )

    async def authorize(self, request: TypedRequest[AuthorizationQuery, bytes]) -> HttpResponse:
        """Send a person back to an application, with a code if they agree."""
        params = request.params
        application, redirect = self._find_application(params)
        self._refuse_application(request.visitor)
        wrong = _request_error(params, application)
        if wrong is None and read_field(request.body, "answer") != "yes":
            wrong = {"error": "access_denied", "error_description": "the person did not agree"}
        if wrong is not None:
            return _sent_back(redirect, {**wrong, "state": params.state})
        user = _find_user(request.visitor)
        code = await self._codes.grant(
            params.client_id or "", redirect, user, params.code_challenge
        )
        return _sent_back(redirect, {"code": code, "state": params.state})

    async def token(self, request: TypedRequest[TokenHeaders, bytes]) -> HttpResponse:
        """Exchange a code for a token."""
        try:
            fields = dict(parse_qsl(request.body.decode(), max_num_fields=_MOST_FIELDS))
        except ValueError:
            return _refuse("invalid_request", "this is not a filled-in form")
        client, secret = _credentials(request.params.authorization, fields)
        application = self._applications.get(client)
        if application is None or not _knows(secret, application):
            return _refuse("invalid_client", "the application is not known", status=401)
        if fields.get("grant_type") != "authorization_code":
            return _refuse("unsupported_grant_type", "grant_type has to be authorization_code")
        granted = await self._codes.take(fields.get("code", ""))
        if granted is None or granted.application != client:
            return _refuse("invalid_grant", "the code is not known, was used or has ended")
        if granted.redirect != fields.get("redirect_uri", granted.redirect):
            return _refuse("invalid_grant", "redirect_uri is not that of the code")
        if not granted.proves(fields.get("code_verifier")):
            return _refuse("invalid_grant", "code_verifier does not fit the challenge")
        issued = await self._issue_token(client, application, granted.user)
        return HttpResponse(plain.encode(issued), 200, headers=_UNCACHED)

    def _refuse_application(self, visitor: Visitor) -> None:
        """Refuse a visitor with the token of an application, which could renew it without end."""
        token = self._ring.keys.get(visitor.key)
        if token is not None and token.user is not None and token.name in self._applications:
            raise Forbidden("an application cannot agree for a person")

    async def _issue_token(self, client: str, application: Application, user: str) -> IssuedToken:
        own = [key for key in await self._ring.list() if (key.user, key.name) == (user, client)]
        for key in own[: max(0, len(own) - MOST_TOKENS + 1)]:
            await self._ring.revoke(key.id)
        seconds = None if application.days is None else application.days * DAY
        secret, _ = await self._ring.create(client, (), seconds, user)
        return IssuedToken(secret, "Bearer", SCOPES, None if seconds is None else int(seconds))

    def _find_application(self, params: AuthorizationQuery) -> tuple[Application, str]:
        """Return the application and the redirect address; raise `BadInput` if either cannot be
        trusted.
        """
        application = self._applications.get(params.client_id or "")
        if application is None:
            raise BadInput("this application is not known here", field="client_id")
        redirect = params.redirect_uri
        if redirect is None and len(application.redirects) == 1:
            redirect = application.redirects[0]
        if redirect is None or not application.takes(redirect):
            raise BadInput("this address is none of the application's", field="redirect_uri")
        return application, redirect


def _request_error(params: AuthorizationQuery, application: Application) -> dict[str, str] | None:
    """Return the error of an invalid authorization request; None if it is valid."""
    if params.response_type != "code":
        what = "response_type has to be code"
        return {"error": "unsupported_response_type", "error_description": what}
    if params.code_challenge is None:
        if application.secret is not None:
            return None
        what = "an application without a secret needs a code_challenge"
    elif params.code_challenge_method != "S256":
        what = "code_challenge_method has to be S256"
    elif not _CHALLENGE.fullmatch(params.code_challenge):
        what = "code_challenge is a SHA-256 digest in base64url"
    else:
        return None
    return {"error": "invalid_request", "error_description": what}


def _find_user(visitor: Visitor) -> str:
    if visitor.kind == "anonymous":
        raise BadInput("this needs a token or an account: who are you?")
    return visitor.user or LOCAL


def _sent_back(redirect: str, answer: Mapping[str, str | None]) -> HttpResponse:
    said = urlencode({name: value for name, value in answer.items() if value is not None})
    where = f"{redirect}{'&' if urlsplit(redirect).query else '?'}{said}"
    headers = {"Location": where, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return HttpResponse(b"", 303, "text/html; charset=utf-8", headers)


def _policy_source(redirect: str) -> str:
    """Return the content policy's source for an address."""
    parts = urlsplit(redirect)
    if parts.scheme in ("http", "https"):
        return f"{parts.scheme}://{parts.netloc}"
    return f"{parts.scheme}:"


def _credentials(authorization: str | None, fields: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the id and the secret that an application sends, in the header or in the form."""
    scheme, _, given = (authorization or "").partition(" ")
    if scheme.lower() == "basic":
        try:
            name, _, secret = base64.b64decode(given, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeError):
            return "", None
        return unquote_plus(name), unquote_plus(secret)
    return fields.get("client_id", ""), fields.get("client_secret")


def _knows(secret: str | None, application: Application) -> bool:
    if application.secret is None:
        return True
    return hmac.compare_digest(
        application.secret.encode(), (secret or "").encode("utf-8", "replace")
    )


def _refuse(error: str, what: str, *, status: int = 400) -> HttpResponse:
    return HttpResponse(plain.encode(TokenRefused(error, what)), status, headers=_UNCACHED)
