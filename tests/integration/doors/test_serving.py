"""Serving: addresses that cannot be had, and ending in good order."""

import asyncio
import signal
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.runner import run
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.errors import ConfigError
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.testing.channel_kit import Gate, pipeline
from prolocutor.web.asgi import Receive, Scope, Send
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.builtin_routes import MonitoringApp
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.listener import Listener
from prolocutor.web.serving import serve, served_beside
from tests.integration.doors.fakes import deeppavlov, post

PROGRAM = """
import asyncio, sys
import uvloop
from prolocutor.doors.http.api import DeepPavlov
from prolocutor import Assistant, Pipeline, Service
from prolocutor.web.listener import Listener
from prolocutor.web.serving import serve

async def slow(request):
    print("asked", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    return {"text": "done", "confidence": 1.0}

async def main():
    pipeline = Pipeline(skills=[Service("slow", slow, timeout=60)])
    async with Assistant(pipeline, store="memory:", deadline=60) as assistant:
        app = Listener(assistant, [DeepPavlov(assistant)])
        grace = float(sys.argv[1])
        await serve(app, port=0, grace=grace, on_ready=lambda url: print(url, flush=True))
        print("closed", flush=True)

uvloop.run(main())
"""


async def test_a_service_that_ignores_signals_does_not_keep_the_server_from_ending(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ready = asyncio.Event()
    running = asyncio.create_task(serve(listener(), port=0, on_ready=lambda url: ready.set()))
    await ready.wait()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:  # noqa: ASYNC110 (nobody tells when)
        await asyncio.sleep(0.01)
    signal.raise_signal(signal.SIGTERM)
    await asyncio.wait_for(running, 60)
    assert "replaced the handler of SIGTERM" in caplog.text


def listener(auth: AccessPolicy | None = None) -> Listener:
    return Listener(Assistant(pipeline(Gate()), store="memory:"), auth=auth)


async def test_a_port_in_use_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError) as refused:
            await serve(listener(), port=port)

    assert str(refused.value) == f"port: port {port} of 127.0.0.1 is in use; choose another one"


async def test_an_unknown_host_is_one_clear_line() -> None:
    with pytest.raises(ConfigError, match=r"^host: the host 'nowhere\.invalid' is unknown"):
        await serve(listener(), "nowhere.invalid")


async def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    with pytest.raises(ConfigError, match=r"^host: cannot listen on 192\.0\.2\.1, port 4242"):
        await serve(listener(AccessPolicy(keys=["k"])), "192.0.2.1")


async def test_it_is_not_served_to_the_world_without_keys() -> None:
    with pytest.raises(ConfigError, match=r"^auth: 0\.0\.0\.0 can be reached from other machines"):
        await serve(listener(), "0.0.0.0", 0)


@pytest.mark.parametrize(
    "auth",
    [AccessPolicy(keys=["k"]), AccessPolicy(tokens={"t": "ann"}), AccessPolicy(anonymous=True)],
)
async def test_it_is_served_to_the_world_where_somebody_may_come_in(auth: AccessPolicy) -> None:
    stop, ready = asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        serving = serve(listener(auth), "0.0.0.0", 0, on_ready=lambda url: ready.set(), stop=stop)
        group.create_task(serving)
        await ready.wait()
        stop.set()


async def test_a_port_of_its_own_has_figures_and_health_without_a_key_and_nothing_else() -> None:
    metrics = TurnMetrics()
    assistant = Assistant(pipeline(Gate()), store="memory:", observers=[metrics])
    app = Listener(
        assistant, [DeepPavlov(assistant)], auth=AccessPolicy(keys=["k"]), metrics=metrics
    )
    seen = {}
    async with (
        served_beside(MonitoringApp(app.monitoring, app.limits), "127.0.0.1", 0) as url,
        aiohttp.ClientSession(url) as http,
    ):
        for path in ("/health/live", "/health/ready", "/metrics", "/api", "/openapi.json", "/"):
            async with http.get(path) as response:
                seen[path] = response.status
        async with http.post("/metrics") as response:
            posted = response.status
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect("/metrics")

    assert seen == {
        "/health/live": 200,
        "/health/ready": 503,  # the assistant has not started
        "/metrics": 200,
        "/api": 404,
        "/openapi.json": 404,
        "/": 404,
    }
    assert posted == 405


