"""IdentityProvider: the requests to the identity provider, over HTTP."""

from __future__ import annotations

import asyncio
import logging
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec

from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.connectors.parts.url import Url, http_url
from prolocutor.errors import ConfigError, ProviderAway, ServiceError, SignInFailed
from prolocutor.plugins.openid import id_tokens
from prolocutor.plugins.openid.openid_settings import OpenIdSettings
from prolocutor.plugins.openid.roles import Claims, find_claim

log = logging.getLogger(__name__)

DISCOVERY: Final = "/.well-known/openid-configuration"
FRESH_SECONDS: Final = 3600.0
"""Seconds for which the provider's document and its keys count."""

KEYS_PAUSE: Final = 10.0
"""Seconds between two requests for keys because of a token with an unknown one."""

AWAY_PAUSE: Final = 2.0
"""Seconds without a request after one that was not answered."""

MAX_ANSWER: Final = 1_000_000
ANSWER_TIMEOUT: Final = 8.0
"""Seconds for an answer."""


class ProviderDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The provider's own description (OpenID Connect Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class TokenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The provider's answer to a code or a refresh token."""

    access_token: str
    id_token: str | None = None
    refresh_token: str | None = None


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """The claims of a person who signed in, and the tokens for later requests."""

    claims: dict[str, Any]
    id_token: str | None
    refresh_token: str | None


class GrantRefused(SignInFailed):
    """The provider refuses to renew a grant, because the session has ended there."""


class IdentityProvider:
    """The identity provider of an assistant.

    The provider's document and keys are fetched when first needed and once an hour; while the
    provider is away, the last ones stay in use. Methods raise `ProviderAway` if it does not answer,
    and `SignInFailed` if its answer admits nobody.
    """

    def __init__(self, settings: OpenIdSettings, clock: Callable[[], float] = time.time) -> None:
        self.settings = settings
        self._clock = clock
        self._clients: dict[str, HttpClient] = {}
        self._document: ProviderDocument | None = None
        self._document_at = self._keys_at = float("-inf")
        self._keys: list[id_tokens.VerifyingKey] = []
        self._asking = asyncio.Lock()
        self._failed_at = float("-inf")

    async def aclose(self) -> None:
        """Close the connections."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    async def document(self) -> ProviderDocument:
        """Return the provider's document."""
        async with self._asking:
            if self._document is not None and self._clock() - self._document_at < FRESH_SECONDS:
                return self._document
            try:
                answer = await self._get(self.settings.issuer.rstrip("/") + DISCOVERY)
                self._document = self._check_document(answer)
            except ProviderAway:
                if self._document is None:
                    raise
            self._document_at = self._clock()
            return self._document

    async def redeem(self, code: str, verifier: str, redirect: str, nonce: str) -> Grant:
        """Return the grant for the code of an authorization response."""
        answer = await self._request_tokens(
            grant_type="authorization_code",
            code=code,
            redirect_uri=redirect,
            code_verifier=verifier,
        )
        if answer.id_token is None:
            raise SignInFailed("the identity provider gave no ID token")
        claims = await self._claims(answer, nonce)
        return Grant(claims=claims, id_token=answer.id_token, refresh_token=answer.refresh_token)

    async def renew(self, refresh_token: str, subject: str) -> Grant | None:
        """Return the grant with its present claims; None if the provider gives no claims.

        Raise `GrantRefused` if the provider has ended the grant.
        """
        answer = await self._request_tokens(grant_type="refresh_token", refresh_token=refresh_token)
        claims: dict[str, Any] = {}
        if answer.id_token is not None:
            claims = await self._claims(answer, None)
        elif (endpoint := (await self.document()).userinfo_endpoint) is not None:
            told = await self._get(endpoint, {"Authorization": f"Bearer {answer.access_token}"})
            if any(find_claim(told, claim) is not None for claim in self.settings.claims):
                claims = told  # else they were in the ID token, of which there is none now
        if claims and claims.get("sub") != subject:
            raise GrantRefused("the identity provider renewed the session of another person")
        return Grant(
            claims=claims,
            id_token=answer.id_token,
            refresh_token=answer.refresh_token or refresh_token,
        )

    async def logged_out(self, token: str) -> Claims:
        """Return the claims of a logout token."""
        claims, _ = await self._verify(token)
        self._check(id_tokens.check_logout_token, claims)
        return claims

    # -- tokens -----------------------------------------------------------------------------

    async def _claims(self, answer: TokenAnswer, nonce: str | None) -> dict[str, Any]:
        """Return the claims of an ID token; missing claims are fetched from the provider."""
        assert answer.id_token is not None
        claims, algorithm = await self._verify(answer.id_token)
        self._check(id_tokens.check_id_token, claims, nonce=nonce)
        id_tokens.check_access_token(claims, algorithm, answer.access_token)
        wanted = [*self.settings.claims, self.settings.name]
        endpoint = (await self.document()).userinfo_endpoint
        if endpoint is None or all(find_claim(claims, one) is not None for one in wanted):
            return claims
        told = await self._get(endpoint, {"Authorization": f"Bearer {answer.access_token}"})
        if told.get("sub") != claims["sub"]:
            raise SignInFailed("the identity provider tells of another person")
        return {**told, **claims}

    async def _verify(self, token: str) -> tuple[dict[str, Any], str]:
        """Check a token's signature; fetch the provider's keys again for an unknown key."""
        await self._refresh_keys(FRESH_SECONDS)
        try:
            return id_tokens.verify_token(token, self._keys)
        except id_tokens.UnknownKey:
            await self._refresh_keys(KEYS_PAUSE)
            return id_tokens.verify_token(token, self._keys)

    async def _refresh_keys(self, age: float) -> None:
        """Fetch the keys unless they are younger than `age` seconds."""
        document = await self.document()
        async with self._asking:
            if self._clock() - self._keys_at < age:
                return
            try:
                self._keys = id_tokens.read_keys(await self._get(document.jwks_uri))
            except ProviderAway:
                if not self._keys:
                    raise
            self._keys_at = self._clock()

    def _check(self, check: Callable[..., None], claims: Claims, **more: Any) -> None:
        settings = self.settings
        check(
            claims,
            issuer=settings.issuer,
            client=settings.client_id,
            now=self._clock(),
            skew=settings.clock_skew,
            **more,
        )

    # -- HTTP -------------------------------------------------------------------------------

    def _check_document(self, answer: dict[str, Any]) -> ProviderDocument:
        try:
            document = msgspec.convert(answer, ProviderDocument)
        except msgspec.ValidationError as error:
            raise self._away(f"its document cannot be read: {error}") from None
        if document.issuer != self.settings.issuer:
            raise self._away(f"its document is that of {document.issuer[:200]!r}")
        endpoints = (document.authorization_endpoint, document.token_endpoint, document.jwks_uri)
        for endpoint in (*endpoints, document.userinfo_endpoint, document.end_session_endpoint):
            if endpoint is not None and not is_safe(endpoint, self.settings.issuer):
                raise self._away(f"{endpoint[:200]!r} is not an https address")
        return document

    async def _request_tokens(self, **form: str) -> TokenAnswer:
        document = await self.document()
        headers = {}
        settings = self.settings
        methods = document.token_endpoint_auth_methods_supported
        if settings.client_secret is None:
            form["client_id"] = settings.client_id
        elif "client_secret_basic" in methods or "client_secret_post" not in methods:
            pair = f"{quote_plus(settings.client_id)}:{quote_plus(settings.client_secret)}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": settings.client_id, "client_secret": settings.client_secret}
        status, answer = await self._send("POST", document.token_endpoint, headers, form)
        if status >= 500 or status == 429:
            raise self._away(f"it answered {status}")
        if status != 200:
            why = str(answer.get("error", status))[:100]
            raise GrantRefused(f"the identity provider refused: {why}")
        try:
            return msgspec.convert(answer, TokenAnswer)
        except msgspec.ValidationError:
            raise SignInFailed("the identity provider gave no tokens") from None

    async def _get(self, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        status, answer = await self._send("GET", url, headers or {}, None)
        if status != 200:
            raise self._away(f"{urlsplit(url).path} answered {status}")
        return answer

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> tuple[int, dict[str, Any]]:
        """Send a request; return the status and the JSON object of the answer."""
        if self._clock() - self._failed_at < AWAY_PAUSE:
            raise self._away(None)
        headers = {"Accept": "application/json", **headers}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            address = http_url(url)
            async with asyncio.timeout(ANSWER_TIMEOUT):
                reply = await self._client(address).exchange(
                    urlencode(form or {}).encode(),
                    headers,
                    max_bytes=MAX_ANSWER,
                    method=method,
                    target=address.target,
                )
        except (ServiceError, ConfigError, TimeoutError) as error:
            self._failed_at = self._clock()
            raise self._away(str(error) or type(error).__name__) from None
        try:
            return reply.status, msgspec.json.decode(reply.body, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            if reply.status != 200:
                return reply.status, {}
            raise self._away("its answer is not JSON") from None

    def _client(self, address: Url) -> HttpClient:
        """Return the HTTP client of a server; it uses the proxy of the environment, if any."""
        if address.origin not in self._clients:
            self._clients[address.origin] = HttpClient(address, by_proxy=True)
        return self._clients[address.origin]

    def _away(self, why: str | None) -> ProviderAway:
        """Return the error for visitors; log its cause."""
        if why is not None:
            log.warning("the identity provider at %s: %s", self.settings.issuer, why[:500])
        return ProviderAway(
            f"nobody can sign in now: the identity provider at {self.settings.issuer} does not"
            " answer as it should; try again later"
        )


def is_safe(url: str, issuer: str) -> bool:
    """Return whether a URL may carry tokens and keys: TLS is required if the issuer uses TLS."""
    parts = urlsplit(url)
    schemes = ("http", "https") if issuer.startswith("http://") else ("https",)
    return parts.scheme in schemes and bool(parts.netloc)
