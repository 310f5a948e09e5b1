"""Discovery: finds the authorization server of an MCP server, and the scope to ask for.

Sources: RFC 9728 (protected resources), RFC 8414 and OpenID Connect Discovery 1.0 (authorization
servers), the specification of 2026-07-28, "Authorization"; of 2025-03-26 for servers without
metadata.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import msgspec

from prolocutor.errors import BadReply, ServiceRefused
from prolocutor.plugins.mcp.oauth.settings import OAuthSettings
from prolocutor.plugins.mcp.oauth.web import OAuthWeb, is_safe

RESOURCE: Final = "/.well-known/oauth-protected-resource"
SERVER: Final = "/.well-known/oauth-authorization-server"
OPENID: Final = "/.well-known/openid-configuration"
OFFLINE: Final = "offline_access"

_PART: Final = re.compile(r'(?<![\w-])([\w-]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^\s,"]++))')


class Challenge(msgspec.Struct, frozen=True):
    """The parameters of `WWW-Authenticate` (RFC 6750, section 3)."""

    resource_metadata: str | None = None
    scope: str | None = None
    error: str | None = None


class ProtectedResource(msgspec.Struct, frozen=True):
    """The metadata of an MCP server as a protected resource (RFC 9728)."""

    resource: str
    authorization_servers: list[str] = []
    scopes_supported: list[str] = []


class AuthorizationServer(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata of an authorization server (RFC 8414)."""

    issuer: str
    authorization_endpoint: str = ""
    token_endpoint: str
    registration_endpoint: str | None = None
    scopes_supported: list[str] = []
    code_challenge_methods_supported: list[str] = []
    token_endpoint_auth_methods_supported: list[str] = []
    client_id_metadata_document_supported: bool = False
    authorization_response_iss_parameter_supported: bool = False


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    """The protection of an MCP server: its resource name, its authorization server, the scope."""

    resource: str
    server: AuthorizationServer
    scope: str | None = None


class TokenNeeded(ServiceRefused):
    """The server demands a token, or a token with more scope, and tells where to get it."""

    def __init__(self, what: str, *, status: int, challenge: Challenge) -> None:
        super().__init__(what, status=status)
        self.challenge = challenge


def read_challenge(status: int, header: bytes | None) -> Challenge | None:
    """Return the demand for a token in a refusal; None if a token would not help."""
    text = (header or b"").decode("latin-1")
    if not re.match(r"\s*Bearer\b|.*,\s*Bearer\b", text, re.IGNORECASE):
        return None
    found = {key.lower(): quoted or bare for key, quoted, bare in _PART.findall(text)}
    challenge = Challenge(
        found.get("resource_metadata"), found.get("scope") or None, found.get("error")
    )
    if status == 401 or (status == 403 and challenge.error == "insufficient_scope"):
        return challenge
    return None


async def find_protection(
    url: str, challenge: Challenge, settings: OAuthSettings, web: OAuthWeb
) -> Protection:
    """Find the protection of the server at `url`; raise `BadReply` if it is not safe."""
    resource = await _find_resource(url, challenge, web)
    if resource is None:  # as before 2025-06-18: the server is its own authorization server
        origin = _origin(url)
        server = await _find_server(origin, url, web) or AuthorizationServer(
            issuer=origin,
            authorization_endpoint=f"{origin}/authorize",
            token_endpoint=f"{origin}/token",
            registration_endpoint=f"{origin}/register",
            code_challenge_methods_supported=["S256"],
        )
        scope = settings.scope or challenge.scope
        return Protection(resource=url.partition("#")[0], server=server, scope=scope)
    issuers = resource.authorization_servers
    if settings.issuer in issuers:
        issuers = [settings.issuer]
    if not issuers:
        raise BadReply("its metadata names no authorization server")
    found = await _find_server(issuers[0], url, web)
    if found is None:
        raise BadReply(f"the authorization server {issuers[0]!r:.200} has no metadata")
    scope = settings.scope or challenge.scope or " ".join(resource.scopes_supported) or None
    if scope and OFFLINE in found.scopes_supported and OFFLINE not in scope.split():
        scope = f"{scope} {OFFLINE}"
    return Protection(resource=resource.resource, server=found, scope=scope)


async def _find_resource(url: str, challenge: Challenge, web: OAuthWeb) -> ProtectedResource | None:
    path = urlsplit(url).path.rstrip("/")
    places = [challenge.resource_metadata] if challenge.resource_metadata else []
    if not places:
        places = [f"{_origin(url)}{RESOURCE}{path}", f"{_origin(url)}{RESOURCE}"]
    for place in dict.fromkeys(places):
        if not is_safe(place, url):
            raise BadReply(f"{place!r:.200} is not an https address")
        if (found := await web.find(place, ProtectedResource)) is not None:
            if not _covers(found.resource, url):
                raise BadReply(f"its metadata is that of another server: {found.resource!r:.200}")
            return found
    return None


async def _find_server(issuer: str, url: str, web: OAuthWeb) -> AuthorizationServer | None:
    if not is_safe(issuer, url):
        raise BadReply(f"the authorization server {issuer!r:.200} has no https address")
    origin, path = _origin(issuer), urlsplit(issuer).path.rstrip("/")
    places = (f"{origin}{SERVER}{path}", f"{origin}{OPENID}{path}", f"{origin}{path}{OPENID}")
    for place in dict.fromkeys(places):
        found = await web.find(place, AuthorizationServer)
        if found is None:
            continue
        if found.issuer != issuer:  # RFC 8414, section 3.3: compared as texts
            raise BadReply(f"the metadata of {issuer!r:.200} is that of {found.issuer!r:.200}")
        endpoints = (found.authorization_endpoint, found.token_endpoint)
        for endpoint in (*endpoints, found.registration_endpoint):
            if endpoint and not is_safe(endpoint, url):
                raise BadReply(f"{endpoint!r:.200} is not an https address")
        return found
    return None


def _covers(resource: str, url: str) -> bool:
    """Return whether a resource is the server at `url`, or contains it."""
    if _origin(resource) != _origin(url):
        return False
    path, own = (urlsplit(one).path.rstrip("/") for one in (resource, url))
    return own == path or own.startswith(f"{path}/")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
