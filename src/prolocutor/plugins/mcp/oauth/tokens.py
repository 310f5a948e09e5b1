"""Tokens: gets them from authorization servers for a code, a refresh token, or our own secret.

Sources: OAuth 2.1; RFC 7523 (assertions), RFC 7591 (registration), RFC 8707 (resources), RFC 9207
(the issuer in answers).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from typing import Any, Final
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec

from prolocutor.errors import BadReply, ConfigError, ServiceError
from prolocutor.plugins.mcp.oauth.discovery import AuthorizationServer, Protection
from prolocutor.plugins.mcp.oauth.settings import OAuthSettings
from prolocutor.plugins.mcp.oauth.web import OAuthWeb

ASSERTION: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
NAME: Final = "Prolocutor"
DOCUMENT: Final = "/mcp/client.json"
SIGNED_IN: Final = "/mcp/signed-in"
EARLY_SECONDS: Final = 30.0
"""Seconds before its end at which a token is renewed."""

_ASSERTION_SECONDS: Final = 300
"""Seconds for which a signed assertion is valid."""

_METHODS: Final = ("client_secret_basic", "client_secret_post", "none")

_KEY_TYPES: Final[dict[str, Any]] = {"ES": "EC", "RS": "RSA", "PS": "RSA", "Ed": "OKP"}


class Client(msgspec.Struct, frozen=True, omit_defaults=True):
    """Our identity at an authorization server; `method` is the way to prove it."""

    id: str
    secret: str | None = None
    method: str = "none"


class ServerToken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token for an MCP server, and its refresh token. `expires` is in UNIX seconds."""

    access: str
    refresh: str | None = None
    expires: float | None = None
    scope: str | None = None
    protection: Protection
    client: Client

    def is_old(self, now: float) -> bool:
        """Return whether the token has expired or is about to."""
        return self.expires is not None and now > self.expires - EARLY_SECONDS


class _TokenAnswer(msgspec.Struct, frozen=True):
    access_token: str
    token_type: str = "Bearer"
    refresh_token: str | None = None
    expires_in: float | None = None
    scope: str | None = None


class _Registered(msgspec.Struct, frozen=True):
    client_id: str
    client_secret: str | None = None
    token_endpoint_auth_method: str | None = None


async def find_client(
    server: AuthorizationServer, settings: OAuthSettings, redirect: str, web: OAuthWeb
) -> Client:
    """Return our identity at a server: configured, a metadata document, or newly registered."""
    client_id = settings.client_id
    is_document = client_id is not None and client_id.startswith("https://")
    knows_documents = server.client_id_metadata_document_supported
    if client_id is not None and not is_document and settings.issuer in (None, server.issuer):
        return Client(client_id, settings.client_secret, _method(server, settings))
    if client_id is not None and is_document and knows_documents:
        return Client(client_id)
    if knows_documents and redirect.startswith("https://"):
        return Client(redirect.removesuffix(SIGNED_IN) + DOCUMENT)
    if server.registration_endpoint is None:
        raise ServiceError(f"{server.issuer} registers nobody: it needs oauth: {{client_id: ...}}")
    return await _register(server, redirect, web)


