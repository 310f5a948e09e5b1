"""Connecting to a host: by the first of its addresses that answers, or through a proxy."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from base64 import b64encode
from collections import deque
from collections.abc import Collection
from itertools import chain, zip_longest
from typing import Any, Final

from prolocutor.background import BackgroundTasks
from prolocutor.connectors.parts.networks import Network, find_addresses
from prolocutor.connectors.parts.url import Url

DELAY: Final = 0.25
"""Seconds after which the next address of a host is tried beside the first (RFC 8305)."""

_MAX_HEAD: Final = 16_384


async def connect_socket(
    host: str, port: int, within: Collection[Network] | None = None
) -> socket.socket:
    """Return a connected socket; raise `OSError`, also for a host that is not `within` networks.

    The addresses of a host are tried in turns of IPv6 and IPv4, each `DELAY` seconds after the one
    before or when that has failed. asyncio's `happy_eyeballs_delay` is not there in uvloop.
    """
    found = await find_addresses(host, port, within)
    families: dict[int, list[Any]] = {}
    for one in found:
        families.setdefault(one[0], []).append(one)
    turns = chain(*zip_longest(*families.values()))
    waiting = deque(one for one in turns if one is not None)
    trying: set[asyncio.Task[socket.socket]] = set()
    tasks = BackgroundTasks("connecting")
    failed: list[BaseException] = []
    try:
        while waiting or trying:
            if waiting:
                trying.add(tasks.start(_connect(waiting.popleft()), awaited=True))
            delay = DELAY if waiting else None
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
    """Return a socket that an HTTP proxy has connected to a host (RFC 9110, 9.3.6)."""
    try:
        proxy = Url.read(url if "://" in url else f"http://{url}")
    except ValueError as error:
        raise ConnectionError(f"the proxy of the environment is no URL: {error}") from None
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
        while not head.endswith(b"\r\n\r\n"):  # byte by byte: what follows is the host's
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
