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
        split = runner.run(threads(folder, variant, store))
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
    print(f"{found['variant']}, {found['store']}, {found['dialogs']} dialogs at once\n")
    split = [[name, f"{us:.0f}"] for name, us in found["cpu_us_per_turn"].items()]
    print(table(["thread", "CPU us a turn"], split), "\n")
    whole = sum(found["own_seconds"].values())
    for heading, key in (("file", "own_seconds"), ("function", "functions")):
        rows = [[name, f"{seconds / whole:.1%}"] for name, seconds in found[key].items()]
        print(table([f"{heading} (own time; C functions for their caller)", "share"], rows), "\n")


async def threads(folder: Path, variant: str, store: str) -> dict[str, float]:
    """CPU microseconds a turn of the event loop's thread, and of all others."""
    async with Assistant(make_pipeline(variant), store=store_url(store, folder)) as assistant:
        await laps(assistant, "warm", 2)
        gc.collect()
        whole, own = time.process_time(), time.thread_time()
        await laps(assistant, "split", LAPS)
        whole, own = time.process_time() - whole, time.thread_time() - own
    count = AT_ONCE * LAPS * 10 / 1e6
    return {"event loop": own / count, "store and others": (whole - own) / count}


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
            await laps(assistant, "profiled-warm", 2)
            begin()
            await laps(assistant, "profiled", LAPS)
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


async def laps(assistant: Assistant, name: str, count: int) -> None:
    for lap in range(count):
        users = [f"{name}-{lap}-{number}" for number in range(AT_ONCE)]
        await asyncio.gather(*(talk(assistant, user, range(1, 11)) for user in users))


if __name__ == "__main__":
    main()
