"""Running measurements in turns, ours and the neighbours', and comparing them pair by pair."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.peers.setup import python_of

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench" / "peers"
LIMIT = 600

Line = dict[str, Any]


class Failed(Exception):
    """A runner gave no figures; the text is the last it said."""


@dataclass(frozen=True)
class Entry:
    """One runner with its arguments; `site` is where it finds us first."""

    name: str
    command: tuple[str, ...]
    ours: bool
    site: Path | None = None


@dataclass(frozen=True)
class Setting:
    """How the whole benchmark is run: where, how often, with whom.

    `compiled` is the folder of an installed compiled wheel, None where there is none.
    """

    folder: Path
    rounds: int = 3
    peers: bool = False
    quick: bool = False
    compiled: Path | None = None

    def ours(self, name: str, *words: object) -> Entry:
        """Our runner with these arguments."""
        command = (sys.executable, "-m", "bench.turns.runner", "--dir", str(self.folder))
        return Entry(name, (*command, *map(str, words)), ours=True)

    def ours_compiled(self, name: str, *words: object) -> list[Entry]:
        """Our runner with the compiled wheel; nothing where there is none."""
        if self.compiled is None:
            return []
        return [replace(self.ours(name, *words), site=self.compiled)]

    def bare(self, name: str, *words: object) -> Entry:
        """A client that makes the calls of a turn, and nothing else."""
        command = (sys.executable, "-m", "bench.turns.bare")
        return Entry(name, (*command, *map(str, words)), ours=False)

    def theirs(self, peer: str, name: str, *words: object) -> list[Entry]:
        """A neighbour's runner; nothing where neighbours are not run."""
        if not self.peers:
            return []
        runner = PEERS / f"run_{peer.replace('-', '_')}.py"
        return [Entry(name, (str(python_of(peer)), str(runner), *map(str, words)), ours=False)]


@dataclass(frozen=True)
class Span:
    """The middle of some figures, and the least and most of them."""

    middle: float
    least: float
    most: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Span | None:
        """None where there are no figures."""
        if not figures:
            return None
        return cls(statistics.median(figures), min(figures), max(figures))


@dataclass(frozen=True)
class Results:
    """The lines of each entry, one a round; None where it failed."""

    lines: dict[str, list[Line | None]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def span(self, name: str, key: str) -> Span | None:
        """One entry's figures of one kind."""
        return Span.of([line[key] for line in self.lines[name] if line and key in line])

    def ratio(self, name: str, other: str, key: str = "cpu_ms_per_turn") -> Span | None:
        """One entry's figures as shares of another's, round by round."""
        pairs = zip(self.lines.get(name, ()), self.lines.get(other, ()), strict=False)
        return Span.of([mine[key] / its[key] for mine, its in pairs if mine and its])

    def raw(self) -> dict[str, Any]:
        """All of it as JSON can say it."""
        return {"lines": self.lines, "failures": self.failures}


def shares(figures: list[float], others: list[float]) -> Span | None:
    """Each figure as a share of the one beside it."""
    return Span.of([one / other for one, other in zip(figures, others, strict=True)])


def middle(span: Span | None) -> float | None:
    """The middle, where there is one."""
    return None if span is None else span.middle


def race(entries: Sequence[Entry], rounds: int) -> Results:
    """Runs every entry once, then all again: so each round's figures saw the same machine."""
    results = Results({entry.name: [] for entry in entries})
    for number in range(rounds):
        for entry in entries:
            try:
                line: Line | None = run(entry.command, entry.site)
                said = f"{line['cpu_ms_per_turn']:.3f} CPU ms" if line else ""
            except Failed as error:
                line, said = None, f"failed: {error}"
                results.failures[entry.name] = str(error)
            results.lines[entry.name].append(line)
            tell(f"  round {number + 1}: {entry.name}: {said}")
    return results


def run(command: Sequence[str], site: Path | None = None) -> Line:
    """Gives the JSON line that a runner prints; it finds us in `site` first."""
    path = [] if str(PEERS) in command[1] else [*([site] if site else []), ROOT]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=LIMIT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(type(error).__name__) from None
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        raise Failed((done.stderr.splitlines() or [f"exit status {done.returncode}"])[-1][:300])
    return json.loads(lines[-1])


def module(name: str, *words: object) -> Line:
    """Gives the JSON line of one of our own measuring modules."""
    return run((sys.executable, "-m", f"bench.turns.{name}", *map(str, words)))


def tell(text: str) -> None:
    """Says on standard error how far it is."""
    print(text, file=sys.stderr, flush=True)
