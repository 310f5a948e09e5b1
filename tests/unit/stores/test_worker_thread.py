"""The thread of the SQLite store: what goes in together comes back together."""

from __future__ import annotations

import asyncio
from typing import Any

from prolocutor.stores.sqlite.worker_thread import StoreJob, WorkerThread


class Runner:
    """Does each job by itself."""

    def open(self) -> None:
        pass

    def run(self, jobs: list[StoreJob]) -> list[Any]:
        return [function(*args) for function, args in jobs]

    def close(self) -> None:
        pass


async def iterations_of(within: float, *functions: Any) -> list[int]:
    """Return in which iteration of the loop each look-up came back, counted from the first."""
    thread = WorkerThread("reader", Runner(), at_most=1, within=within)
    await thread.started
    came: list[int] = []
    count = 0

    def turn() -> None:
        nonlocal count
        count += 1
        asyncio.get_running_loop().call_soon(turn)

    turn()
    found = [thread.submit(function, n) for n, function in enumerate(functions)]
    for one in found:
        one.add_done_callback(lambda _: came.append(count))
    assert await asyncio.gather(*found) == list(range(len(functions)))
    await thread.stop()
    return [one - came[0] for one in came]


def same(n: int) -> int:
    return n


async def test_look_ups_of_one_kind_come_back_in_one_iteration_of_the_loop() -> None:
    assert await iterations_of(60, *[same] * 10) == [0] * 10


async def test_a_look_up_of_another_kind_is_not_waited_for() -> None:
    release = asyncio.Event()
    loop = asyncio.get_running_loop()
    thread = WorkerThread("reader", Runner(), at_most=1, within=60)
    await thread.started

    def slow(n: int) -> int:
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
        return n

    first, second = thread.submit(same, 1), thread.submit(slow, 2)
    assert await first == 1
    assert not second.done()
    release.set()
    assert await second == 2
    await thread.stop()
