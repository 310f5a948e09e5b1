"""Background tasks have one owner, which names, watches and joins them."""

import asyncio
import logging

import pytest

from prolocutor.background import BackgroundTasks, beside


async def fails() -> None:
    raise ValueError("oops")


async def hangs() -> None:
    await asyncio.Event().wait()


async def test_a_task_is_named_after_its_owner_and_counted_while_it_runs() -> None:
    tasks = BackgroundTasks("upkeep")
    task = tasks.start(asyncio.sleep(0, "done"))

    assert task.get_name() == "upkeep"
    assert len(tasks) == 1
    assert bool(tasks) is True
    assert await task == "done"
    assert not tasks


async def test_a_failure_is_logged_unless_somebody_awaits_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks = BackgroundTasks("upkeep")
    tasks.start(fails())
    await tasks.wait_until_ended()
    await asyncio.sleep(0)
    assert [(record.levelno, record.message) for record in caplog.records] == [
        (logging.ERROR, "upkeep failed")
    ]

    caplog.clear()
    with pytest.raises(ValueError, match="oops"):
        await tasks.start(fails(), awaited=True)
    assert not caplog.records


async def test_waiting_for_the_end_has_an_end() -> None:
    tasks = BackgroundTasks("upkeep")
    tasks.start(hangs())

    assert not await tasks.wait_until_ended(0.01)
    await tasks.aclose(grace=0.01)
    assert await tasks.wait_until_ended()


async def test_closing_cancels_what_runs_and_waits_for_its_end() -> None:
    cleaned = False

    async def cleans_up() -> None:
        nonlocal cleaned
        try:
            await hangs()
        finally:
            await asyncio.sleep(0)
            cleaned = True

    tasks = BackgroundTasks("upkeep")
    tasks.start(cleans_up())
    await asyncio.sleep(0)
    await tasks.aclose()

    assert cleaned


async def test_work_beside_a_block_ends_with_it() -> None:
    with beside(hangs()) as task:
        await asyncio.sleep(0)
        assert not task.done()
    await asyncio.wait([task])

    assert task.cancelled()
