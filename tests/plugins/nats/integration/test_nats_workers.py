"""Calls of services behind NATS while the broker, workers and lines fail."""

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from prolocutor.connectors.python import PythonConnector
from prolocutor.contracts.connector import Connector
from prolocutor.dialog.plain import Plain
from prolocutor.errors import NoPlace, ServiceRefused, ServiceUnreachable
from prolocutor.pipeline.guard import Batcher
from prolocutor.plugins.nats import wire
from prolocutor.plugins.nats.connector import NatsConnector
from prolocutor.plugins.nats.nats_address import read_servers
from prolocutor.plugins.nats.nats_connection import NatsConnection
from prolocutor.plugins.nats.service_loop import ServiceLoop
from prolocutor.plugins.nats.wake_ups import NatsWakeUps
from prolocutor.plugins.nats.worker import CountedConnector, Worker
from prolocutor.plugins.nats.worker_discovery import find_workers
from prolocutor.plugins.nats.worker_settings import WorkerSettings
from prolocutor.testing.connector_kit import ask, closing
from prolocutor.testing.fake_service import FakeRequest
from tests.nats_server import PATIENCE, NatsServer, nats_server, worker_process

AGENTS = """
import time
from pathlib import Path

CALLS = Path(__file__).with_name("calls.txt")


async def never(request):
    import asyncio
    await asyncio.sleep(3600)


def recorded(request):
    with CALLS.open("a") as calls:
        calls.write(f"{request}\\n")
    return request


async def held(request):
    time.sleep(request)  # blocks its event loop
    return request
"""


@pytest.fixture
async def server() -> AsyncIterator[NatsServer]:
    async with nats_server() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "calls.txt").touch()
    return tmp_path


@asynccontextmanager
async def working(
    server: NatsServer, target: Callable[..., Any], **settings: Any
) -> AsyncIterator[Worker]:
    """Run a worker of the service `it` in this process."""
    chosen = WorkerSettings(service="it", **settings)
    python = PythonConnector(target, name="it", batched=chosen.batch_size > 1)
    counted = CountedConnector(python)
    batched = chosen.batch_size > 1
    connector: Connector = Batcher(counted, chosen.batch_size) if batched else counted
    services = ServiceLoop()
    connection = NatsConnection(read_servers(server.url))
    connection.open()
    worker = Worker(chosen, connector, counted, connection=connection, services=services)
    await worker.start()
    await connection.wait_until_connected()
    try:
        yield worker
    finally:
        await worker.aclose()
        await connection.aclose()
        services.close()


def caller(server: NatsServer, name: str = "it", **more: Any) -> NatsConnector:
    return NatsConnector(f"{server.url}/{name}", name=name, **more)


async def until_answered(connector: Connector, value: Any) -> None:
    async def answered() -> Any:
        return getattr(await ask(connector, value), "value", None)

    await _until(answered, value)


async def test_a_call_fails_when_the_broker_dies_and_nothing_of_it_runs_later(
    server: NatsServer, folder: Path
) -> None:
    options = ("--name", "recorded", "--messages", server.url)
    async with (
        worker_process("agents:recorded", *options, folder=folder),
        closing(caller(server, "recorded")) as recorded,
    ):
        await ask(recorded, "before")
        async with working(server, _sleeping) as worker, closing(caller(server)) as it:
            open_call = asyncio.create_task(ask(it, 1))
            await _until(lambda: _value(worker.load.held), 1)
            await server.kill()
            cut_off = await open_call
        stale = [await ask(recorded, f"stale {n}") for n in range(20)]
        await server.start()
        await until_answered(recorded, "after")

    assert isinstance(cut_off, ServiceUnreachable)
    assert all(isinstance(one, ServiceUnreachable) for one in stale)
    assert set((folder / "calls.txt").read_text().split("\n")) == {"before", "after", ""}


async def test_a_killed_worker_is_known_long_before_the_time_out_and_a_drained_one_answers(
    server: NatsServer, folder: Path
) -> None:
    options = ("--name", "held", "--messages", server.url)
    async with closing(caller(server, "held")) as held:
        async with worker_process("agents:held", *options, folder=folder) as worker:
            await ask(held, 0)
            open_call = asyncio.create_task(ask(held, 1.5))
            await _is_held(server)
            status = await worker.end(signal.SIGTERM)
            drained = await open_call
            nobody = await ask(held, 0)
        async with worker_process("agents:never", *options, folder=folder) as worker:
            open_call = asyncio.create_task(ask(held, "for ever"))
            await _is_held(server)
            await worker.end(signal.SIGKILL)
            killed = await open_call

    assert status == 0
    assert getattr(drained, "value", drained) == 1.5
    assert str(nobody) == "no worker is there"
    assert isinstance(killed, ServiceUnreachable)
    assert "silent" in str(killed)


