"""ID tokens and logout tokens: signatures and claims (OpenID Connect Core 3.1.3.7)."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from joserfc import jwk, jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from prolocutor.errors import SignInFailed
from prolocutor.plugins.openid.roles import Claims

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


Verify = Callable[[str], tuple[dict[str, Any], str]]
