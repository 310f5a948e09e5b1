"""Names that mean something else when they are looked up again, and servers behind them."""

import socket
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

import pytest

from prolocutor.connectors.parts import connecting
from prolocutor.connectors.parts.connecting import Network
from tests.integration.connectors.scripted_server import ScriptedServer, Visit, scripted_server

PUBLIC = "127.0.0.2"
"""An address of this machine that counts as public in these tests."""
INSIDE = "127.0.0.1"

OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n"


class Names:
    """What `getaddrinfo` answers by name: one after the other, the last one from then on."""

    def __init__(self, resolve: Any) -> None:
        self.answers: dict[str, list[list[str]]] = {}
        self.asked: list[str] = []
        self._resolve = resolve

    def __call__(self, host: str, port: int, *args: Any, **keywords: Any) -> Any:
        if host not in self.answers:
            return self._resolve(host, port, *args, **keywords)
        self.asked.append(host)
        answers = self.answers[host]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]


@contextmanager
def changing_names() -> Iterator[Names]:
    """Answer look-ups of names, and take `PUBLIC` for an address of the internet."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield _changed(monkeypatch)


def _changed(monkeypatch: pytest.MonkeyPatch) -> Names:
    of = connecting.address_network

    def public_network(address: str) -> Network:
        return "public" if address == PUBLIC else of(address)

    for module in (
        "connectors.parts.connecting",
        "connectors.parts.http_client",
        "plugins.authoring.recognition",
    ):
        monkeypatch.setattr(f"prolocutor.{module}.address_network", public_network)
    names = Names(socket.getaddrinfo)
    monkeypatch.setattr(socket, "getaddrinfo", names)
    return names


def server(
    host: str,
    heads: list[dict[str, str]] | None = None,
    *,
    body: bytes = b"{}",
    head: bytes = OK,
    port: int = 0,
) -> AbstractAsyncContextManager[ScriptedServer]:
    """Return a server that answers each connection once."""

    async def answer(visit: Visit) -> None:
        read, _ = await visit.request()
        if heads is not None:
            heads.append(read)
        await visit.say(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    return scripted_server(answer, host=host, port=port)
