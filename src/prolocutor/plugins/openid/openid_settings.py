"""OpenIdSettings: which identity provider people sign in with, and what its claims let them do."""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.contracts.http import KeyScope

EVERYTHING: Final[tuple[KeyScope, ...]] = ("admin",)


class ClaimRule(msgspec.Struct, frozen=True, kw_only=True):
    """Who a rule is for: those whose `claim` is one of `values`, or has one of them in its list.

    `claim` may be a path (`realm_access.roles`). Without `values` it has to be true. `scopes` is
    what an operator by this rule may do.
    """

    claim: str
    values: tuple[str, ...] = ()
    scopes: tuple[KeyScope, ...] = EVERYTHING


class OpenIdSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How people sign in.

    `issuer` is the provider's URL as its discovery document has it. `operators`: rules of which one
    makes a person an operator; `persons`: everybody whom the provider signs in, nobody, or those of
    the rules. `name` is the claim by which they are called. `url`: where browsers find this server,
    None for the address that they asked. `session` and `idle` are the seconds after which they sign
    in again, in all and without a request; after `recheck` seconds their claims are asked for
    again. `clock_skew`: seconds by which the provider's clock may differ.
    """

    issuer: str
    client_id: str
    client_secret: str | None = None
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    operators: tuple[ClaimRule, ...] = ()
    persons: bool | tuple[ClaimRule, ...] = True
    name: str = "preferred_username"
    url: str | None = None
    session: float = 43_200.0
    idle: float = 7_200.0
    recheck: float = 300.0
    clock_skew: float = 60.0

    def __repr__(self) -> str:
        return f"<OpenID: {self.issuer}, client {self.client_id}>"

    @property
    def claims(self) -> list[str]:
        """Return the claims that decide something."""
        persons = self.persons if isinstance(self.persons, tuple) else ()
        return [rule.claim for rule in (*self.operators, *persons)]