async def test_what_a_stopped_worker_finds_when_it_goes_on_is_not_run(
    server: NatsServer, folder: Path
) -> None:
    options = ("--name", "recorded", "--messages", server.url)
    async with (
        worker_process("agents:recorded", *options, folder=folder) as worker,
        closing(caller(server, "recorded")) as recorded,
    ):
        await ask(recorded, "before")
        worker.signal(signal.SIGSTOP)
        with pytest.raises(ServiceUnreachable):
            await recorded.send([FakeRequest("stale", timeout=0.1)])
        worker.signal(signal.SIGCONT)
        await until_answered(recorded, "after")

    assert set((folder / "calls.txt").read_text().split("\n")) == {"before", "after", ""}


async def test_a_second_signal_ends_a_worker_at_once(server: NatsServer, folder: Path) -> None:
    options = ("--name", "never", "--messages", server.url)
    async with (
        worker_process("agents:never", *options, folder=folder) as worker,
        closing(caller(server, "never")) as never,
    ):
        open_call = asyncio.create_task(ask(never))
        await _is_held(server)
        worker.signal(signal.SIGTERM)
        await _until(lambda: find_workers(server.url, 0.05), [])
        status = await worker.end(signal.SIGTERM)
        failed = await open_call

    assert status == 128 + signal.SIGTERM
    assert isinstance(failed, ServiceUnreachable)


async def test_a_burst_is_shed_by_busy_workers_which_recover(server: NatsServer) -> None:
    go_on = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def patient(requests: list[int]) -> list[int]:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(go_on.wait(), loop))
        return requests

    async with working(server, patient, batch_size=2) as worker, closing(caller(server)) as it:
        calls = [asyncio.create_task(ask(it, n)) for n in range(80)]
        await _until(lambda: _value(worker.load.busy), 2 * 72)
        go_on.set()
        replies = await asyncio.gather(*calls)
        again = await ask(it, "again")

    assert sum(isinstance(reply, NoPlace) for reply in replies) == 72
    assert sum(isinstance(reply, Plain) for reply in replies) == 8
    assert getattr(again, "value", again) == "again"


async def test_batches_are_made_of_the_calls_of_all_replicas(server: NatsServer) -> None:
    sizes: list[int] = []
    first = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def sized(requests: list[int]) -> list[int]:
        if not sizes:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(first.wait(), loop))
        sizes.append(len(requests))
        return requests

    async with (
        working(server, sized, batch_size=32) as worker,
        closing(caller(server)) as a,
        closing(caller(server)) as b,
        closing(caller(server)) as c,
    ):
        calls = [asyncio.create_task(ask(one, n)) for n in range(33) for one in (a, b, c)]
        await _until(lambda: _value(worker.load.held), 99)
        first.set()
        replies = await asyncio.gather(*calls)

    assert [getattr(reply, "value", reply) for reply in replies] == [
        n for n in range(33) for _ in "abc"
    ]
    assert max(sizes) == 32


async def test_another_way_is_taken_where_there_is_no_broker_no_worker_or_no_room(
    server: NatsServer,
) -> None:
    async with (
        closing(caller(server)) as alone,
        closing(caller(server, instead=PythonConnector(_length, name="it"))) as it,
    ):
        missing = await ask(alone)
        huge = "x" * 1_100_000
        large = await ask(alone, huge)
        instead = [await ask(it, "no worker"), await ask(it, huge)]
        await server.kill()
        instead.append(await ask(it, "no broker"))

    assert isinstance(missing, ServiceUnreachable)
    assert isinstance(large, ServiceRefused)
    assert large.code == "refused_4xx"
    assert "1,100,1" in str(large)
    assert "1,048,576" in str(large)
    assert [getattr(reply, "value", reply) for reply in instead] == [9, len(huge), 9]


async def test_a_reply_that_is_too_large_for_the_broker_is_an_error_with_both_sizes(
    tmp_path: Path,
) -> None:
    (tmp_path / "small.conf").write_text("max_payload: 4096\n")

    async with (
        nats_server("-c", str(tmp_path / "small.conf")) as server,
        working(server, lambda request: "x" * request),
        closing(caller(server)) as it,
    ):
        failed = await ask(it, 5000)
        reply = await ask(it, 50)

    assert "5,002" in str(failed)
    assert "4,096" in str(failed)
    assert isinstance(reply, Plain)


