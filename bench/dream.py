"""What a turn of DREAM's pipelines costs our process, and whether it grows with the dialog.

    python bench/dream.py --pipelines FOLDER --fake FILE
    python bench/dream.py --pipelines FOLDER --fake FILE --only dream_mini --turns 100
    python bench/dream.py --pipelines FOLDER --fake FILE --dream DIR

FOLDER holds pipeline files by name, FILE is the program that plays all their services on one port
(`fake_dream.py`); neither is part of this repository. Each pipeline is served by the real command
with its dialogs in memory, and one person talks to it for many turns. CPU time is that of the
server's process alone, from /proc. "Late beside early" compares the turns around the last one with
those around the fifth: the median of several pieces of a dialog, each of so many turns.

All agents use our formatters; with `--dream DIR`, a folder of DREAM's code, they are measured with
DREAM's own, too. Empty modules stand in for `sentry_sdk`, `requests`
and `inflect`, which it imports.

Where `python bench/peers/setup.py dp-agent` has built its environment, DeepPavlov Agent 2.2.0 runs
beside ours on the same services. It cannot load these files by itself: `peers/run_dp_dream.py` says
what is put in, and what is left out. Its dialogs are in memory, too.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PIPELINES = ("dream_mini", "dream")
PEERS = Path(__file__).resolve().parent / "peers"
DP_AGENT = PEERS.parent / ".peers" / "dp-agent" / "bin" / "python"
PIECE = 10
ADDRESS = re.compile(r"http://[^\s/]+")
SAID = "I work in Berlin and I like films number {}"


STAND_IN = """
class RequestException(Exception): pass
class auth:
    AuthBase = object
class engine:
    def number_to_words(self, number): return str(number)
def init(*_, **__): pass
"""


def commands(file: Path, dream: Path | None) -> dict[str, list[str]]:
    """Return how to serve a file, by the name of the agent."""
    ours = [sys.executable, "-m", "prolocutor", "serve", str(file)]
    own = [] if dream is None else ["--dream", str(dream)]
    found = {"Prolocutor": [*ours, *own, "--store", "memory:", "--port", "0"]}
    if DP_AGENT.is_file():
        theirs = [str(DP_AGENT), str(PEERS / "run_dp_dream.py"), str(file)]
        found["dp-agent 2.2.0"] = theirs if dream is None else [*theirs, str(dream)]
    return found


def copied(dream: Path, place: Path) -> Path:
    """Return a copy of DREAM's code with what it imports and need not be installed."""
    copy = place / "dream"
    for name in ("common", "state_formatters"):
        for file in sorted((dream / name).rglob("*")):
            if file.is_file():
                new = copy / name / file.relative_to(dream / name)
                new.parent.mkdir(parents=True, exist_ok=True)
                new.write_bytes(file.read_bytes())
    for name in ("sentry_sdk", "requests", "common/inflect"):
        (copy / f"{name}.py").write_text(STAND_IN)
    for line in next(dream.glob("*env*")).read_text().splitlines():
        name, _, value = line.partition("=")
        os.environ.setdefault(name, value)
    return copy


@contextmanager
def served(command: list[str]) -> Iterator[tuple[str, int]]:
    """Run a command that serves; yield its address and its process id."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        found = next(filter(None, map(ADDRESS.search, process.stdout)), None)
        if found is None:
            raise SystemExit("the server did not start")
        try:
            yield found[0], process.pid
        finally:
            process.terminate()


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of all threads of a process so far."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


class Measured(NamedTuple):
    """What the turns of one agent came to: calls a turn, CPU milliseconds a turn of each piece."""

    calls: float
    pieces: list[float]

    @property
    def growth(self) -> float:
        """Late turns beside early ones."""
        return statistics.median(self.pieces[-3:]) / statistics.median(self.pieces[:3])


def measured(services: Any, fake_dream: Any, command: list[str], turns: int) -> Measured:
    """Talk to an agent for so many turns."""
    services.take()
    with served(command) as (agent, pid):
        pieces, before = [], 0.0
        for turn in range(1, turns + 1):
            body = {"user_id": "ann", "payload": SAID.format(turn)}
            status, _ = fake_dream.post(f"{agent}/", body)
            if status != 200:
                raise SystemExit(f"turn {turn} got status {status}")
            if turn % PIECE == 0:
                now = cpu_seconds(pid)
                pieces.append((now - before) / PIECE * 1000)
                before = now
    return Measured(len(services.take()) / turns, pieces[1:])  # the first piece warms up


def compared(
    fake_dream: Any, folder: Path, name: str, turns: int, dream: Path | None
) -> Iterator[str]:
    """Measure every agent on one pipeline; yield the rows of the table."""
    pipeline = fake_dream.load(folder / f"{name}.json")
    services = fake_dream.Fake(pipeline, gap=0.0).start(0)
    address = f"http://127.0.0.1:{services.server.server_address[1]}"
    number = sum(1 for _ in fake_dream.services(pipeline))
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "pipeline_conf.json"
        file.write_text(json.dumps(fake_dream.rewrite(pipeline, address)))
        formatters: dict[str, Path | None] = {"ours": None}
        if dream is not None:
            formatters["DREAM's"] = copied(dream, Path(place))
        for whose, own in formatters.items():
            for agent, command in commands(file, own).items():
                found = measured(services, fake_dream, command, turns)
                cost = statistics.median(found.pieces)
                figures = f"{found.calls:.1f} | {cost:.1f} | {found.growth:.2f}"
                yield f"| {name} | {number} | {agent} | {whose} | {figures} |"
    services.server.shutdown()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pipelines", type=Path, required=True)
    parser.add_argument("--fake", type=Path, required=True)
    parser.add_argument("--only", action="append")
    parser.add_argument("--turns", type=int, default=120)
    parser.add_argument("--dream", type=Path)
    given = parser.parse_args()
    spec = importlib.util.spec_from_file_location("fake_dream", given.fake)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{given.fake} cannot be imported")
    fake_dream = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fake_dream)
    heads = (
        "pipeline services agent formatters calls_a_turn CPU_ms_a_turn late_beside_early".split()
    )
    print("|", " | ".join(heads).replace("_", " "), "|\n" + "|---" * len(heads) + "|")
    for name in given.only or PIPELINES:
        for row in compared(fake_dream, given.pipelines, name, given.turns, given.dream):
            print(row, flush=True)


if __name__ == "__main__":
    main()
