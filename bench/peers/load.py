"""The load that every neighbour gets: N dialogs at a time, M turns each, measured from outside."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Turn = Callable[[str, int], Awaitable[None]]
"""Takes one turn (user, number of the turn in the dialog from 1); raises if the reply is wrong."""

Prepare = Callable[[str, int], Awaitable[None]]
"""Brings the dialog of a user to just before the turn of that number."""


@dataclass(frozen=True)
class Usage:
    """What a process has used so far: CPU seconds, and the most memory it ever held, in MiB."""

    cpu: float
    rss: float


class WrongReply(Exception):
    """A neighbour said something else than the load expects: what it measured is worth nothing."""


Meter = Callable[[], Awaitable[Usage]]


@dataclass(frozen=True)
class Load:
    """How many turns are taken: rounds of fresh dialogs, all dialogs of a round at a time."""

    dialogs: int
    turns: int
    warmup: int
    rounds: int
    from_turn: int
    limit: float

    @property
    def total(self) -> int:
        return self.dialogs * self.turns * self.rounds


@dataclass(frozen=True)
class Figures:
    """What the measured turns took together."""

    cpu: float
    wall: float
    rss: float


def parser(variants: list[str]) -> argparse.ArgumentParser:
    """The arguments that all runners share."""
    made = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    made.add_argument("--dialogs", type=positive, default=10, help="dialogs at a time")
    made.add_argument("--turns", type=positive, default=10, help="measured turns of each dialog")
    made.add_argument("--warmup", type=int, default=50, help="turns before, in other dialogs")
    made.add_argument("--rounds", type=positive, default=1, help="again with fresh dialogs")
    made.add_argument("--from-turn", type=positive, default=1, help="the first measured turn")
    made.add_argument("--limit", type=float, default=300.0, help="seconds before giving up")
    made.add_argument("--variant", choices=variants, default=variants[0], help="what is measured")
    return made


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def load_of(options: argparse.Namespace) -> Load:
    return Load(
        dialogs=options.dialogs,
        turns=options.turns,
        warmup=options.warmup,
        rounds=options.rounds,
        from_turn=options.from_turn,
        limit=options.limit,
    )


async def own_usage() -> Usage:
    """What this process has used."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Usage(cpu=time.process_time(), rss=most / (2**20 if sys.platform == "darwin" else 1024))


async def measure(
    load: Load,
    make_turn: Callable[[], Turn],
    *,
    prepare: Prepare | None = None,
    meter: Meter = own_usage,
) -> Figures:
    """Drives the load and sums CPU and wall time over the measured turns only."""
    turn = make_turn()
    for number in range(load.warmup):
        await turn(f"warm-{number // 5}-{number // 5 % 10}", number % 5 + 1)
    cpu = wall = 0.0
    for at in range(load.rounds):
        if at:
            turn = make_turn()
        users = [f"round{at}-{dialog}" for dialog in range(load.dialogs)]
        if load.from_turn > 1:
            for user in users:
                await go_to(user, load.from_turn, turn, prepare)
        gc.collect()
        before, started = await meter(), time.perf_counter()
        await asyncio.gather(*(dialog(turn, user, load) for user in users))
        wall += time.perf_counter() - started
        cpu += (await meter()).cpu - before.cpu
    return Figures(cpu=cpu, wall=wall, rss=(await meter()).rss)


async def go_to(user: str, number: int, turn: Turn, prepare: Prepare | None) -> None:
    if prepare is not None:
        await prepare(user, number)
        return
    for earlier in range(1, number):
        await turn(user, earlier)


async def dialog(turn: Turn, user: str, load: Load) -> None:
    """The turns of one person, one at a time."""
    for number in range(load.from_turn, load.from_turn + load.turns):
        await turn(user, number)


def run(peer: str, version: str, variant: str, load: Load, job: Awaitable[Figures]) -> None:
    """Waits for the figures and prints them as the one line on standard output."""

    async def bounded() -> Figures:
        async with asyncio.timeout(load.limit):
            return await job

    try:
        with contextlib.redirect_stdout(sys.stderr):
            figures = asyncio.run(bounded())
    except TimeoutError:
        raise SystemExit(f"{peer} ({variant}): not done after {load.limit:g} s") from None
    except WrongReply as error:
        raise SystemExit(f"{peer} ({variant}): {error}") from None
    line = {
        "peer": peer,
        "version": version,
        "variant": variant,
        "dialogs": load.dialogs,
        "turns": load.total,
        "from_turn": load.from_turn,
        "cpu_ms_per_turn": round(figures.cpu * 1000 / load.total, 4),
        "wall_ms_per_turn": round(figures.wall * 1000 / load.total, 4),
        "max_rss_mb": round(figures.rss, 1),
    }
    print(json.dumps(line), flush=True)
