"""IdentityProvider: the requests to the identity provider over HTTP, and its tokens, checked."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec
from joserfc import jwk, jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.connectors.parts.url import Url, http_url
from prolocutor.errors import ConfigError, ProviderAway, ServiceError, SignInFailed
from prolocutor.plugins.openid.openid_settings import OpenIdSettings
from prolocutor.plugins.openid.roles import Claims, find_claim

KEY_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    **dict.fromkeys(("EdDSA", "Ed25519"), "OKP"),
}
"""The algorithms that count, and the type of their keys.

None of them is symmetric and none is `none`: a token signed with what is public proves nothing.
"""

MAX_TOKEN: Final = 100_000
MAX_SUBJECT: Final = 255
LOGOUT: Final = "http://schemas.openid.net/event/backchannel-logout"

_REGISTRY: Final = jws.JWSRegistry(algorithms=list(KEY_TYPES), strict_check_header=False)
_HASHES: Final = {"256": "sha256", "384": "sha384", "512": "sha512"}

VerifyingKey = RSAKey | ECKey | OKPKey

Verify = Callable[[str], tuple[dict[str, Any], str]]

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


class UnknownKey(SignInFailed):
    """The key that signed a token is not among the known keys."""


def read_keys(document: object) -> list[VerifyingKey]:
    """Return the public signature keys of a JWK set; unreadable keys are left out.

    Symmetric keys are left out too: in a public document anybody could sign with them.
    """
    listed = document.get("keys") if isinstance(document, dict) else None
    keys: list[VerifyingKey] = []
    for given in listed if isinstance(listed, list) else ():
        if not isinstance(given, dict) or given.get("use", "sig") != "sig":
            continue
        try:
            key = jwk.import_key(given)
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        if isinstance(key, RSAKey | ECKey | OKPKey):
            keys.append(key)
    return keys


def verify_token(token: str, keys: Sequence[VerifyingKey]) -> tuple[dict[str, Any], str]:
    """Check the signature of a token; return its claims and its algorithm.

    Raise `UnknownKey` if its key is not among `keys`, `SignInFailed` for any other fault.
    """
    if len(token) > MAX_TOKEN:
        raise SignInFailed("the token of the identity provider is too long")
    try:
        extracted = jws.extract_compact(token.encode("ascii"), registry=_REGISTRY)
        header = extracted.headers()
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise SignInFailed("the token of the identity provider cannot be read") from None
    algorithm, kid = header.get("alg"), header.get("kid")
    type_ = KEY_TYPES.get(algorithm) if isinstance(algorithm, str) else None
    if type_ is None or not isinstance(algorithm, str):
        raise SignInFailed("the token of the identity provider is not signed with a key pair")
    fitting = [
        key
        for key in keys
        if key.key_type == type_
        and key.get("alg") in (None, algorithm)
        and (kid is None or key.kid is None or key.kid == kid)
    ]
    if not fitting:
        raise UnknownKey("the token of the identity provider is signed with an unknown key")
    if not any(_signs(token, key, algorithm) for key in fitting):
        raise UnknownKey("the signature of the identity provider's token is wrong")
    try:
        claims = json.loads(extracted.payload)
    except (ValueError, RecursionError):
        claims = None
    if not isinstance(claims, dict):
        raise SignInFailed("the token of the identity provider has no claims")
    return claims, algorithm


def check_id_token(
    claims: Claims, *, issuer: str, client: str, now: float, skew: float, nonce: str | None
) -> None:
    """Raise `SignInFailed` unless claims name this client and this provider and are current.

    `nonce` is the nonce of the sign-in request; None for a refreshed token.
    """
    _check_origin(claims, issuer, client)
    expires, issued = _time(claims, "exp"), _time(claims, "iat")
    if expires is None or issued is None:
        raise _sign_in_failed("has no time")
    if now >= expires + skew:
        raise _sign_in_failed("has expired")
    begins = _time(claims, "nbf") or issued
    if max(issued, begins) > now + skew:
        raise _sign_in_failed("was issued in the future; the clocks differ")
    if not _subject(claims):
        raise _sign_in_failed("names nobody")
    if nonce is not None and not _equal(claims.get("nonce"), nonce):
        raise _sign_in_failed("is not for this sign-in")


def check_access_token(claims: Claims, algorithm: str, access_token: str | None) -> None:
    """Raise `SignInFailed` if `at_hash` belongs to another access token."""
    said = claims.get("at_hash")
    name = _HASHES.get(algorithm[-3:])
    if said is None or access_token is None or name is None:
        return
    digest = hashlib.new(name, access_token.encode("ascii", "replace")).digest()
    half = urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()
    if not _equal(said, half):
        raise _sign_in_failed("belongs to another access token")


def check_logout_token(
    claims: Claims, *, issuer: str, client: str, now: float, skew: float
) -> None:
    """Raise `SignInFailed` unless claims form a logout token (OpenID Connect Back-Channel 2.6)."""
    _check_origin(claims, issuer, client)
    issued, events = _time(claims, "iat"), claims.get("events")
    expires = _time(claims, "exp")
    if issued is None or abs(now - issued) > 120 + skew or (expires and now >= expires + skew):
        raise _sign_in_failed("is too old or too new")
    if not isinstance(events, dict) or not isinstance(events.get(LOGOUT), dict):
        raise _sign_in_failed("is not for signing out")
    if "nonce" in claims or not _subject(claims):
        raise _sign_in_failed("is not for signing out")


def _check_origin(claims: Claims, issuer: str, client: str) -> None:
    if claims.get("iss") != issuer:
        raise _sign_in_failed("is from another issuer")
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if client not in audiences:
        raise _sign_in_failed("is for another client")
    party = claims.get("azp")
    if (party is not None or len(audiences) > 1) and party != client:
        raise _sign_in_failed("was given to another client")


def _signs(token: str, key: VerifyingKey, algorithm: str) -> bool:
    try:
        jws.deserialize_compact(token, key, [algorithm], registry=_REGISTRY)
    except (JoseError, ValueError, TypeError):
        return False
    return True


def _subject(claims: Claims) -> bool:
    subject = claims.get("sub")
    return isinstance(subject, str) and 0 < len(subject) <= MAX_SUBJECT


def _time(claims: Claims, name: str) -> float | None:
    found = claims.get(name)
    numeric = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if numeric and found is not None and abs(found) < 1e12 else None


def _equal(said: object, meant: str) -> bool:
    return isinstance(said, str) and hmac.compare_digest(said.encode(), meant.encode())


def _sign_in_failed(why: str) -> SignInFailed:
    return SignInFailed(f"the token of the identity provider {why}")


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
        self._keys: list[VerifyingKey] = []
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
        self._check(check_logout_token, claims)
        return claims

    # -- tokens -----------------------------------------------------------------------------

    async def _claims(self, answer: TokenAnswer, nonce: str | None) -> dict[str, Any]:
        """Return the claims of an ID token; missing claims are fetched from the provider."""
        assert answer.id_token is not None
        claims, algorithm = await self._verify(answer.id_token)
        self._check(check_id_token, claims, nonce=nonce)
        check_access_token(claims, algorithm, answer.access_token)
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
            return verify_token(token, self._keys)
        except UnknownKey:
            await self._refresh_keys(KEYS_PAUSE)
            return verify_token(token, self._keys)

    async def _refresh_keys(self, age: float) -> None:
        """Fetch the keys unless they are younger than `age` seconds."""
        document = await self.document()
        async with self._asking:
            if self._clock() - self._keys_at < age:
                return
            try:
                self._keys = read_keys(await self._get(document.jwks_uri))
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
