"""A function in a child process of its own: what it may do, and what it cannot survive."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from prolocutor.connectors.process import ProcessConnector
from prolocutor.contracts.connector import Connector
from prolocutor.dialog.plain import Plain
from prolocutor.errors import ServiceRaised, ServiceUnreachable
from prolocutor.testing.connector_kit import ConnectorKit, ask, closing
from prolocutor.testing.fake_service import FakeRequest
from tests.integration.pids import is_gone

HERE = "tests.integration.connectors"


class TestKit(ConnectorKit):
    async def connect(self, behaviour: str) -> Connector:
        return ProcessConnector(f"prolocutor.testing.behaviours:{behaviour}", name=behaviour)

    async def connect_batched(self, behaviour: str) -> Connector:
        dotted = f"prolocutor.testing.behaviours:{behaviour}"
        return ProcessConnector(dotted, name=behaviour, batched=True)


@pytest.fixture
async def acting() -> AsyncIterator[ProcessConnector]:
    async with closing(ProcessConnector(f"{HERE}.services:acts", name="s")) as connector:
        assert isinstance(connector, ProcessConnector)
        yield connector


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


async def value(connector: Connector, request: Any = None) -> Any:
    reply = await ask(connector, {} if request is None else request)
    assert isinstance(reply, Plain), reply
    return reply.value


async def test_one_child_serves_all_calls_one_after_the_other(acting: ProcessConnector) -> None:
    pids = await asyncio.gather(*(value(acting) for _ in range(10)))

    assert len(set(pids)) == 1
    assert pids[0] != os.getpid()


async def test_a_call_that_never_yields_is_killed_and_the_next_gets_a_fresh_child(
    acting: ProcessConnector, pipe: Path
) -> None:
    call = asyncio.create_task(acting.send([FakeRequest({"spin": str(pipe)})]))
    spinning = int(await asyncio.to_thread(pipe.read_text))
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.to_thread(is_gone, spinning)
    assert await value(acting) != spinning


async def test_a_call_given_up_while_it_waits_for_the_child_does_not_kill_it(
    acting: ProcessConnector,
) -> None:
    before = await value(acting)
    first = asyncio.create_task(value(acting))
    second = asyncio.create_task(value(acting))
    await asyncio.sleep(0)
    second.cancel()

    assert await first == before
    assert await value(acting) == before


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"exit": 7}, "its process ended with status 7"),
        ({"exit": 0}, "its process ended with status 0"),
        ({"abort": True}, "its process was ended by SIGABRT"),
    ],
)
async def test_a_child_that_dies_fails_its_call_only(
    acting: ProcessConnector, request_: Any, text: str
) -> None:
    error = await ask(acting, request_)
    pid = await value(acting)

    assert type(error) is ServiceRaised
    assert str(error) == text
    assert isinstance(pid, int)


async def test_what_the_function_prints_or_reads_is_no_part_of_the_talk(
    acting: ProcessConnector, capfd: pytest.CaptureFixture[str]
) -> None:
    await value(acting, {"print": '{"reply": "forged"}'})

    assert capfd.readouterr() == ("", '{"reply": "forged"}\nfrom below\n\n')


async def test_an_async_function_is_awaited() -> None:
    async with closing(ProcessConnector(f"{HERE}.services:asynchronous", name="s")) as connector:
        assert await value(connector, "hi") == "hi"


@pytest.mark.parametrize(
    ("dotted", "why"),
    [
        ("no_such_module:f", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("json:no_such", "AttributeError: module 'json' has no attribute 'no_such'"),
        ("sys:path", "TypeError: a list cannot be called"),
        (f"{HERE}.slow_import:word", "KeyError: 'SLOW_IMPORT'"),
    ],
)
async def test_what_cannot_be_imported_is_told_with_its_name(dotted: str, why: str) -> None:
    async with closing(ProcessConnector(dotted, name="s")) as connector:
        error = await ask(connector)

    assert type(error) is ServiceUnreachable
    assert str(error).startswith(f"{dotted} cannot be imported: {why}")


async def test_a_call_given_up_while_the_child_still_imports_leaves_it_to_its_start(
    pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOW_IMPORT", str(pipe))
    async with closing(ProcessConnector(f"{HERE}.slow_import:word", name="s")) as connector:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await connector.send([FakeRequest()])
        await asyncio.to_thread(pipe.write_text, "ready")

        assert await value(connector) == "ready"


async def test_a_child_that_does_not_start_in_time_is_ended(
    pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOW_IMPORT", str(pipe))
    dotted = f"{HERE}.slow_import:word"
    async with closing(ProcessConnector(dotted, name="s", start_timeout=0.2)) as connector:
        error = await ask(connector)

    assert type(error) is ServiceUnreachable
    assert str(error) == f"{dotted} was not imported within 0.2 s"


async def test_it_can_be_closed_while_the_child_starts(
    pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOW_IMPORT", str(pipe))
    async with closing(ProcessConnector(f"{HERE}.slow_import:word", name="s")) as connector:
        call = asyncio.create_task(connector.send([FakeRequest()]))
        await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])


PARENT = f"""
import asyncio
from prolocutor.connectors.process import ProcessConnector
from prolocutor.testing.fake_service import FakeRequest

async def main():
    connector = ProcessConnector("{HERE}.services:pid", name="s")
    (reply,) = await connector.send([FakeRequest()])
    print(reply.value, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_a_parent_that_is_killed_leaves_no_child() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()

    assert is_gone(child)


@pytest.fixture
def ignored() -> Iterator[None]:
    """Have this process ignore signals, as what starts it may have made it."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


async def test_a_child_does_not_inherit_that_signals_are_ignored(
    ignored: None, acting: ProcessConnector
) -> None:
    assert await value(acting, {"signals": "ignored"}) == []