def client_document(redirect: str, id_: str | None = None) -> dict[str, Any]:
    """Return our client metadata; with an id, the document at that address."""
    document: dict[str, Any] = {
        "client_name": NAME,
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    return document if id_ is None else {"client_id": id_, **document}


def authorization_address(
    protection: Protection, client: Client, redirect: str, state: str, verifier: str
) -> str:
    """Return the address to sign in at; raise `BadReply` for a server without PKCE by SHA-256."""
    server = protection.server
    if "S256" not in server.code_challenge_methods_supported:
        raise BadReply(f"{server.issuer} does not say that it knows PKCE (S256)")
    digest = hashlib.sha256(verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": redirect,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        "resource": protection.resource,
    }
    if protection.scope:
        query["scope"] = protection.scope
    endpoint = server.authorization_endpoint
    return endpoint + ("&" if urlsplit(endpoint).query else "?") + urlencode(query)


def check_issuer(server: AuthorizationServer, given: str | None) -> None:
    """Raise `BadReply` for an answer that may come from another server (RFC 9207)."""
    wanted = server.authorization_response_iss_parameter_supported
    if given != server.issuer and (given is not None or wanted):
        raise BadReply(f"the answer is not that of {server.issuer}")


async def redeem(
    protection: Protection, client: Client, redirect: str, code: str, verifier: str, web: OAuthWeb
) -> ServerToken:
    """Return the token for the code of a finished sign-in."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect,
        "code_verifier": verifier,
    }
    return await _request_token(protection, client, form, web)


async def renew(token: ServerToken, web: OAuthWeb) -> ServerToken:
    """Return a token in place of an expired one; raise `GrantDenied` if the server refuses."""
    form = {"grant_type": "refresh_token", "refresh_token": token.refresh or ""}
    made = await _request_token(token.protection, token.client, form, web)
    return made if made.refresh else msgspec.structs.replace(made, refresh=token.refresh)


async def own_token(protection: Protection, settings: OAuthSettings, web: OAuthWeb) -> ServerToken:
    """Return a token for the assistant itself."""
    form: dict[str, str] = {"grant_type": settings.grant}
    if protection.scope:
        form["scope"] = protection.scope
    client = Client(settings.client_id or "")
    if settings.grant == "jwt_bearer":
        form |= {"grant_type": JWT_BEARER, "assertion": settings.assertion or ""}
        return await _request_token(protection, client, form, web)
    if settings.issuer not in (None, protection.server.issuer):
        raise BadReply(f"the server wants tokens of {protection.server.issuer}, not of ours")
    if settings.private_key is None:
        method = _method(protection.server, settings)
        client = Client(client.id, settings.client_secret, method)
    else:
        form |= {
            "client_assertion_type": ASSERTION,
            "client_assertion": _assertion(protection.server, settings),
        }
    return await _request_token(protection, client, form, web)


async def _request_token(
    protection: Protection, client: Client, form: dict[str, str], web: OAuthWeb
) -> ServerToken:
    form = {**form, "resource": protection.resource}
    headers = {}
    if client.secret is not None and client.method == "client_secret_basic":
        pair = f"{quote_plus(client.id)}:{quote_plus(client.secret)}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = client.id
        if client.secret is not None and client.method == "client_secret_post":
            form["client_secret"] = client.secret
    answer = await web.token(protection.server.token_endpoint, form, headers, _TokenAnswer)
    if answer.token_type.lower() != "bearer":
        raise BadReply(f"a token of the kind {answer.token_type!r:.40}, which is not known here")
    return ServerToken(
        access=answer.access_token,
        refresh=answer.refresh_token,
        expires=None if answer.expires_in is None else time.time() + answer.expires_in,
        scope=answer.scope or protection.scope,
        protection=protection,
        client=client,
    )


async def _register(server: AuthorizationServer, redirect: str, web: OAuthWeb) -> Client:
    supported = server.token_endpoint_auth_methods_supported or _METHODS[:1]
    method = next((one for one in _METHODS if one in supported), _METHODS[0])
    is_local = urlsplit(redirect).scheme == "http"
    document = {
        **client_document(redirect),
        "token_endpoint_auth_method": method,
        "application_type": "native" if is_local else "web",
    }
    assert server.registration_endpoint is not None
    found = await web.register(server.registration_endpoint, document, _Registered)
    secret = found.client_secret
    chosen = found.token_endpoint_auth_method or method
    return Client(found.client_id, secret, chosen if secret else "none")


def _method(server: AuthorizationServer, settings: OAuthSettings) -> str:
    """Return the way in which a server wants our secret."""
    if settings.client_secret is None:
        return "none"
    supported = server.token_endpoint_auth_methods_supported or _METHODS[:1]
    return next((method for method in _METHODS[:2] if method in supported), _METHODS[0])


def _assertion(server: AuthorizationServer, settings: OAuthSettings) -> str:
    """Return a signed assertion of our identity (RFC 7523, section 2.2)."""
    try:
        from joserfc import jwk, jwt
    except ImportError:
        what = "a private_key needs joserfc: pip install 'prolocutor[mcp]'"
        raise ConfigError(what, key="oauth.private_key") from None
    now = int(time.time())
    claims = {
        "iss": settings.client_id,
        "sub": settings.client_id,
        "aud": server.issuer,
        "iat": now,
        "exp": now + _ASSERTION_SECONDS,
        "jti": secrets.token_urlsafe(16),
    }
    key = jwk.import_key((settings.private_key or "").encode(), _KEY_TYPES[settings.algorithm[:2]])
    header = {"alg": settings.algorithm}
    return jwt.encode(header, claims, key, algorithms=[settings.algorithm])
