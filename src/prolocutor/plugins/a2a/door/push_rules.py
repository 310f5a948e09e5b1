"""PushRules: which addresses webhooks may have.

A server that posts to any address that clients name can be made to reach what only it can reach.
So a person's webhook needs an address that the file allows; an operator's may be on this machine or
on the public internet too, never in a private network unless it is allowed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from prolocutor.connectors.parts.http_address import http_url
from prolocutor.connectors.parts.url import Url
from prolocutor.errors import ConfigError

LOOPBACK: Final = "loopback"
PUBLIC: Final = "public"
_OPERATORS: Final = (LOOPBACK, PUBLIC)


class PushRules:
    """The addresses that are allowed: `https://host/path` prefixes, host names, or two words.

    `loopback` is this machine, `public` any address of the public internet. None switches push
    notifications off.
    """

    def __init__(self, allowed: Sequence[str] | None = ()) -> None:
        self.enabled = allowed is not None
        self._words = {one for one in allowed or () if one in _OPERATORS}
        self._prefixes: list[Url] = []
        self._hosts: set[str] = set()
        for one in allowed or ():
            if one in _OPERATORS:
                continue
            if not str(one).strip():
                raise ConfigError("an allowed webhook is a URL or the name of a host", key="push")
            if "://" in one:
                self._prefixes.append(http_url(one))
            else:
                self._hosts.add(one.lower())

    async def refusal(self, address: str, *, trusted: bool) -> str | None:
        """Return why a webhook may not be at an address, None if it may."""
        try:
            url = Url.read(address)
        except ValueError:
            return "this is no URL"
        if url.scheme not in ("http", "https") or url.user is not None:
            return "it is http or https, with a host and without a password"
        host = url.host
        if host in self._hosts or f"{host}:{url.port}" in self._hosts:
            return None
        if any(_is_below(url, prefix) for prefix in self._prefixes):
            return None
        words = self._words | set(_OPERATORS if trusted else ())
        if not words:
            return "the file allows no webhooks but those in doors.a2a.push"
        return await _refused(host, url.port, words)


async def _refused(host: str, port: int, words: set[str]) -> str | None:
    try:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return "the name of its host is unknown"
    for *_, address in found:
        kind = _kind(str(address[0]))
        if kind not in words:
            where = "a private network" if kind is None else kind
            return f"its host is in {where}, which is not allowed"
    return None


def _kind(address: str) -> str | None:
    """Return which word an IP address comes under; None for any other network."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.is_loopback:
        return LOOPBACK
    if ip.is_global and not ip.is_multicast and not ip.is_reserved:
        return PUBLIC
    return None


def _is_below(url: Url, prefix: Url) -> bool:
    path, prefix_path = unquote(url.path), unquote(prefix.path).rstrip("/")
    inside = path == prefix_path or path.startswith(prefix_path + "/")
    return url.origin == prefix.origin and inside and ".." not in path
