"""PushRules: the addresses that webhooks may have.

A server that posts to any address named by a client can be abused to reach private networks. So a
person's webhook needs an address that the file allows; an operator's may also be on this machine or
on the public internet, but in a private network only if the file allows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from prolocutor.connectors.parts.connecting import Network, RefusedAddress, find_addresses
from prolocutor.connectors.parts.url import Url, http_url
from prolocutor.errors import BadInput, ConfigError

_OPERATORS: Final[frozenset[Network]] = frozenset(("loopback", "public"))


class PushRules:
    """The allowed addresses: prefixes `https://host/path`, host names, `loopback`, `public`.

    `loopback` is this machine, `public` any address of the public internet. None switches push
    notifications off.
    """

    def __init__(self, allowed: Sequence[str] | None = ()) -> None:
        self.enabled = allowed is not None
        self._words = frozenset(operator for operator in _OPERATORS if operator in (allowed or ()))
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

    def networks(self, address: str, *, trusted: bool) -> frozenset[Network] | None:
        """Return the networks that a webhook may be in, None for all; raise `BadInput` for none."""
        try:
            url = Url.read(address)
        except ValueError:
            raise BadInput("this is not a URL") from None
        if url.scheme not in ("http", "https") or url.user is not None:
            raise BadInput("it is http or https, with a host and without a password")
        if url.host in self._hosts or f"{url.host}:{url.port}" in self._hosts:
            return None
        if any(_is_below(url, prefix) for prefix in self._prefixes):
            return None
        within = self._words | (_OPERATORS if trusted else frozenset())
        if not within:
            raise BadInput("the file allows no webhooks but those in doors.a2a.push")
        return within

    async def refusal(self, address: str, *, trusted: bool) -> str | None:
        """Return why an address is refused, or None.

        The host name is resolved and checked again at each delivery.
        """
        try:
            within = self.networks(address, trusted=trusted)
            if within is not None:
                url = Url.read(address)
                await find_addresses(url.host, url.port, within)
        except (BadInput, RefusedAddress) as error:
            return str(error)
        except (OSError, UnicodeError):
            return "the name of its host is unknown"
        return None


def _is_below(url: Url, prefix: Url) -> bool:
    path, prefix_path = unquote(url.path), unquote(prefix.path).rstrip("/")
    inside = path == prefix_path or path.startswith(prefix_path + "/")
    return url.origin == prefix.origin and inside and ".." not in path
