"""OpenIdSettings: the identity provider, and the rights that its claims grant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, get_args
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from prolocutor.bounds import about
from prolocutor.clocks import DAY
from prolocutor.contracts.http import KeyScope
from prolocutor.errors import ConfigError
from prolocutor.names import did_you_mean

EVERYTHING: Final[tuple[KeyScope, ...]] = ("admin",)
SCOPES: Final[tuple[str, ...]] = get_args(KeyScope)
MONTH: Final = 30 * DAY

_LOCAL: Final = re.compile(r"localhost|.+\.localhost|127(?:\.\d+){3}|::1")
_RULE: Final = "a rule such as {claim: groups, values: [support]}"

_Lasting = Annotated[float, Meta(ge=60, le=MONTH)]


class ClaimRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule for persons whose `claim` is one of `values`, or is a list with one of `values`.

    `claim` may be a path (`realm_access.roles`). Without `values` it has to be true. `scopes` are
    the rights of operators by this rule.
    """

    claim: str
    values: tuple[str, ...] = ()
    scopes: tuple[KeyScope, ...] = EVERYTHING


def _read_address(value: object, what: str) -> str:
    """Return an `https` URL without a query; `http` is allowed for loopback only."""
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s?#]+", value):
        raise ValueError(what)
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
    except ValueError:
        raise ValueError(what) from None
    if parts.scheme == "http" and not _LOCAL.fullmatch(host):
        raise ConfigError("without TLS anybody on the way could sign in: use https://")
    return value


def _read_issuer(value: object) -> str:
    return _read_address(value, "the provider's URL such as https://id.example.org")


def _read_url(value: object) -> str:
    return _read_address(value, "the URL of this server such as https://chat.example.org")


def _read_operators(value: object) -> tuple[ClaimRule, ...]:
    return _read_rules(value, f"{_RULE}, a list of such")


def _read_persons(value: object) -> bool | tuple[ClaimRule, ...]:
    if isinstance(value, bool):
        return value
    return _read_rules(value, f"{_RULE}, a list of such, true or false")


def _read_rules(value: object, expected: str) -> tuple[ClaimRule, ...]:
    """Return the rules of a map: a single rule, or the short form from claims to values."""
    if not isinstance(value, dict) or not value:
        raise ValueError(expected)
    if "claim" not in value:
        if near := next((key for key in value if did_you_mean(key, ("claim", "scopes"))), None):
            what = f"the key claim is missing beside {near!r}; write {_RULE.partition('as ')[2]}"
            raise ConfigError(what)
        return tuple(
            ClaimRule(claim=claim, values=_read_values(values, claim))
            for claim, values in value.items()
        )
    claim, scopes_by_value = value["claim"], value.get("values")
    if not isinstance(claim, str) or not claim.strip():
        raise ConfigError("expected the name of a claim", key="claim")
    if isinstance(scopes_by_value, dict):  # {claim: roles, values: {lead: [admin]}}
        _refuse_others(value, ("claim", "values"))
        return tuple(
            ClaimRule(claim=claim, values=(scope,), scopes=_read_scopes(scopes, f"values.{scope}"))
            for scope, scopes in scopes_by_value.items()
        )
    _refuse_others(value, ("claim", "values", "value", "scopes"))
    values = [
        *_read_values(value.get("values", []), "values"),
        *_read_values(value.get("value", []), "value"),
    ]
    scopes = _read_scopes(value["scopes"], "scopes") if "scopes" in value else EVERYTHING
    return (ClaimRule(claim=claim, values=tuple(values), scopes=scopes),)


def _refuse_others(rule: Mapping[str, object], known: tuple[str, ...]) -> None:
    for key in rule:
        if key not in known:
            hint = did_you_mean(key, known) or f"known keys are {', '.join(known)}"
            raise ConfigError(f"unknown key; {hint}", key=key)


