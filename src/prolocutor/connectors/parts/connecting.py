"""Connecting to a host: by its first answering address, or through a proxy."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from base64 import b64encode
from collections import deque
from collections.abc import Collection, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from itertools import chain, zip_longest
from typing import Any, Final, Literal

from prolocutor.background import BackgroundTasks
from prolocutor.connectors.parts.url import Url

Network = Literal["loopback", "private", "public"]
"""`private` is all that is neither this machine nor of the public internet."""

_NO_PUBLIC_IPV4: Final = [
    IPv4Network(one)
    for one in (
        "168.63.129.16/32",  # Azure's address for its machines' metadata
        "192.0.0.0/24",  # IETF protocol assignments; Oracle Cloud's metadata address
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

ATTEMPT_DELAY: Final = 0.25
"""Seconds after which the next address of a host is tried beside the first (RFC 8305)."""

_MAX_HEAD: Final = 16_384


class RefusedAddress(OSError):
    """A host is in a network where no connection may go."""


def address_network(address: str) -> Network:
    """Return the network of an IP address; an IPv6 address for an IPv4 address has its network.

    Other texts are `private`.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return "private"
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return address_network(str(ip.ipv4_mapped))
        if ip in _NAT64:
            inner = address_network(str(IPv4Address(int(ip) & 0xFFFFFFFF)))
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


def reachable_networks(network: Network) -> frozenset[Network]:
    """Return the networks a party in a network may lead to: none less public."""
    order: tuple[Network, ...] = ("loopback", "private", "public")
    return frozenset(order[order.index(network) :])


async def find_addresses(
    host: str, port: int, within: Collection[Network] | None = None
) -> Sequence[Any]:
    """Look a host up once, and return the result of `getaddrinfo`.

    Raise `RefusedAddress` if any of its addresses is outside of the networks `within`.
    """
    loop = asyncio.get_running_loop()
    found: Sequence[Any] = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for *_, address in found:
        network = address_network(str(address[0]))
        if within is not None and network not in within:
            where = "a private network" if network == "private" else network
            raise RefusedAddress(f"its host is in {where}, which is not allowed")
    return found


async def connect_socket(
    host: str, port: int, within: Collection[Network] | None = None
) -> socket.socket:
    """Return a connected socket; raise `OSError`, also for a host outside of the networks `within`.

    The addresses of a host are tried in turns of IPv6 and IPv4, each `ATTEMPT_DELAY` seconds after
    the address before, or when this has failed. uvloop lacks asyncio's `happy_eyeballs_delay`.
    """
    addresses = await find_addresses(host, port, within)
    families: dict[int, list[Any]] = {}
    for address in addresses:
        families.setdefault(address[0], []).append(address)
    turns = chain(*zip_longest(*families.values()))
    waiting = deque(turn for turn in turns if turn is not None)
    trying: set[asyncio.Task[socket.socket]] = set()
    tasks = BackgroundTasks("connecting")
    failed: list[BaseException] = []
    try:
        while waiting or trying:
            if waiting:
                trying.add(tasks.start(_connect(waiting.popleft()), awaited=True))
            delay = ATTEMPT_DELAY if waiting else None
            done, _ = await asyncio.wait(trying, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                trying.discard(task)
                if (error := task.exception()) is None:
                    return task.result()
                failed.append(error)
    finally:
        for task in trying:
            task.cancel()
            task.add_done_callback(_close_late)
    raise failed[0]


async def _connect(found: Any) -> socket.socket:
    family, kind, protocol, _, address = found
    one = socket.socket(family, kind, protocol)
    try:
        one.setblocking(False)
        await asyncio.get_running_loop().sock_connect(one, address)
    except BaseException:
        one.close()
        raise
    return one


def _close_late(task: asyncio.Task[socket.socket]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()


async def connect_by_proxy(url: str, host: str, port: int) -> socket.socket:
    """Return a socket connected to a host by an HTTP proxy (RFC 9110, 9.3.6)."""
    try:
        proxy = Url.read(url if "://" in url else f"http://{url}")
    except ValueError as error:
        raise ConnectionError(f"the proxy of the environment is not a URL: {error}") from None
    there = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {there} HTTP/1.1", f"Host: {there}"]
    if proxy.user is not None:
        pair = b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {pair}")
    loop = asyncio.get_running_loop()
    one = await connect_socket(proxy.host, proxy.port)
    try:
        await loop.sock_sendall(one, "\r\n".join([*lines, "", ""]).encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):  # byte by byte: further bytes are the host's
            piece = await loop.sock_recv(one, 1)
            head += piece
            if not piece or len(head) > _MAX_HEAD:
                raise ConnectionError(f"the proxy {proxy.shown} gave no answer")
        status = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")[2]
        if not status.startswith("2"):
            raise ConnectionError(f"the proxy {proxy.shown} refused: {status[:100]}")
    except BaseException:
        one.close()
        raise
    return one


def is_ip_address(host: str) -> bool:
    """Return whether a host is an address, not a name."""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