class Counting:
    """An app that counts its requests, and answers with this much."""

    limits = ListenerLimits()

    def __init__(self, size: int) -> None:
        self.seen = 0
        self._body = b"x" * size

    def is_unlimited(self, address: str) -> bool:
        return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen += 1
        length = (b"content-length", b"%d" % len(self._body))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": self._body})


GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_many_who_come_at_once_are_let_in_together() -> None:
    async def passes() -> int:
        app, number = Counting(2), 0
        async with served_beside(app, "127.0.0.1", 0) as url:
            address = ("127.0.0.1", int(url.rpartition(":")[2]))
            with ExitStack() as stack:
                for _ in range(200):
                    client = stack.enter_context(socket.create_connection(address))
                    client.send(GET)
                while app.seen < 200:
                    number += 1
                    await asyncio.sleep(0)
        return number

    assert run(passes()) < 100


def test_little_is_answered_to_a_client_that_reads_nothing() -> None:
    async def answered() -> int:
        app, before = Counting(1_000), -1
        async with served_beside(app, "127.0.0.1", 0) as url:
            port = int(url.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.setblocking(False)
                await asyncio.get_running_loop().sock_sendall(client, GET * 2_000)
                while app.seen > before:
                    before = app.seen
                    for _ in range(50):
                        await asyncio.sleep(0)
        return app.seen

    assert 0 < run(answered()) < 400


async def test_a_refused_address_leaves_nothing_open() -> None:
    assistant = Assistant(pipeline(Gate()), store="memory:")
    with pytest.raises(ConfigError):
        await serve(Listener(assistant), "0.0.0.0", 0)

    assert not assistant.ready


async def test_a_cancelled_server_ends_in_good_order() -> None:
    ready = asyncio.Event()
    assistant = Assistant(pipeline(Gate()), store="memory:")
    serving = asyncio.ensure_future(
        serve(Listener(assistant), port=0, on_ready=lambda url: ready.set())
    )
    await ready.wait()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving

    assert not assistant.ready


async def test_while_it_ends_it_says_so_and_the_running_turn_goes_on() -> None:
    gate, stop = Gate(), asyncio.Event()
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    assistant = Assistant(pipeline(gate), store="memory:")
    app = Listener(assistant, [DeepPavlov(assistant)])
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        group.create_task(serve(app, port=0, on_ready=ready.set_result, stop=stop))
        async with aiohttp.ClientSession(await ready) as http:
            asking = group.create_task(ask(http, "wait"))
            await gate.entered.wait()
            stop.set()
            while (await ask(http, "hello")).get("code") != "stopping":
                pass
            gate.opened.set()
            answer = await asking

    assert answer["response"].endswith(": wait")


async def test_lines_are_closed_when_it_ends() -> None:
    async with deeppavlov() as door:
        host, port = door.url.removeprefix("http://").split(":")
        await post(door, user_id="ann", payload="hello")
        reader, writer = await asyncio.open_connection(host, int(port))

    assert await reader.read() == b""
    writer.close()


async def test_a_signal_lets_the_running_turn_end() -> None:
    async with program("20") as process:
        url = await said(process)
        async with aiohttp.ClientSession(url) as http:
            asking = asyncio.ensure_future(ask(http))
            assert await said(process) == "asked"
            process.send_signal(signal.SIGTERM)
            process.stdin.write(b"go\n")
            answer = await asking
        last, code = await said(process), await process.wait()

    assert answer["response"] == "done"
    assert last == "closed"
    assert code == 0


async def test_a_second_signal_ends_the_waiting() -> None:
    async with program("100") as process:
        url = await said(process)
        async with aiohttp.ClientSession(url) as http:
            asking = asyncio.ensure_future(ask(http))
            assert await said(process) == "asked"
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            with pytest.raises((aiohttp.ClientError, KeyError)):
                await asking


@asynccontextmanager
async def program(grace: str) -> AsyncIterator[Any]:
    """The program above as a process of its own, killed at the end if it has not ended."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, grace, stdin=PIPE, stdout=PIPE
    )
    try:
        async with asyncio.timeout(120):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def said(process: Any) -> str:
    return (await process.stdout.readline()).decode().strip()


async def ask(http: aiohttp.ClientSession, text: str = "hello") -> Any:
    async with http.post("/", json={"user_id": text, "payload": text}) as response:
        return await response.json()
