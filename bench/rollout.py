"""Measures estimates of rollouts on BBAI, where the right agents of every question are known.

    python bench/rollout.py BBAI-FOLDER [--logs 1000] [--turns 1000] [--looks 20] [--latency]

People are simulated: each asks five questions, three of them of one domain, gets the old or the new
service for all of them, and says whether the reply was right. For each pair of services, and a
share of 10 and of 50 % of the people, prints the bias of three estimators of the gain, how often
their 95 % intervals hold the true gain, how wide they are, how often a rollout was stopped in the
course of a log that was looked at again and again, and after how many turns. With `--latency`
prints how long turns take with shadows beside those without, in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from prolocutor import Assistant, Pipeline, Skill
from prolocutor.contracts.pairing import LabelledQuestion, TrainingData
from prolocutor.plan.pipeline import Shadow
from prolocutor.plugins.pairing.measuring.fitting import fit_method, probabilities
from prolocutor.plugins.pairing.measuring.pairing_data import load_pairing_data
from prolocutor.plugins.rollout.estimates import (
    LoggedTurn,
    TrialEstimates,
    TrialLog,
    estimate,
    estimate_always,
)
from prolocutor.plugins.rollout.turn_trials import TurnTrials

SHARES = (0.1, 0.5)
QUESTIONS_EACH = 5


class Service(msgspec.Struct, frozen=True):
    """What a service is worth: by question, whether its reply is right, and what a router says."""

    right: list[float]
    score: list[float]


class Pair(msgspec.Struct, frozen=True):
    """An old and a new service; `domains` are the places of the questions by domain."""

    name: str
    old: Service
    new: Service
    domains: list[list[int]]

    @property
    def gain(self) -> float:
        """The true gain of the new service over all questions."""
        return statistics.fmean(self.new.right) - statistics.fmean(self.old.right)


class LogOutcome(msgspec.Struct, frozen=True):
    """What one simulated log came to: the estimates at its end, and when it was stopped."""

    estimates: TrialEstimates
    stopped: int | None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--logs", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--latency", action="store_true")
    options = parser.parse_args()
    if options.latency:
        asyncio.run(measure_latency())
        return
    head = f"{'':<28}{'share':>6}{'gain':>7}"
    for name in ("inverse", "normalized", "robust"):
        head += f"  {name + ': bias':>16} {'covers':>7} {'width':>6}"
    print(f"{head}  {'stopped':>8} {'turns':>6}")
    with ProcessPoolExecutor() as pool:
        for pair in pairs_of(options.folder):
            for share in SHARES:
                run = partial(simulated, pair, share, options.turns, options.looks)
                found = [*pool.map(run, range(options.logs), chunksize=20)]
                print(line_of(pair, share, found), flush=True)


def pairs_of(folder: Path) -> list[Pair]:
    """Return what is compared: an agent with itself, two agents, two routers."""
    data = load_pairing_data(f"bbai:{folder}", [])
    asked, cards = data.test, data.cards
    training = TrainingData(cards=cards, labelled=data.learn)
    learned, plain = (asyncio.run(routed(name, training, asked)) for name in ("learned", "cards"))
    places: Mapping[str, list[int]] = defaultdict(list)
    for at, one in enumerate(asked):
        places[one.domain].append(at)
    domains = [*places.values()]

    def agent(name: str) -> Service:
        return Service([float(name in one.gold) for one in asked], [one[name] for one in learned])

    def router(found: Sequence[Mapping[str, float]]) -> Service:
        best = [max(one, key=one.__getitem__) for one in found]
        right = [float(name in one.gold) for name, one in zip(best, asked, strict=True)]
        return Service(right, [one[name] for one, name in zip(found, best, strict=True)])

    return [
        Pair("google, google (A/A)", agent("google"), agent("google"), domains),
        Pair("google, houndify", agent("google"), agent("houndify"), domains),
        Pair("cards, learned (routers)", router(plain), router(learned), domains),
        Pair("learned, cards (routers)", router(learned), router(plain), domains),
    ]


async def routed(
    name: str, training: TrainingData, asked: Sequence[LabelledQuestion]
) -> list[dict[str, float]]:
    """Return the probabilities of a router for each question."""
    router: Any = await fit_method("router", name, training)
    return [await probabilities(router, one) for one in asked]


def simulated(pair: Pair, share: float, turns: int, looks: int, seed: int) -> LogOutcome:
    """Simulate one log, and look at it from time to time."""
    chance = random.Random(f"{pair.name} {share} {seed}")
    people = [person(pair, chance, f"{n}", share) for n in range(turns // QUESTIONS_EACH)]
    asked = [*chain.from_iterable(people)]
    chance.shuffle(asked)
    log, stopped = TrialLog(), None
    for number, turn in enumerate(asked, 1):
        log.add(turn)
        if stopped is None and number % (turns // looks) == 0:
            always = estimate_always(log)
            if always is not None and always[1] < 0:
                stopped = number
    return LogOutcome(estimate(log), stopped)


def person(pair: Pair, chance: random.Random, name: str, share: float) -> list[LoggedTurn]:
    """Return the turns of a person, who asks about one domain more often than about others."""
    new = chance.random() < share
    sizes = [len(domain) for domain in pair.domains]
    favourite = chance.choices(pair.domains, sizes)[0]
    service = pair.new if new else pair.old
    log = []
    for n in range(QUESTIONS_EACH):
        places = favourite if n < 3 else chance.choices(pair.domains, sizes)[0]
        at = chance.choice(places)
        log.append(
            LoggedTurn(
                person=name,
                new=new,
                probability=share if new else 1 - share,
                reward=service.right[at],
                score=pair.old.score[at],
            )
        )
    return log


def line_of(pair: Pair, share: float, found: Sequence[LogOutcome]) -> str:
    """Return the figures of a pair as a line, gains in points."""
    line = f"{pair.name:<28}{share:>6.0%}{100 * pair.gain:>7.1f}"
    for name in ("inverse_propensity", "self_normalized", "doubly_robust"):
        gains = [getattr(one.estimates, name) for one in found]
        bias = 100 * (statistics.fmean(gain.gain for gain in gains) - pair.gain)
        noise = 196 * statistics.stdev(gain.gain for gain in gains) / len(gains) ** 0.5
        covers = statistics.fmean(gain.low <= pair.gain <= gain.high for gain in gains)
        width = 100 * statistics.fmean(gain.high - gain.low for gain in gains)
        line += f"  {f'{bias:+.2f} +- {noise:.2f}':>16} {covers:>7.1%} {width:>6.1f}"
    stops = sorted(one.stopped for one in found if one.stopped is not None)
    median = f"{stops[len(stops) // 2]}" if stops else "-"
    return f"{line}  {len(stops) / len(found):>8.1%} {median:>6}"


async def measure_latency(pairs: int = 12, turns: int = 320, at_once: int = 8) -> None:
    """Print how long turns take with shadows and without, in pairs of blocks in one process."""
    takings = {name: list[float]() for name in ("without", "with shadows")}
    ratios = []
    async with (
        Assistant(pipeline(shadows=0), store="memory:") as plain,
        Assistant(pipeline(shadows=2), store="memory:") as shadowed,
    ):
        order = [("without", plain), ("with shadows", shadowed)]
        for pair in range(pairs + 1):
            p99 = {}
            for name, assistant in order:
                taken = await timed(assistant, turns, at_once)
                if isinstance(trials := assistant.engine.prepared.variants, TurnTrials):
                    await trials.shadows.wait_until_settled()
                p99[name] = statistics.quantiles(taken, n=100)[98]
                if pair:  # the first warms up
                    takings[name] += taken
            if pair:
                ratios.append(p99["with shadows"] / p99["without"])
            order.reverse()
    cuts = {name: statistics.quantiles(taking, n=100) for name, taking in takings.items()}
    for name, cut in cuts.items():
        print(f"{name:<14} p50 {1000 * cut[49]:7.2f} ms   p99 {1000 * cut[98]:7.2f} ms")
    both = [cuts["with shadows"][at] / cuts["without"][at] for at in (49, 98)]
    print(f"{'ratio':<14} p50 {both[0]:7.3f}      p99 {both[1]:7.3f}")
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(
        f"p99 of the {pairs} pairs of blocks: median {middle:.3f}, quartiles {low:.3f}, {high:.3f}"
    )


async def timed(assistant: Assistant, turns: int, at_once: int) -> list[float]:
    """Return the seconds of each turn; so many people talk at once, each pausing between turns."""
    taken: list[float] = []

    async def talk(user: str) -> None:
        chance = random.Random(user)
        for _ in range(turns // at_once):
            await asyncio.sleep(chance.uniform(0.05, 0.15))
            began = time.perf_counter()
            await assistant.reply("how high is Everest?", user=user)
            taken.append(time.perf_counter() - began)

    await asyncio.gather(*(talk(f"person {n}") for n in range(at_once)))
    return taken


def pipeline(shadows: int) -> Pipeline:
    """Return a pipeline of four agents that take 10 to 25 ms, and so many shadows like them."""

    def agent(n: int) -> Any:
        async def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
            await asyncio.sleep(0.01 + 0.005 * (n % 4))
            return [{"text": f"I am agent {n}.", "confidence": 0.5 + n / 100}]

        return answer

    caps = Shadow(calls_per_minute=100_000)
    skills = [Skill(agent(n), name=f"agent_{n}") for n in range(4)]
    unseen = [Skill(agent(n), name=f"shadow_{n}", shadow=caps) for n in range(shadows)]
    return Pipeline(skills=[*skills, *unseen])


if __name__ == "__main__":
    sys.exit(main())