async def test_late_calls_are_dropped_and_bad_ones_are_answered_so(server: NatsServer) -> None:
    connection = NatsConnection(read_servers(server.url))
    subject = wire.call_subject("assistant", "it")
    async with working(server, _echo) as worker:
        connection.open()
        await connection.wait_until_connected()
        bad = await connection.ask(subject, b"{", {})
        with pytest.raises(ServiceUnreachable):
            await connection.ask(subject, b"1", {wire.TIMEOUT: "0"})
        bare = await connection.ask(subject, b"1", {wire.TIMEOUT: "soon", wire.SENT: "never"})
        await connection.aclose()
        load = worker.load

    assert (bad.headers or {})[wire.ERROR] == "bad_request"
    assert bare.data == b"1"
    assert load.late == 1
    assert load.held == 0


async def test_workers_are_found_by_the_micro_services_of_nats(server: NatsServer) -> None:
    async with working(server, _echo_all, batch_size=4, assistant="My bot", card={"a": 1}):
        async with closing(caller(server, assistant="My bot")) as it:
            await ask(it, 1)
        (found,) = await find_workers(server.url)

    assert found.service == "it"
    assert found.assistant == "My bot"
    assert found.received == 1
    assert found.errors == 0
    assert found.load.batch_size == 4
    assert found.load.hold == 16
    assert found.load.calls == 1


async def test_hints_reach_the_other_replicas_and_are_made_up_for_after_a_loss(
    server: NatsServer,
) -> None:
    heard: list[list[str]] = [[], []]
    replicas = [
        NatsWakeUps(NatsConnection(read_servers(server.url)), assistant)
        for assistant in ("bot", "bot")
    ]
    for replica, hints in zip(replicas, heard, strict=True):
        replica.on_wake(hints.append)
        await replica.open()
        await replica._connection.wait_until_connected()
    replicas[0].wake("ann")
    replicas[0].wake("ann")
    await _until(lambda: _value("ann" in heard[1]), True)
    before = heard[1].count("")
    await server.kill()
    await server.start()
    await _until(lambda: _value(heard[1].count("") > before), True)
    for replica in replicas:
        await replica.aclose()

    assert heard[1].count("ann") == 1
    assert "ann" not in heard[0]


@pytest.mark.parametrize("login", ["user:p%40ss@", "t%2Fken@"])
async def test_credentials_come_from_the_url_and_show_in_no_error(
    tmp_path: Path, login: str, caplog: pytest.LogCaptureFixture
) -> None:
    secret = '{user: "user", password: "p@ss"}' if ":" in login else '{token: "t/ken"}'
    (tmp_path / "auth.conf").write_text(f"authorization: {secret}\n")
    caplog.set_level("DEBUG", "prolocutor")

    async with nats_server("-c", str(tmp_path / "auth.conf")) as server:
        host = server.url.removeprefix("nats://")
        admitted = NatsConnector(f"nats://{login}{host}/it", name="it")
        refused = NatsConnector(f"nats://user:wr0ng@{host}/it", name="it")
        async with closing(admitted), closing(refused):
            known = await ask(admitted)
            unknown = await ask(refused)

    assert str(known) == "no worker is there"
    assert "no connection" in str(unknown)
    # The server says so and resets the line, which may be what is noticed last.
    assert re.search("Authorization|reset", str(unknown))
    assert not any(word in f"{known}{unknown}{caplog.text}" for word in ("wr0ng", "p@ss", "t/ken"))


async def test_tls_is_checked_and_insisted_on(tmp_path: Path, server: NatsServer) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    files = ("--tlscert", str(tmp_path / "cert.pem"), "--tlskey", str(tmp_path / "key.pem"))

    async with nats_server("--tls", *files) as secure:
        host = secure.url.removeprefix("nats://")
        trusted = NatsConnector(f"tls://{host}/it?ca={tmp_path / 'ca.pem'}", name="it")
        strange = NatsConnector(f"tls://{host}/it", name="it")
        plain = NatsConnector(f"tls://{server.url.removeprefix('nats://')}/it", name="it")
        async with closing(trusted), closing(strange), closing(plain):
            replies = [str(await ask(one)) for one in (trusted, strange, plain)]

    assert replies[0] == "no worker is there"
    assert "certificate" in replies[1].lower()
    assert "no TLS" in replies[2]


async def _is_held(server: NatsServer) -> None:
    """Wait until the only worker holds a call."""

    async def held() -> list[int]:
        return [found.load.held for found in await find_workers(server.url, 0.05)]

    await _until(held, [1])


async def _until(look: Callable[[], Any], wanted: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while await look() != wanted:  # noqa: ASYNC110 - what others do has no event here
            await asyncio.sleep(0.02)


async def _value(value: Any) -> Any:
    return value


def _echo(request: Any) -> Any:
    return request


def _length(request: str) -> int:
    return len(request)


def _echo_all(requests: list[Any]) -> list[Any]:
    return requests


async def _sleeping(request: Any) -> None:
    await asyncio.sleep(3600)