def _read_values(value: object, key: str) -> tuple[str, ...]:
    """Return the values of a claim, given as a value or a list; true means a claim that is true."""
    if value is True:
        return ()
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) and one.strip() for one in values):
        raise ConfigError("expected a value of the claim, a list of such, or true", key=key)
    return tuple(values)


def _read_scopes(value: object, key: str) -> tuple[KeyScope, ...]:
    given: list[Any] = value if isinstance(value, list) else [value]
    for one in given:
        if one not in SCOPES:
            hint = did_you_mean(str(one), SCOPES)
            what = f"there is no scope {one!r}; there are {', '.join(SCOPES)}"
            raise ConfigError(f"{what}; {hint}" if hint else what, key=key)
    return tuple(given)


class OpenIdSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The identity provider that people sign in with."""

    expected: ClassVar[str] = "a map of issuer, client_id and so on"
    synonyms: ClassVar[Mapping[str, str]] = {
        "secret": "client_secret",
        "client": "client_id",
        "redirect_uri": "url",
    }

    issuer: Annotated[
        str,
        about(
            "The provider, exactly as its discovery document names it: `https`, but on this"
            " machine.",
            what="a URL",
            reads=_read_issuer,
        ),
    ]
    client_id: Annotated[
        str,
        about(
            "The client id of this server at the provider.",
            what="the id that the provider gave this client",
        ),
    ]
    client_secret: Annotated[
        str | None,
        about(
            "The client secret; without a secret this server is a public client.",
            what="the secret that the provider gave",
            secret=True,
        ),
    ] = None
    scopes: Annotated[
        tuple[Annotated[str, Meta(pattern=r"[!#-\[\]-~]+")], ...],
        about(
            "The scopes to ask for; some providers give refresh tokens only for `offline_access`.",
            what="a list of the provider's scopes",
            item="a scope such as profile",
            single=True,
        ),
    ] = ("openid", "profile", "email")
    operators: Annotated[
        tuple[ClaimRule, ...],
        about(
            "The rules that make a caller an operator.",
            what="a rule or a list",
            reads=_read_operators,
            each=True,
        ),
    ] = ()
    persons: Annotated[
        bool | tuple[ClaimRule, ...],
        about(
            "Who else may sign in, as a person: everybody, nobody, or callers who fit the rules.",
            what="true, false, a rule or a list",
            reads=_read_persons,
            each=True,
        ),
    ] = True
    name: Annotated[
        str,
        about(
            "The claim with a person's name; if it is missing, `name`, then `email`.",
            what="the name of a claim",
        ),
    ] = "preferred_username"
    url: Annotated[
        str | None,
        about(
            "The address of this server for browsers; by default the address of the request.",
            what="a URL",
            reads=_read_url,
        ),
    ] = None
    session: Annotated[
        _Lasting, about("The time after which people have to sign in again.", duration=True)
    ] = 43_200.0
    idle: Annotated[
        _Lasting,
        about(
            "The time without a request after which people have to sign in again.", duration=True
        ),
    ] = 7_200.0
    recheck: Annotated[
        float,
        Meta(ge=1, le=MONTH),
        about(
            "The time between fetches of a person's claims, if there is a refresh token.",
            duration=True,
        ),
    ] = 300.0
    clock_skew: Annotated[
        float,
        Meta(ge=0, le=600),
        about("The greatest difference between the provider's clock and ours.", duration=True),
    ] = 60.0

    def __post_init__(self) -> None:
        """Raise `ConfigError` for rules that admit nobody."""
        if not (self.persons or self.operators):
            raise ConfigError("nobody could sign in: set operators or persons")

    def __repr__(self) -> str:
        return f"<OpenID: {self.issuer}, client {self.client_id}>"

    @property
    def claims(self) -> list[str]:
        """Return the names of the claims that the rules read."""
        persons = self.persons if isinstance(self.persons, tuple) else ()
        return [rule.claim for rule in (*self.operators, *persons)]
