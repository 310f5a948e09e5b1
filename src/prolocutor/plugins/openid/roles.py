"""The rights that claims grant a person."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from prolocutor.contracts.http import KeyScope
from prolocutor.plugins.openid.openid_settings import ClaimRule, OpenIdSettings

PREFIX: Final = "openid-"
MAX_NAME: Final = 100

_NAMES: Final = ("preferred_username", "name", "email")
_OURS: Final = frozenset({"operator", "local", "you", "assistant"})
"""Names that stand for others."""

Claims = Mapping[str, Any]


class SignedIn(msgspec.Struct, frozen=True, kw_only=True):
    """A person who signed in: their id and name, an operator's `scopes` or None."""

    person: str
    name: str
    scopes: tuple[KeyScope, ...] | None


def person_id(issuer: str, subject: str) -> str:
    """Return the id of a person, which does not change with their name."""
    digest = hashlib.blake2b(subject.encode("utf-8", "replace"), digest_size=16)
    digest.update(b"\0" + issuer.encode("utf-8", "replace"))
    return PREFIX + digest.hexdigest()


def find_role(claims: Claims, settings: OpenIdSettings) -> SignedIn | None:
    """Return the person and their rights by their claims; None if no rule admits them."""
    met = [rule for rule in settings.operators if meets_rule(claims, rule)]
    persons = settings.persons
    admitted = (
        persons if isinstance(persons, bool) else any(meets_rule(claims, one) for one in persons)
    )
    if not met and not admitted:
        return None
    person = person_id(settings.issuer, claims["sub"])
    scopes = tuple(dict.fromkeys(scope for rule in met for scope in rule.scopes))
    return SignedIn(
        person=person,
        name=_display_name(claims, settings.name, person),
        scopes=scopes if met else None,
    )


def meets_rule(claims: Claims, rule: ClaimRule) -> bool:
    """Return whether claims meet a rule; an e-mail address counts only if it is verified."""
    claim = find_claim(claims, rule.claim)
    if rule.claim == "email" and claims.get("email_verified") not in (True, "true"):
        return False
    if not rule.values:
        return claim is True
    given = claim if isinstance(claim, list) else [claim]
    texts = [_text(one) for one in given if isinstance(one, str | bool | int)]
    return any(_same(text, value) for text in texts for value in rule.values)


def find_claim(claims: Claims, path: str) -> Any:
    """Return a claim by its name or its path with dots; None without such a claim."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for step in path.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(step)
    return found


def _same(text: str, value: str) -> bool:
    return hmac.compare_digest(text.encode("utf-8", "replace"), value.encode("utf-8", "replace"))


def _text(value: str | bool | int) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _display_name(claims: Claims, claim: str, person: str) -> str:
    """Return a name to show; names that the system uses itself get a number."""
    for candidate in (claim, *_NAMES):
        found = find_claim(claims, candidate)
        if isinstance(found, str) and (name := _printable(found)):
            mark = person.removeprefix(PREFIX)[:8]
            return f"{name} ({mark})" if name.lower() in _OURS else name
    return person


def _printable(text: str) -> str:
    """Return a name without control characters, of at most `MAX_NAME` characters."""
    kept = (c if not unicodedata.category(c).startswith("C") else " " for c in text[: 4 * MAX_NAME])
    return " ".join("".join(kept).split())[:MAX_NAME]
