"""Networks: which addresses are of the public internet, and finding those of a host, checked.

Who names a host may answer differently each time that its name is looked up. So the addresses that
were checked are the ones to connect to.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, Literal

Network = Literal["loopback", "private", "public"]
"""`private` is all that is neither this machine nor of the public internet."""

_NO_PUBLIC_IPV4: Final = [
    IPv4Network(one)
    for one in (
        "168.63.129.16/32",  # what Azure's machines are told by
        "192.0.0.0/24",  # of protocols, also what Oracle's machines are told by
        "192.88.99.0/24",  # relays of 6to4
    )
]
_PUBLIC_IPV6: Final = IPv6Network("2000::/3")
_NO_PUBLIC_IPV6: Final = [
    IPv6Network(one)
    for one in (
        "2001::/23",  # of protocols: Teredo and others lead elsewhere
        "2001:db8::/32",  # for examples
        "2002::/16",  # 6to4, which has an IPv4 address in it
        "3fff::/20",  # for examples
    )
]
_NAT64: Final = IPv6Network("64:ff9b::/96")


class RefusedAddress(OSError):
    """A host is in a network where no connection may go."""


def network_of(address: str) -> Network:
    """Return where an IP address is; an IPv6 address that stands for one of IPv4 is where that is.

    What is no address is `private`.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return "private"
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return network_of(str(ip.ipv4_mapped))
        if ip in _NAT64:
            inner = network_of(str(IPv4Address(int(ip) & 0xFFFFFFFF)))
            return "public" if inner == "public" else "private"
        if ip.is_loopback:
            return "loopback"
        outside = ip not in _PUBLIC_IPV6 or any(ip in one for one in _NO_PUBLIC_IPV6)
    else:
        if ip.is_loopback:
            return "loopback"
        outside = any(ip in one for one in _NO_PUBLIC_IPV4)
    is_public = ip.is_global and not (outside or ip.is_multicast or ip.is_reserved)
    return "public" if is_public else "private"


def as_public_as(network: Network) -> frozenset[Network]:
    """Return where one who is in a network may lead: nowhere that is less public."""
    order: tuple[Network, ...] = ("loopback", "private", "public")
    return frozenset(order[order.index(network) :])


async def find_addresses(
    host: str, port: int, within: Collection[Network] | None = None
) -> Sequence[Any]:
    """Look a host up, once, and return what `getaddrinfo` found.

    Raise `RefusedAddress` where one of its addresses is not `within` these networks.
    """
    loop = asyncio.get_running_loop()
    found: Sequence[Any] = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for *_, address in found:
        network = network_of(str(address[0]))
        if within is not None and network not in within:
            where = "a private network" if network == "private" else network
            raise RefusedAddress(f"its host is in {where}, which is not allowed")
    return found
