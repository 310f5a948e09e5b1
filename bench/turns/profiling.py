"""Where the time of a turn goes: cProfile over the standard pipeline, grouped by file.

cProfile makes small functions look dearer than they are, so the shares are a guide, no more; how
the time is split between the event loop and the store's thread is measured without it.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import json
import pstats
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
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
        "functions": dict(by_function.most_common(40)),
    }


def show(found: dict[str, Any]) -> None:
    """Prints what `profiled` found as tables."""
    print(f"{found['variant']}, {found['store']}: CPU microseconds a turn\n")
    print(split_table(found), "\n")
    print(f"Own time at {found['dialogs']} dialogs at once, C functions for their caller\n")
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
    count = max(2, 300 // at_once)
    async with Assistant(make_pipeline(variant), store=store_url(store, folder)) as assistant:
        await laps(assistant, "warm", 1, at_once)
        gc.collect()
        gc.callbacks.append(collector)
        whole, own = time.process_time(), time.thread_time()
        await laps(assistant, "split", count, at_once)
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
    """Own seconds by file and by function; JSON and SQLite by themselves."""
    profiles: list[cProfile.Profile] = []

    def begin(*_: Any) -> None:
        profile = cProfile.Profile()
        with suppress(ValueError):  # from 3.12 on only one thread can be watched
            profile.enable()
            profiles.append(profile)

    threading.setprofile(begin)  # for the store's threads; each gets a profile of its own
    try:
        async with Assistant(make_pipeline(variant), store=store_url(store, folder)) as assistant:
            await laps(assistant, "profiled-warm", 2, AT_ONCE)
            begin()
            await laps(assistant, "profiled", LAPS, AT_ONCE)
            profiles[-1].disable()
    finally:
        threading.setprofile(None)
    by_file: Counter[str] = Counter()
    by_function: Counter[str] = Counter()
    for profile in profiles:
        for file, function, seconds in own_times(pstats.Stats(profile)):
            by_file[file] += seconds
            by_function[f"{file}: {function}"] += seconds
    return by_file, by_function


def own_times(stats: pstats.Stats) -> Iterator[tuple[str, str, float]]:
    """Places with their own time: a C function's goes to those who called it."""
    for (file, _, name), (_, _, own, _, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if file != "~":
            yield place(file), name, own
        elif waits(name):
            continue
        elif "msgspec" in name:
            yield f"JSON {'decoding' if 'decode' in name else 'encoding'} (msgspec)", "", own
        elif "sqlite3." in name:
            yield "SQLite", "", own
        else:
            for (caller, _, caller_name), (_, _, its, _) in callers.items():
                yield place(caller), caller_name, its


def waits(name: str) -> bool:
    """Tell C functions that spend wall time asleep."""
    return any(word in name for word in ("acquire", "SimpleQueue", "select.", "run_forever"))


def place(file: str) -> str:
    path = Path(file)
    if path.is_relative_to(PACKAGE):
        return str(path.relative_to(PACKAGE))
    if "bench" in path.parts:
        return "the services themselves and the driver"
    return "asyncio and the rest of Python"


async def laps(assistant: Assistant, name: str, count: int, at_once: int) -> None:
    for lap in range(count):
        users = [f"{name}-{lap}-{number}" for number in range(at_once)]
        await asyncio.gather(*(talk(assistant, user, range(1, 11)) for user in users))


if __name__ == "__main__":
    main()
