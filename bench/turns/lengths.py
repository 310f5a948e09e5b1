"""What a turn costs by the length of its dialog, and in a file of 100,000 dialogs; prints JSON.

    python -m bench.turns.lengths long --dir FOLDER
    python -m bench.turns.lengths people --dir FOLDER --people 100000

`long`: ten dialogs at a time, ten turns of each from turn 10, 100, 500 and 5,000, one after the
other and all again in the next lap, so that they see the same machine. `people`: a restart, then
turns of people who have not spoken since, ten at a time, in turns with the same in a small file.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import uvloop

from bench.turns.bulk import fill, kept
from bench.turns.workload import make_pipeline, said
from prolocutor import Assistant

AT_ONCE = 10
VARIANT = "turn-inline"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["long", "people"])
    parser.add_argument("--dir", type=Path, required=True, help="where the files are made")
    parser.add_argument("--laps", type=int, default=8)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--marks", type=int, nargs="+", default=[10, 100, 500, 5000])
    options = parser.parse_args()
    work = {"long": by_length, "people": after_restart}[options.what]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(work(options))), flush=True)


async def by_length(options: argparse.Namespace) -> dict[str, Any]:
    """CPU ms of a turn at each mark, one figure a lap."""
    marks: list[int] = options.marks
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        path = Path(folder) / "long.db"
        await fill(path, dialogs_to_make(marks, options.laps))
        async with Assistant(make_pipeline(VARIANT), store=f"sqlite:///{path}") as assistant:
            await warmed(assistant)
            laps = [
                {
                    mark: await spent(assistant, talkers(mark, marks, lap), range(mark, mark + 10))
                    for mark in marks
                }
                for lap in range(options.laps)
            ]
    return {"laps": laps}


def dialogs_to_make(marks: list[int], laps: int) -> Iterator[tuple[str, int]]:
    """The longest first, as one dialog is written by one lane."""
    for mark in sorted(marks, reverse=True):
        users = {user: None for lap in range(laps) for user in talkers(mark, marks, lap)}
        yield from ((user, mark - 1) for user in users)


def talkers(mark: int, marks: list[int], lap: int) -> list[str]:
    """The ten who reach this mark in a lap; the longest dialogs are taken up again in each."""
    if mark == max(marks):
        lap = 0
    return [f"lap{lap}-{mark}-{number}" for number in range(AT_ONCE)]


async def after_restart(options: argparse.Namespace) -> dict[str, Any]:
    """CPU ms of somebody's first turn since the restart: in a big file, and in a small one."""
    big = await kept(options.dir, options.people)
    laps = []
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        small = Path(folder) / "small.db"
        count = options.laps * 100
        await fill(small, ((f"person-{number}", 1) for number in range(count)))
        async with AsyncExitStack() as stack:
            assistants = {}
            for name, path in (("small", small), ("big", big)):
                store, pipeline = f"sqlite:///{path}", make_pipeline(VARIANT)
                assistants[name] = await stack.enter_async_context(Assistant(pipeline, store=store))
                await warmed(assistants[name])
            chosen = {
                "small": random.sample(range(count), count),
                "big": random.sample(range(options.people), count),
            }
            for lap in range(options.laps):
                figures = {}
                for name, assistant in assistants.items():
                    some = chosen[name][lap * 100 : lap * 100 + 100]
                    figures[name] = await first_turns(assistant, some)
                laps.append(figures)
    return {"laps": laps, "people": options.people, "file_mb": round(big.stat().st_size / 1e6, 1)}


async def first_turns(assistant: Assistant, people: list[int]) -> float:
    """CPU ms a turn, ten people at a time, one turn of each."""
    gc.collect()
    before = time.process_time()
    for start in range(0, len(people), AT_ONCE):
        some = people[start : start + AT_ONCE]
        await asyncio.gather(*(talk(assistant, f"person-{one}", range(2, 3)) for one in some))
    return (time.process_time() - before) * 1000 / len(people)


async def spent(assistant: Assistant, users: list[str], numbers: range) -> float:
    """CPU ms a turn of these people, all at a time."""
    gc.collect()
    before = time.process_time()
    await asyncio.gather(*(talk(assistant, user, numbers) for user in users))
    return (time.process_time() - before) * 1000 / (len(users) * len(numbers))


async def warmed(assistant: Assistant) -> None:
    await spent(assistant, [f"warm-{number}" for number in range(AT_ONCE)], range(1, 6))


async def talk(assistant: Assistant, user: str, numbers: range, variant: str = VARIANT) -> None:
    for number in numbers:
        text, reply = said(variant, user, number)
        assert (await assistant.turn(text, user=user)).reply.text == reply


if __name__ == "__main__":
    main()
