"""Measures what pairing costs: CPU time a question, loading, learning one label, and a large house.

    python bench/pairing.py [--data bbai:FOLDER] [--json FILE]

Without --data it takes the made-up agents of `synthetic_agents.py`. Times are of this process's
CPU, one thread, the best of a few rounds over all questions. For comparison: a route of
semantic-router 1.1.1 takes 1.5 to 3 ms without its encoder, and 15 ms with.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from inspect import isawaitable
from itertools import chain
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import synthetic_agents

from prolocutor.contracts.pairing import Answer, Card, Question, Training
from prolocutor.evaluation.pairing.data import PairingData, load_pairing_data
from prolocutor.pairing.catalog import RANKERS, ROUTERS, load_ranker, load_router, needs_of
from prolocutor.pairing.model_files import save_model, training_card
from prolocutor.pairing.question_agent.cards import CardsRouter
from prolocutor.pairing.question_agent.knn import KnnRouter
from prolocutor.pairing.question_agent.loading import load_router_model

ROUNDS = 5
MANY, EXAMPLES = 1000, 100
QUESTIONS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data")
    parser.add_argument("--json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = data_of(given.data, Path(folder))
        rows = []
        for row in chain(routing(data, Path(folder)), large_house(), ranking(data)):
            rows.append(row)
            print(f"{row[0]:<52} {row[1]:9.3f} {row[2]}", flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1))


def data_of(spec: str | None, folder: Path) -> PairingData:
    if spec is not None:
        return load_pairing_data(spec)
    synthetic_agents.write(folder / "data", 0)
    cards = [Card(**one) for one in json.loads((folder / "data" / "cards.json").read_text())]
    return load_pairing_data(f"jsonl:{folder / 'data'}", cards)


def routing(data: PairingData, folder: Path) -> Iterator[tuple[str, float, str]]:
    questions = [one.question for one in data.test[:QUESTIONS]]
    for name in ROUTERS:
        if "encoder" in needs_of(name, "router"):
            continue
        start = time.process_time()
        router: Any = load_router(name)(Training(cards=data.cards, labelled=data.learn))
        yield f"{name}: made of {len(data.learn):,} labels", time.process_time() - start, "s"
        spent = best(router.route, questions)
        yield f"{name}: route among {len(data.cards)}", spent, "CPU ms"
        if not hasattr(router, "to_model"):
            continue
        save_model(folder / name, router.to_model(training_card(len(data.learn))))
        yield (
            f"{name}: load",
            best(lambda at: load_router_model(at, data.cards), [folder / name]),
            "CPU ms",
        )
        if hasattr(router, "learn"):
            spent = best(
                lambda one, router=router: router.learn(one, data.agents[:1]), questions, rounds=1
            )
            yield f"{name}: learn one label", spent, "CPU ms"


def ranking(data: PairingData) -> Iterator[tuple[str, float, str]]:
    asked = [one for one in data.test if one.answers]
    pairs = [
        (one.question, [Answer(agent=agent, text=text) for agent, text in one.answers.items()])
        for one in asked[:QUESTIONS]
    ]
    for name in RANKERS if pairs else ():
        if "encoder" in needs_of(name, "ranker"):
            continue
        ranker: Any = load_ranker(name)(Training(cards=data.cards, labelled=asked))
        if isawaitable(ranker):
            ranker = asyncio.run(awaited(ranker))
        spent = best(lambda one, ranker=ranker: ranker.rank(one[0], one[1], {}), pairs)
        yield f"{name}: rank {len(data.cards)} answers", spent, "CPU ms"


def large_house() -> Iterator[tuple[str, float, str]]:
    """A thousand agents with a hundred examples each, of words that follow Zipf's law."""
    chance = random.Random(0)
    words = [f"w{number}" for number in range(20_000)]
    weights = [1 / (number + 1) for number in range(len(words))]

    def sentence() -> str:
        return " ".join(chance.choices(words, weights, k=8))

    cards = [
        Card(name=f"agent {number}", examples=[sentence() for _ in range(EXAMPLES)])
        for number in range(MANY)
    ]
    questions = [Question(text=sentence()) for _ in range(QUESTIONS)]
    what = f"{MANY:,} agents with {EXAMPLES} examples"
    yield (
        f"cards: route among {what}",
        best(CardsRouter(cards).route, questions, rounds=2),
        "CPU ms",
    )
    neighbours = KnnRouter()
    for card in cards:
        for example in card.examples:
            neighbours.learn(example, [card.name])
    yield f"knn: route among {what}", best(neighbours.route, questions, rounds=2), "CPU ms"


def best(call: Callable[[Any], Any], given: Sequence[Any], rounds: int = ROUNDS) -> float:
    """Give the CPU milliseconds of one call, in the fastest round over all that is given."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        for one in given:
            call(one)
        found.append((time.process_time() - start) / len(given) * 1000)
    return min(found)


async def awaited(one: Any) -> Any:
    return await one


if __name__ == "__main__":
    sys.exit(main())
