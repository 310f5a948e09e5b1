"""Sockets: a bounded outbox, and an end in good order."""

import asyncio
from typing import Any

from prolocutor.web.limits import InFlight, ListenerLimits
from prolocutor.web.requests import ABORT, AsgiWebSocket


class Client:
    """The other end: reads only while `reading` is set."""

    def __init__(self) -> None:
        self.inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.got: list[Any] = []
        self.reading = asyncio.Event()
        self.reading.set()
        self.cut = False
        self.news = asyncio.Condition()
        self.in_flight = InFlight()

    def socket(self, outbox: int = 100, patience: float = 30.0) -> AsgiWebSocket:
        scope = {
            "path": "/",
            "headers": [(b"x", b"1")],
            "query_string": b"a=1&a=2",
            "extensions": {ABORT: self.abort},
        }
        limits = ListenerLimits(outbox=outbox, patience=patience)
        return AsgiWebSocket(scope, self.inbox.get, self.send, {}, limits, self.in_flight)

    def say(self, text: str) -> None:
        self.inbox.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        self.inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})

    def abort(self) -> None:
        self.cut = True
        self.reading.set()
        self.leave()

    async def send(self, message: Any) -> None:
        await self.reading.wait()
        if self.cut:
            raise OSError("the line is cut")
        async with self.news:
            self.got.append(message.get("text", message.get("bytes", message.get("code"))))
            self.news.notify_all()

    async def has_got(self, number: int) -> None:
        async with self.news:
            await self.news.wait_for(lambda: len(self.got) >= number)


async def test_messages_go_out_in_order_before_the_close() -> None:
    client = Client()
    socket = client.socket()

    socket.send("a")
    socket.send(b"b")
    socket.close(1000)
    socket.send("too late")
    await socket.write()

    assert client.got == ["a", b"b", 1000]


async def test_sending_never_waits_for_a_client_that_does_not_read() -> None:
    client = Client()
    client.reading.clear()
    socket = client.socket(outbox=100)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(socket.write())
        for _ in range(11):
            socket.send("x" * 10)

    assert client.cut
    assert socket.gone
    assert client.got == []


async def test_a_client_that_reads_may_get_any_amount() -> None:
    client = Client()
    socket = client.socket(outbox=100)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(socket.write())
        for n in range(100):
            socket.send(f"{n:050}")
            await client.has_got(n + 1)
        socket.close()

    assert len(client.got) == 101


async def test_who_waits_for_room_can_send_any_amount_at_once() -> None:
    client = Client()
    socket = client.socket(outbox=100)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(socket.write())
        for n in range(100):
            socket.send(f"{n:050}")
            await socket.room()
        socket.close()

    assert len(client.got) == 101


async def test_who_waits_for_room_learns_that_the_client_left() -> None:
    client = Client()
    client.reading.clear()
    socket = client.socket(outbox=100)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        writing = group.create_task(socket.write())
        socket.send("x" * 90)
        waiting = group.create_task(socket.room())
        client.leave()
        assert [message async for message in socket] == []
        await waiting
        writing.cancel()

    assert socket.gone
    assert not client.cut


async def test_a_client_that_takes_nothing_for_long_is_dropped() -> None:
    client = Client()
    client.reading.clear()
    socket = client.socket(outbox=100, patience=0.01)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(socket.write())
        socket.send("x" * 90)
        await socket.room()

    assert client.cut


async def test_messages_come_until_the_client_leaves() -> None:
    client = Client()
    for text in ("a", "b"):
        client.say(text)
    client.leave()

    assert [message async for message in client.socket()] == ["a", "b"]


async def test_a_message_takes_a_place_until_the_next_is_asked_for() -> None:
    client = Client()
    client.say("a")
    client.leave()
    taken = [len(client.in_flight) async for _ in client.socket()]

    assert taken == [1]
    assert len(client.in_flight) == 0


async def test_a_socket_that_is_stopped_works_off_the_message_in_hand_alone() -> None:
    client = Client()
    socket = client.socket()
    for text in ("a", "b"):
        client.say(text)
    worked_off = []

    async for message in socket:
        socket.stop()
        worked_off.append(message)
    await socket.write()

    assert worked_off == ["a"]
    assert client.got == [1012]


async def test_the_handshake_can_be_looked_into() -> None:
    socket = Client().socket()

    assert socket.header("x") == "1"
    assert socket.header("y") is None
    assert socket.query("a") == "2"
    assert socket.query("b") is None


async def test_who_is_busy_with_a_message_that_was_read_holds_a_place() -> None:
    client = Client()

    with client.socket().busy():
        held = len(client.in_flight)

    assert held == 1
    assert len(client.in_flight) == 0
