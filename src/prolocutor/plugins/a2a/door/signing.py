"""CardSigner: signs the agent card, so that clients can verify its origin.

Source: A2A 1.0, section 8.4: a detached JWS (RFC 7515) over the card without its signatures, in the
canonical form of RFC 8785 and without empty members.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ConfigError, MissingExtra

KEY_FILES: Final = (".pem", ".key")
"""What the names of files with keys end in; anything else is a secret."""

Sign = Callable[[bytes], bytes]

_HALF: Final = {"ES256": 32, "ES384": 48, "ES512": 66}


class CardKey(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The key that signs the card."""

    key: Annotated[
        str, Meta(description="A PEM file of a private key, or a secret of at least 32 bytes.")
    ] = ""
    kid: Annotated[str, Meta(description="The name of the key.")] = "prolocutor"
    jku: Annotated[str | None, Meta(description="Where clients find the public key.")] = None


class CardSigner:
    """Signs with `key`: the PEM file of a private key, or a secret of 32 bytes (HS256).

    `kid` names the key, `jku` is the address of the public key. An elliptic key of P-256, P-384
    or P-521 signs by ES256, ES384 or ES512, an RSA key by RS256, an Ed25519 key by EdDSA.
    """

    def __init__(self, key: str, *, kid: str = "prolocutor", jku: str | None = None) -> None:
        algorithm, self._sign = _signer(key)
        header = {"alg": algorithm, "kid": kid, "typ": "JOSE"} | ({"jku": jku} if jku else {})
        self._protected = _base64url(json.dumps(header, separators=(",", ":")).encode())

    def sign_card(self, card: JsonObject) -> JsonObject:
        """Return the signature of a card, in the form of its `signatures`."""
        payload = _base64url(canonical(card))
        signature = self._sign(f"{self._protected}.{payload}".encode())
        return {"protected": self._protected, "signature": _base64url(signature)}


def canonical(card: JsonObject) -> bytes:
    """Return the signed form of a card. Cards have no fractions, whose canonical form is harder."""
    kept = _drop_empty({key: one for key, one in card.items() if key != "signatures"})
    return _write_canonical(kept).encode()


def _drop_empty(value: Any) -> Any:
    """Return a value without empty texts, lists and objects; None if nothing is left."""
    if isinstance(value, dict):
        kept = {key: one for key, given in value.items() if (one := _drop_empty(given)) is not None}
        return kept or None
    if isinstance(value, list):
        items = [one for given in value if (one := _drop_empty(given)) is not None]
        return items or None
    return None if value == "" else value


def _write_canonical(value: Any) -> str:
    """Return JSON without spaces, with keys sorted by their UTF-16 units."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        members = ",".join(
            f"{_write_canonical(key)}:{_write_canonical(value[key])}" for key in keys
        )
        return "{" + members + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write_canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _signer(key: str) -> tuple[str, Sign]:
    if "\n" not in key and not key.endswith(KEY_FILES):
        secret = key.encode()
        if len(secret) < 32:
            what = "a key that signs the card is a PEM file, or a secret of at least 32 bytes"
            raise ConfigError(what, key="doors.a2a.sign.key")
        return "HS256", lambda data: hmac.new(secret, data, hashlib.sha256).digest()
    try:
        pem = key.encode() if "\n" in key else Path(key).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the key {key!r} cannot be read: {error.strerror}", key="doors.a2a.sign.key"
        ) from None
    return _pem_signer(pem)


def _pem_signer(pem: bytes) -> tuple[str, Sign]:
    try:
        serialization = importlib.import_module("cryptography.hazmat.primitives.serialization")
        hashes = importlib.import_module("cryptography.hazmat.primitives.hashes")
        curves = importlib.import_module("cryptography.hazmat.primitives.asymmetric.ec")
        asn1 = importlib.import_module("cryptography.hazmat.primitives.asymmetric.utils")
        padding = importlib.import_module("cryptography.hazmat.primitives.asymmetric.padding")
    except ModuleNotFoundError as error:
        what = f"a card is signed with {error.name!r}: pip install 'prolocutor[a2a]'"
        raise MissingExtra(what, key="doors.a2a.sign.key") from None
    try:
        private: Any = serialization.load_pem_private_key(pem, None)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"this is not a private key: {error}", key="doors.a2a.sign.key") from None
    if hasattr(private, "curve"):
        name = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}.get(
            private.curve.name
        )
        if name is not None:
            digest = {"ES256": hashes.SHA256, "ES384": hashes.SHA384, "ES512": hashes.SHA512}[name]

            def sign(data: bytes) -> bytes:
                r, s = asn1.decode_dss_signature(private.sign(data, curves.ECDSA(digest())))
                return bytes(r.to_bytes(_HALF[name], "big") + s.to_bytes(_HALF[name], "big"))

            return name, sign
    if hasattr(private, "private_numbers") and hasattr(private.private_numbers(), "iqmp"):
        return "RS256", lambda data: private.sign(data, padding.PKCS1v15(), hashes.SHA256())
    if type(private).__name__.startswith("Ed25519"):
        return "EdDSA", private.sign
    what = "the key is none of P-256, P-384, P-521, RSA and Ed25519"
    raise ConfigError(what, key="doors.a2a.sign.key")
