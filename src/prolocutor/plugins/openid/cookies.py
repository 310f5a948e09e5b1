"""Cookies: read from a request's header, written for a response (RFC 6265)."""

from __future__ import annotations

from typing import Final

HOST_PREFIX: Final = "__Host-"
"""The prefix of names that browsers let no other host set, for connections with TLS."""

MAX_HEADER: Final = 16_384


def cookie_name(name: str, *, secure: bool) -> str:
    """Return the full name of a cookie, with the prefix that browsers enforce."""
    return f"{HOST_PREFIX}{name}" if secure else name


def read_cookies(header: str | None, name: str, *, secure: bool = False) -> dict[str, str]:
    """Return the cookies whose names begin with `name`, keyed by the rest of their names.

    A cookie with the prefix that other hosts cannot set wins over the same cookie without it.
    `secure`: only cookies with the prefix count, since any sibling host can set the others.
    """
    if not header or name not in header or len(header) > MAX_HEADER:
        return {}
    found: dict[str, str] = {}
    for pair in header.split(";"):
        key, _, value = pair.strip().partition("=")
        safe = key.startswith(HOST_PREFIX)
        bare = key.removeprefix(HOST_PREFIX)
        if bare.startswith(name) and (safe or not secure):
            rest = bare.removeprefix(name)
            if safe or rest not in found:
                found[rest] = value.strip('"')
    return found


def write_cookie(name: str, value: str, seconds: int, *, secure: bool) -> str:
    """Return the value of `Set-Cookie`; `seconds` of 0 makes the browser delete the cookie."""
    tls = "; Secure" if secure else ""
    named = cookie_name(name, secure=secure)
    return f"{named}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{tls}"
