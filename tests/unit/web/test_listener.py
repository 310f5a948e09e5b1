"""The listener as an ASGI app, under no server at all."""

from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel, Route, WebSocketRoute
from prolocutor.errors import ConfigError
from prolocutor.testing.channel_kit import Gate, pipeline
from prolocutor.web.listener import Listener


class Line:
    """What an ASGI server would be: messages in, messages out."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.sent: list[Any] = []

    async def receive(self) -> Any:
        return self.messages.pop(0)

    async def send(self, message: Any) -> None:
        self.sent.append(message)


class Door:
    """A door that keeps what happens to it."""

    def __init__(self, name: str, events: list[str], fault: Exception | None = None) -> None:
        self.name, self.prefix = name, f"{name}:"
        self.events, self.fault = events, fault
        self.routes: list[Route | WebSocketRoute] = []

    async def open(self) -> None:
        if self.fault:
            raise self.fault
        self.events.append(f"open {self.name}")

    async def close(self) -> None:
        self.events.append(f"close {self.name}")


def assistant() -> Assistant:
    return Assistant(pipeline(Gate()), store="memory:")


async def test_another_server_opens_and_closes_it_by_lifespan() -> None:
    events: list[str] = []
    line = Line({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    doors: list[Channel] = [Door("a", events), Door("b", events)]

    await Listener(assistant(), doors)({"type": "lifespan"}, line.receive, line.send)

    assert events == ["open a", "open b", "close b", "close a"]
    assert [m["type"] for m in line.sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


async def test_a_door_that_cannot_be_opened_is_told_to_the_server() -> None:
    line = Line({"type": "lifespan.startup"})
    app = Listener(assistant(), [Door("a", [], OSError("no"))])

    with pytest.raises(OSError, match="no"):
        await app({"type": "lifespan"}, line.receive, line.send)

    assert line.sent == [{"type": "lifespan.startup.failed", "message": "no"}]


async def test_channels_opened_before_a_fault_are_closed() -> None:
    events: list[str] = []
    app = Listener(assistant(), [Door("a", events), Door("b", events, OSError("no"))])

    with pytest.raises(OSError, match="no"):
        await app.open()

    assert events == ["open a", "close a"]


async def test_two_doors_may_not_share_their_users() -> None:
    with pytest.raises(ConfigError, match="prefix 'a:'"):
        Listener(assistant(), [Door("a", []), Door("a", [])])


async def test_a_server_that_cannot_refuse_a_handshake_closes_the_socket() -> None:
    line = Line({"type": "websocket.connect"})
    scope = {"type": "websocket", "path": "/", "headers": [], "query_string": b"", "client": None}

    await Listener(assistant())(scope, line.receive, line.send)

    assert line.sent == [{"type": "websocket.close", "code": 1008}]
