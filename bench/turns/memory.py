"""How much memory idle dialogs keep: growth of the resident set over many of them; prints JSON.

python -m bench.turns.memory --store sqlite --dir FOLDER
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import subprocess
import tempfile
from pathlib import Path

import uvloop

from bench.turns.lengths import talk
from bench.turns.runner import store_url
from bench.turns.workload import make_pipeline
from prolocutor import Assistant

TURNS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--store", choices=["sqlite", "memory"], default="sqlite")
    parser.add_argument("--dir", type=Path, help="where the file is made")
    parser.add_argument("--people", type=int, default=10_000)
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        grown = runner.run(growth(options))
    line = {"store": options.store, "people": options.people, "turns_each": TURNS}
    for name, kib in grown.items():
        line[f"kib_per_1000_{name}"] = round(kib * 1000 / options.people, 1)
    print(json.dumps(line), flush=True)


async def growth(options: argparse.Namespace) -> dict[str, float]:
    """KiB by which the process grew while so many people talked, and then as many others."""
    grown = {}
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        store = store_url(options.store, Path(folder))
        async with Assistant(
            make_pipeline("turn-inline"), store=store, durability="relaxed"
        ) as assistant:
            await everybody(assistant, "warm", 200)
            for name in ("first", "second"):
                before = resident_kib()
                await everybody(assistant, name, options.people)
                grown[name] = resident_kib() - before
    return grown


async def everybody(assistant: Assistant, name: str, people: int) -> None:
    for start in range(0, people, 100):
        some = range(start, min(start + 100, people))
        users = [f"{name}-{number}" for number in some]
        await asyncio.gather(*(talk(assistant, user, range(1, TURNS + 1)) for user in users))


def resident_kib() -> float:
    """The resident set of this process now."""
    gc.collect()
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024
    words = ["ps", "-o", "rss=", "-p", str(os.getpid())]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main()
