"""Vault: tokens of people, and unfinished sign-ins, as documents in the store.

Tokens are documents of their person, so that they are deleted with the person. The key of a sign-in
is a digest of the secret in its link and state, so a reader of the store cannot continue it.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import Final

import msgspec

from prolocutor.connectors.parts.connecting import Network
from prolocutor.contracts.store import RecordStore
from prolocutor.plugins.mcp.oauth.discovery import Protection
from prolocutor.plugins.mcp.oauth.settings import OAuthSettings
from prolocutor.plugins.mcp.oauth.tokens import Client, ServerToken

TOKENS: Final = "mcp-token"
SIGN_INS: Final = "mcp-sign-in"
SIGN_IN_SECONDS: Final = 900.0
"""Seconds that a person has to sign in."""


class BegunSignIn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An unfinished sign-in: the person, the MCP server (`url`), and its authorization server.

    `within` are the networks that the servers may be in. Known once the person has opened the link:
    the `client`, the `redirect`, the `verifier`, and `browser`, the digest of the browser's secret.
    """

    user: str
    url: str
    protection: Protection
    settings: OAuthSettings
    expires: float
    within: list[Network] | None = None
    client: Client | None = None
    redirect: str = ""
    verifier: str = ""
    browser: str = ""


class Vault:
    """The tokens and sign-ins in the store of an assistant."""

    def __init__(self, records: RecordStore, clock: Callable[[], float] = time.time) -> None:
        self._records = records
        self._clock = clock

    async def token(self, user: str, url: str) -> ServerToken | None:
        """Return a person's token for the server at `url`, or None."""
        body = await self._records.record(user, TOKENS, digest(url))
        return None if body is None else msgspec.json.decode(body, type=ServerToken)

    async def keep(self, user: str, url: str, token: ServerToken) -> None:
        """Store a person's token in place of an earlier one."""
        await self._records.put_record(user, TOKENS, digest(url), msgspec.json.encode(token))

    async def drop(self, user: str, url: str) -> None:
        """Delete a person's token."""
        await self._records.delete_record(user, TOKENS, digest(url))

    async def begin(self, sign_in: BegunSignIn) -> str:
        """Store a sign-in, delete expired sign-ins; return the secret that finds it."""
        for key, body in (await self._records.records("", SIGN_INS)).items():
            if msgspec.json.decode(body, type=BegunSignIn).expires <= self._clock():
                await self._records.delete_record("", SIGN_INS, key)
        secret = secrets.token_urlsafe(32)
        body = msgspec.json.encode(sign_in)
        await self._records.put_record("", SIGN_INS, digest(secret), body)
        return secret

    async def find(self, secret: str) -> BegunSignIn | None:
        """Return the sign-in of a secret, None if it is unknown or expired."""
        body = await self._records.record("", SIGN_INS, digest(secret))
        if body is None:
            return None
        found = msgspec.json.decode(body, type=BegunSignIn)
        return found if found.expires > self._clock() else None

    async def take(self, secret: str) -> BegunSignIn | None:
        """Return and delete the sign-in of a secret."""
        found = await self.find(secret)
        if found is None or not await self._records.delete_record("", SIGN_INS, digest(secret)):
            return None
        return found


def digest(text: str) -> str:
    """Return the digest of a text, for keys."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
