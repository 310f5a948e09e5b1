"""A synchronous user gets `prolocutor.run`."""

import asyncio
import sys

import pytest
import uvloop

import prolocutor
from prolocutor import Assistant, Pipeline
from tests.unit.assistant.talks import echo


async def talk() -> str:
    async with Assistant(Pipeline(skills=[echo()]), store="memory:") as assistant:
        return (await assistant.reply("hi", user="ann")).text


async def which() -> type:
    return type(asyncio.get_running_loop())


def test_the_result_of_a_coroutine_is_given() -> None:
    assert prolocutor.run(talk()) == "re: hi"


def test_what_a_coroutine_raises_is_raised() -> None:
    async def raises() -> None:
        raise KeyError("no")

    with pytest.raises(KeyError):
        prolocutor.run(raises())


def test_uvloop_is_used_where_it_is_installed() -> None:
    assert prolocutor.run(which()) is uvloop.Loop


def test_without_uvloop_it_is_asyncios(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert issubclass(prolocutor.run(which()), asyncio.SelectorEventLoop)


def test_what_was_left_running_is_cancelled() -> None:
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
