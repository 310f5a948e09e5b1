"""The address of a client: of its connection, or from the headers of trusted proxies."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from prolocutor.errors import ConfigError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_HOPS: Final = 64
"""Hops that are looked at, from the right."""

V6_PREFIX: Final = 64
"""Bits of an IPv6 address that one client has: it may use all addresses that begin so."""

_FOR: Final = re.compile(r'(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^;\s]*))', re.IGNORECASE)


class ClientAddresses:
    """Finds the address of a client.

    If the connection comes from a `trusted` address or network (`10.0.0.0/8`), it is the right-most
    address in `Forwarded` (RFC 7239) or `X-Forwarded-For` outside of the trusted. The addresses to
    the left of it may be forged.
    """

    def __init__(self, trusted: Sequence[str] = ()) -> None:
        self.any_trusted = bool(trusted)
        self._trusted = [read_network(each) for each in trusted]

    def find(self, headers: Iterable[tuple[bytes, bytes]], peer: str | None) -> str:
        """Return the client's address; "" if it is unknown.

        If both headers came and differ, the client forged a header, and the address is the proxy's.
        """
        if not self._trusted:
            return peer or ""
        address = read_address(peer or "")
        if address is None or not self._is_trusted(address):
            return peer or ""
        names = {str(self._client(address, hops)) for hops in _hops(headers)}
        return names.pop() if len(names) == 1 else str(address)

    def _client(self, found: Address, hops: Sequence[str]) -> Address:
        for hop in reversed(hops[-MAX_HOPS:]):
            address = read_address(hop)
            if address is None:
                break  # `unknown`, or nonsense: nothing left of it can be believed
            found = address
            if not self._is_trusted(address):
                break
        return found

    def trusts(self, peer: str | None) -> bool:
        """Return whether a connection comes from a trusted proxy."""
        if not self._trusted:
            return False
        address = read_address(peer or "")
        return address is not None and self._is_trusted(address)

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def read_network(text: str) -> Network:
    """Read an address or a network; raise `ConfigError` for other texts."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ConfigError(
            f"{text!r} is not an address or network such as 10.0.0.0/8", key="trusted_proxies"
        ) from None


def read_address(text: str) -> Address | None:
    """Read an address, with or without its port and brackets; return None for other texts."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=4096)
def client_name(address: str) -> str:
    """Return the name for counting a client: its address, of an IPv6 address the first 64 bits."""
    ip_address = read_address(address)
    if not isinstance(ip_address, ipaddress.IPv6Address):
        return address if ip_address is None else str(ip_address)
    return str(ipaddress.ip_network((ip_address, V6_PREFIX), strict=False))


def _hops(headers: Iterable[tuple[bytes, bytes]]) -> list[list[str]]:
    """Return the addresses in each of the two headers, the nearest proxy last."""
    forwarded: list[str] = []
    listed: list[str] = []
    for name, value in headers:
        if name == b"x-forwarded-for":
            listed += value.decode("latin-1").split(",")
        elif name == b"forwarded":
            matches = [_FOR.search(element) for element in value.decode("latin-1").split(",")]
            forwarded += [(match[1] or match[2] or "") if match else "" for match in matches]
    return [hops for hops in (forwarded, listed) if hops]
