"""LoginAttempt: the state of a sign-in, kept by the browser in a cookie."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from typing import Final
from urllib.parse import quote, unquote

import msgspec

from prolocutor.plugins.openid.sessions import read_cookies, write_cookie

COOKIE: Final = "prolocutor_login_"
SIGN_IN_SECONDS: Final = 600
"""Seconds that a person has to sign in."""

MAX_ATTEMPTS: Final = 5
"""Attempts of one browser that are remembered, as in several tabs."""

MAX_NEXT: Final = 1_000
_MARK: Final = 8
_SECONDS: Final = re.compile(r"[0-9]{1,12}")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,43}")


class LoginAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt to sign in.

    Only the browser keeps it, in a cookie: abandoned attempts cost the server nothing, and any
    replica can finish the sign-in. The person may read all of it. `next` is the path to go to after
    signing in; `begun` is the time of its start, in UNIX seconds.
    """

    state: str
    nonce: str
    verifier: str
    next: str
    begun: int

    @classmethod
    def begin(cls, next_: str, now: float) -> LoginAttempt:
        """Return a new attempt."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(
            state=state,
            nonce=nonce,
            verifier=verifier,
            next=local_path(next_),
            begun=int(now),
        )

    @property
    def challenge(self) -> str:
        """Return the PKCE challenge by SHA-256 (RFC 7636)."""
        digest = hashlib.sha256(self.verifier.encode("ascii", "replace")).digest()
        return urlsafe_b64encode(digest).rstrip(b"=").decode()

    def cookie(self, *, secure: bool) -> str:
        """Return the header `Set-Cookie` that keeps the attempt in the browser."""
        path = quote(self.next, safe="/")
        parts = (self.state, self.nonce, self.verifier, path, str(self.begun))
        name = COOKIE + self.state[:_MARK]
        return write_cookie(name, "~".join(parts), SIGN_IN_SECONDS, secure=secure)


def find_attempt(
    header: str | None, state: str, now: float, *, secure: bool
) -> LoginAttempt | None:
    """Return the attempt with a given `state` from the cookies of the returning browser.

    An attempt that is too old does not count, also if its cookie was copied. `secure`: neither does
    a cookie that another host may have set.
    """
    value = read_cookies(header, COOKIE, secure=secure).get(state[:_MARK], "")
    parts = value.split("~")
    if len(parts) != 5 or not hmac.compare_digest(parts[0].encode(), state.encode()):
        return None
    begun = int(parts[4]) if _SECONDS.fullmatch(parts[4]) else 0
    if now - begun > SIGN_IN_SECONDS:
        return None
    return LoginAttempt(
        state=parts[0],
        nonce=parts[1],
        verifier=parts[2],
        next=local_path(unquote(parts[3])),
        begun=begun,
    )


def forget_attempts(header: str | None, kept: int, *, secure: bool) -> tuple[str, ...]:
    """Return the headers that delete the cookies of all attempts but the last `kept`."""
    names = [name for name in read_cookies(header, COOKIE) if _NAME.fullmatch(name)]
    old = names[: len(names) - kept] if kept else names
    return tuple(write_cookie(COOKIE + name, "", 0, secure=secure) for name in old[:20])


def local_path(given: str) -> str:
    """Return `next` if it is a path of this server, else "/"."""
    if not given.startswith("/") or given[1:2] in ("/", "\\") or len(given) > MAX_NEXT:
        return "/"
    if not given.isascii() or not given.isprintable() or "\\" in given or " " in given:
        return "/"
    return given
