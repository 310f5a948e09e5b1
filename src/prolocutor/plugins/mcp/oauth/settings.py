"""OAuthSettings: how the assistant signs in at an MCP server."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.bounds import about
from prolocutor.errors import ConfigError
from prolocutor.plugins.mcp.oauth.web import is_safe

Grant = Literal["authorization_code", "client_credentials", "jwt_bearer"]
KEY: Final = "oauth"


class OAuthSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The way to sign in at servers that demand it."""

    grant: Annotated[
        Grant,
        Meta(
            description="Each person signs in by a link (authorization_code), or the assistant"
            " itself does, by its own secret or key (client_credentials) or by `assertion`"
            " (jwt_bearer)."
        ),
    ] = "authorization_code"
    client_id: Annotated[
        str | None,
        Meta(
            description="The id that the authorization server knows; an https URL is that of a"
            " client metadata document. By default the assistant registers itself."
        ),
    ] = None
    client_secret: Annotated[str | None, about("The client's secret.", secret=True)] = None
    private_key: Annotated[
        str | None, about("The client's private key as PEM, in place of a secret.", secret=True)
    ] = None
    algorithm: Annotated[str, Meta(description="How that key signs.")] = "ES256"
    assertion: Annotated[
        str | None, about("The token of this workload, for jwt_bearer.", secret=True)
    ] = None
    issuer: Annotated[
        str | None,
        Meta(description="The one authorization server that `client_id` is for; any by default."),
    ] = None
    scope: Annotated[
        str | None, Meta(description="What to ask for; by default what the server says.")
    ] = None
    address: Annotated[
        str,
        Meta(
            description="The address under which people reach this assistant; their links begin"
            " with it. Without it links have no host, which the chat page and the console"
            " understand."
        ),
    ] = ""

    def check(self) -> None:
        """Raise `ConfigError` for settings with which no sign-in is possible."""
        if self.grant == "client_credentials" and not (
            self.client_id and (self.client_secret or self.private_key)
        ):
            what = "client_credentials need a client_id, and a client_secret or private_key"
            raise ConfigError(what, key=KEY)
        if self.grant == "jwt_bearer" and not (self.client_id and self.assertion):
            raise ConfigError("jwt_bearer needs a client_id and an assertion", key=KEY)
        if self.address and not is_safe(self.address, "http://localhost"):
            raise ConfigError("expected the URL of this server", key=f"{KEY}.address")
