"""Where the time of a turn goes: by thread, and by file of the package.

How it is split between the event loop and the store's thread is measured without a profiler. Then
cProfile watches the event loop alone (in the store's thread it would count the waiting for the disk
too). It makes small functions look dearer than they are, so the shares are a guide, no more.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import json
import pstats
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvloop

import prolocutor
from bench.turns.lengths import talk
from bench.turns.report import table
from bench.turns.runner import store_url
from bench.turns.workload import make_pipeline
from prolocutor import Assistant

AT_ONCE, LAPS = 10, 30
MANY = (1, 10, 100, 500)
TURNS_SPLIT = 3000
PACKAGE = Path(prolocutor.__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dir", type=Path, help="where the files are made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        print(json.dumps(profiled(Path(folder), "turn-inline", "sqlite")), flush=True)


def profiled(folder: Path, variant: str, store: str) -> dict[str, Any]:
    """CPU microseconds a turn by thread; own seconds by file and by function, most first."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        split = {}
        for at_once in MANY:
            with tempfile.TemporaryDirectory(dir=folder) as place:
                split[str(at_once)] = runner.run(threads(Path(place), variant, store, at_once))
        by_file, by_function = runner.run(places(folder, variant, store))
    return {
        "variant": variant,
        "store": store,
        "dialogs": AT_ONCE,
        "cpu_us_per_turn": split,
        "own_seconds": dict(by_file.most_common()),
        "functions": dict(by_function.most_common(60)),
    }


def show(found: dict[str, Any]) -> None:
    """Prints what `profiled` found as tables."""
    print(f"{found['variant']}, {found['store']}: CPU microseconds a turn\n")
    print(split_table(found), "\n")
    print(
        f"Own time of the event loop at {found['dialogs']} dialogs at once, "
        "C functions counted for their callers\n"
    )
    whole = sum(found["own_seconds"].values())
    for heading, key in (("file", "own_seconds"), ("function", "functions")):
        rows = [[name, f"{seconds / whole:.1%}"] for name, seconds in found[key].items()]
        print(table([heading, "share"], rows), "\n")


def split_table(found: dict[str, Any]) -> str:
    """CPU microseconds a turn by thread, and how much of them is garbage collection."""
    split = found["cpu_us_per_turn"]
    rows = [[at_once, *(f"{us:.0f}" for us in line.values())] for at_once, line in split.items()]
    return table(["dialogs at once", *next(iter(split.values()))], rows)


async def threads(folder: Path, variant: str, store: str, at_once: int) -> dict[str, float]:
    """CPU microseconds a turn of the event loop's thread, of all others, and of the collector."""
    collector = Collector()
    count = max(1, TURNS_SPLIT // 10 // at_once)
    async with Assistant(make_pipeline(variant), store=store_url(store, folder)) as assistant:
        await laps(assistant, variant, "warm", 1, at_once)
        gc.collect()
        gc.callbacks.append(collector)
        whole, own = time.process_time(), time.thread_time()
        await laps(assistant, variant, "split", count, at_once)
        whole, own = time.process_time() - whole, time.thread_time() - own
        gc.callbacks.remove(collector)
    split = {
        "event loop": own,
        "store and others": whole - own,
        "of both garbage collection": collector.seconds,
    }
    return {name: seconds * 1e6 / (at_once * count * 10) for name, seconds in split.items()}


class Collector:
    """A callback of the garbage collector that sums the time it takes."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """Is called at the start and at the end of each collection."""
        del info
        self.seconds += -time.thread_time() if phase == "start" else time.thread_time()


async def places(folder: Path, variant: str, store: str) -> tuple[Counter[str], Counter[str]]:
    """Own seconds of the event loop's thread, by file and by function; JSON by itself."""
    profile = cProfile.Profile()
    async with Assistant(make_pipeline(variant), store=store_url(store, folder)) as assistant:
        await laps(assistant, variant, "profiled-warm", 2, AT_ONCE)
        profile.enable()
        await laps(assistant, variant, "profiled", LAPS, AT_ONCE)
        profile.disable()
    by_file: Counter[str] = Counter()
    by_function: Counter[str] = Counter()
    for file, function, seconds in own_times(pstats.Stats(profile)):
        by_file[file] += seconds
        by_function[f"{file}: {function}"] += seconds
    return by_file, by_function


def own_times(stats: pstats.Stats) -> Iterator[tuple[str, str, float]]:
    """Places with their own time: a C function's goes to those who called it."""
    for (file, _, name), (_, _, own, _, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if file != "~":
            yield place(file), name, own
        elif "msgspec" in name:
            yield f"JSON {'decoding' if 'decode' in name else 'encoding'} (msgspec)", "", own
        else:
            for (caller, _, caller_name), (_, _, its, _) in callers.items():
                yield place(caller), caller_name, its


def place(file: str) -> str:
    path = Path(file)
    if path.is_relative_to(PACKAGE):
        return str(path.relative_to(PACKAGE))
    if "bench" in path.parts:
        return "the services themselves and the driver"
    return "asyncio and the rest of Python"


async def laps(assistant: Assistant, variant: str, name: str, count: int, at_once: int) -> None:
    for lap in range(count):
        users = [f"{name}-{lap}-{number}" for number in range(at_once)]
        talks = (talk(assistant, user, range(1, 11), variant) for user in users)
        await asyncio.gather(*talks)


if __name__ == "__main__":
    main()
