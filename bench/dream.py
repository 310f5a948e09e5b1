"""What a turn of DREAM's pipelines costs our process, and whether it grows with the dialog.

    python bench/dream.py --pipelines FOLDER --fake FILE
    python bench/dream.py --pipelines FOLDER --fake FILE --only dream_mini --turns 100

FOLDER holds pipeline files by name, FILE is the program that plays all their services on one port
(`fake_dream.py`); neither is part of this repository. Each pipeline is served by the real command
with its dialogs in memory, and one person talks to it for many turns. CPU time is that of the
server's process alone, from /proc. "Late beside early" compares the turns around the last one with
those around the fifth: the median of several pieces of a dialog, each of so many turns.

DeepPavlov Agent itself is not run here: 2.2.0, its last release on a package index, cannot load
these files, and its development line needs DREAM's own code for their formatters.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PIPELINES = ("dream_mini", "dream")
PIECE = 10
SAID = "I work in Berlin and I like films number {}"


@contextmanager
def served(file: Path) -> Iterator[tuple[str, int]]:
    """Serve a file by the command; yield its address and its process id."""
    command = [sys.executable, "-m", "prolocutor", "serve", str(file)]
    with subprocess.Popen(
        [*command, "--store", "memory:", "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            raise SystemExit("the server did not start")
        try:
            yield found[0], process.pid
        finally:
            process.terminate()


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of all threads of a process so far."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(one.read_text().split()[0]) for one in threads) / 1e9


def measured(fake_dream: Any, folder: Path, name: str, turns: int) -> tuple[int, list[float]]:
    """Return the number of services, and the CPU milliseconds a turn of each piece."""
    pipeline = fake_dream.load(folder / f"{name}.json")
    services = fake_dream.Fake(pipeline, gap=0.0).start(0)
    address = f"http://127.0.0.1:{services.server.server_address[1]}"
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "pipeline_conf.json"
        file.write_text(json.dumps(fake_dream.rewrite(pipeline, address)))
        with served(file) as (agent, pid):
            pieces, before = [], 0.0
            for turn in range(1, turns + 1):
                body = {"user_id": "ann", "payload": SAID.format(turn)}
                status, _ = fake_dream.post(f"{agent}/", body)
                if status != 200:
                    raise SystemExit(f"{name}: turn {turn} got status {status}")
                if turn % PIECE == 0:
                    now = cpu_seconds(pid)
                    pieces.append((now - before) / PIECE * 1000)
                    before = now
    services.server.shutdown()
    return sum(1 for _ in fake_dream.services(pipeline)), pieces[1:]  # the first piece warms up


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pipelines", type=Path, required=True)
    parser.add_argument("--fake", type=Path, required=True)
    parser.add_argument("--only", action="append")
    parser.add_argument("--turns", type=int, default=120)
    given = parser.parse_args()
    spec = importlib.util.spec_from_file_location("fake_dream", given.fake)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{given.fake} cannot be imported")
    fake_dream = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fake_dream)
    print("| pipeline | services | CPU ms a turn | late beside early |")
    print("|---|---|---|---|")
    for name in given.only or PIPELINES:
        number, pieces = measured(fake_dream, given.pipelines, name, given.turns)
        early, late = statistics.median(pieces[:3]), statistics.median(pieces[-3:])
        print(
            f"| {name} | {number} | {statistics.median(pieces):.1f} | {late / early:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
