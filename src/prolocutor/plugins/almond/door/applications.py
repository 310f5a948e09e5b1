"""Applications that ask people for tokens, and the codes exchanged for tokens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Annotated, Final
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Meta

from prolocutor.contracts.store import RecordStore
from prolocutor.errors import ConfigError
from prolocutor.web.authentication import is_loopback

CODES: Final = "oauth-code"
"""The kind of the assistant's records that hold codes."""

CODE_SECONDS: Final = 60.0

_ID: Final = re.compile(r"[\w.-]{1,64}", re.ASCII)


class Application(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An application: its name for people, and the addresses to which they are sent back.

    An application without a `secret` proves its identity by PKCE. Its tokens end after `days`;
    None: never.
    """

    redirects: Annotated[
        list[str], Meta(description="The addresses to which people may be sent back.")
    ]
    name: Annotated[str, Meta(description="What people call it.")] = ""
    secret: Annotated[
        str | None, Meta(description="Its secret; one without has to send a challenge (PKCE).")
    ] = None
    days: Annotated[
        float | None, Meta(description="The days after which its tokens end; never without.")
    ] = None

    def takes(self, redirect: str) -> bool:
        """Return whether people may be sent to this address; on loopback at any port."""
        return redirect in self.redirects or _remove_port(redirect) in self.redirects


class GrantedCode(msgspec.Struct, frozen=True):
    """The grant behind a code. `challenge` is PKCE's (S256), `expires` is in UNIX seconds."""

    application: str
    redirect: str
    user: str
    challenge: str | None
    expires: float

    def proves(self, verifier: str | None) -> bool:
        """Return whether the verifier belongs to the challenge of the request (RFC 7636)."""
        if self.challenge is None:
            return True
        digest = hashlib.sha256((verifier or "").encode("utf-8", "replace")).digest()
        made = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        return hmac.compare_digest(made.encode(), self.challenge.encode("utf-8", "replace"))


class GrantedCodes:
    """Codes in the store, so that any replica may exchange them: each once, within a minute."""

    def __init__(self, records: RecordStore, clock: Callable[[], float] = time.time) -> None:
        self._records = records
        self._clock = clock

    async def grant(self, application: str, redirect: str, user: str, challenge: str | None) -> str:
        """Make a code, and delete expired codes."""
        now = self._clock()
        for digest, body in (await self._records.records("", CODES)).items():
            if msgspec.json.decode(body, type=GrantedCode).expires <= now:
                await self._records.delete_record("", CODES, digest)
        code = secrets.token_urlsafe(32)
        granted = GrantedCode(application, redirect, user, challenge, now + CODE_SECONDS)
        await self._records.put_record("", CODES, _digest(code), msgspec.json.encode(granted))
        return code

    async def take(self, code: str) -> GrantedCode | None:
        """Take the grant of a code; None if the code is unknown, used or expired."""
        digest = _digest(code)
        body = (await self._records.records("", CODES)).get(digest)
        if body is None or not await self._records.delete_record("", CODES, digest):
            return None
        granted = msgspec.json.decode(body, type=GrantedCode)
        return granted if granted.expires > self._clock() else None


def check_applications(applications: Mapping[str, Application]) -> None:
    """Raise `ConfigError` for invalid applications."""
    for id_, application in applications.items():
        key = f"doors.almond.applications.{id_}"
        if not _ID.fullmatch(id_):
            raise ConfigError("an application's id has letters, digits, '.', '_' and '-'", key=key)
        if not application.redirects:
            raise ConfigError("an application needs at least one address", key=f"{key}.redirects")
        for redirect in application.redirects:
            if (wrong := _find_fault(redirect)) is not None:
                raise ConfigError(f"{redirect!r:.200} {wrong}", key=f"{key}.redirects")


def _find_fault(redirect: str) -> str | None:
    try:
        parts = urlsplit(redirect)
        host = parts.hostname or ""
    except ValueError as error:
        return f"is not an address: {error}"
    if not parts.scheme or parts.fragment:
        return "is not a whole address without a fragment"
    if parts.scheme in ("javascript", "data", "vbscript", "file"):
        return f"has the scheme {parts.scheme}, which is not safe"
    if parts.scheme == "http" and host != "localhost" and not is_loopback(host):
        return "is not encrypted; only http to this machine may be"
    return None


def _remove_port(redirect: str) -> str:
    """Return an address on loopback without its port, which native applications choose freely."""
    try:
        parts = urlsplit(redirect)
        host = parts.hostname or ""
        if parts.scheme != "http" or not is_loopback(host) or parts.username is not None:
            return redirect
        if parts.port is None:
            return redirect
    except ValueError:
        return redirect
    shown = f"[{host}]" if ":" in host else host
    return urlunsplit(parts._replace(netloc=shown))


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()
