"""A synchronous user gets `prolocutor.run`."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest
import uvloop

import prolocutor
from prolocutor import Assistant, Pipeline, Service, run
from tests.unit.assistant.talks import echo
from tests.unit.pipeline.talk import settle_down


async def talk() -> str:
    async with Assistant(Pipeline(skills=[echo()]), store="memory:") as assistant:
        return (await assistant.reply("hi", user="ann")).text


async def which() -> type:
    return type(asyncio.get_running_loop())


def test_the_result_of_a_coroutine_is_given() -> None:
    assert prolocutor.run(talk()) == "re: hi"


def test_an_exception_of_the_coroutine_is_raised() -> None:
    async def raises() -> None:
        raise KeyError("no")

    with pytest.raises(KeyError):
        prolocutor.run(raises())


def test_uvloop_is_used_where_it_is_installed() -> None:
    assert prolocutor.run(which()) is uvloop.Loop


def test_without_uvloop_it_is_asyncios(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert issubclass(prolocutor.run(which()), asyncio.SelectorEventLoop)


def test_running_tasks_are_cancelled() -> None:
    cancelled = []

    async def left() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def leaves() -> None:
        leaves.task = asyncio.create_task(left())  # type: ignore[attr-defined]
        await asyncio.sleep(0)

    prolocutor.run(leaves())
    assert cancelled == [True]


async def test_within_a_running_loop_it_is_refused() -> None:
    work = talk()
    with pytest.raises(RuntimeError):
        prolocutor.run(work)
    work.close()


def stops_the_loop() -> None:
    asyncio.get_running_loop().stop()


def exits_in_a_callback() -> None:
    asyncio.get_running_loop().call_soon(sys.exit, 3)


def exits_in_a_task() -> None:
    async def leave() -> None:
        sys.exit(3)

    left_alone.append(asyncio.get_running_loop().create_task(leave()))


left_alone: list[asyncio.Task[None]] = []


@pytest.mark.parametrize("act", [stops_the_loop, exits_in_a_callback, exits_in_a_task])
@pytest.mark.parametrize("inline", [True, False])
def test_a_service_that_stops_the_event_loop_does_not_end_the_program(
    act: Callable[[], None], inline: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def odd(request: Any) -> dict[str, Any]:
        act()
        await asyncio.sleep(0)
        return {"text": "still here", "confidence": 1.0}

    def quick(request: Any) -> dict[str, Any]:
        act()
        return {"text": "still here", "confidence": 1.0}

    async def talk() -> list[str]:
        service = Service("odd", quick, inline=True) if inline else Service("odd", odd)
        async with Assistant(Pipeline(skills=[service]), store="memory:") as assistant:
            said = [(await assistant.reply("hi", user="ann")).text for _ in range(3)]
            await settle_down()
            return said

    assert run(talk()) == ["still here"] * 3
    assert "it goes on" in caplog.text
    if act is not exits_in_a_callback:  # nothing on the stack is the service's
        assert "by service odd; it goes on" in caplog.text


def test_a_program_that_exits_by_itself_exits() -> None:
    async def leave() -> None:
        sys.exit(3)

    with pytest.raises(SystemExit):
        run(leave())
