"""Measures a route of semantic-router without its encoder: the vectors are made beforehand.

    bench/.peers/semantic-router/bin/python bench/peers/run_semantic_router.py FILE

FILE is JSON: `routes`, the utterances by name, and `questions`. The encoder looks each text's
vector up in a dictionary: random ones of norm 1, so whom it chooses means nothing. Prints one JSON
line with times. If FILE has `vectors` by text, they are taken, and the line has for each question
the name of the chosen route and its score.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterable
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from semantic_router import IndexedRouter, Route
from semantic_router.encoders import DenseEncoder

SIZE = 384
"""Numbers of a vector, as MiniLM's have."""


class Dictionary(DenseEncoder):
    """Vectors made beforehand, by text."""

    name: str = "dictionary"
    vectors: dict[str, list[float]]

    def __call__(self, docs: list[Any]) -> list[list[float]]:
        return [self.vectors[doc] for doc in docs]

    async def acall(self, docs: list[Any]) -> list[list[float]]:
        return self(docs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    told = json.loads(given.file.read_text())
    routes, questions = told["routes"], told["questions"]
    known = told.get("vectors")
    encoder = Dictionary(vectors=known or vectors([*questions, *chain(*routes.values())]))
    router = IndexedRouter(encoder, [Route(name=n, utterances=u) for n, u in routes.items()])
    if known:
        found = [router(question, threshold=-1.0) for question in questions]
        print(json.dumps([[one.name, one.confidence] for one in found]), flush=True)
        return

    async def awaited() -> None:
        for question in questions:
            await router.acall(question)

    def called() -> None:
        for question in questions:
            router(question)

    line: dict[str, object] = {
        "peer": "semantic-router",
        "version": version("semantic-router"),
        "routes": len(routes),
        "utterances": sum(map(len, routes.values())),
    }
    for name, work in (("acall", lambda: asyncio.run(awaited())), ("call", called)):
        found = [timed(work, len(questions)) for _ in range(given.rounds)]
        line[f"{name}_cpu_ms"] = min(cpu for cpu, _ in found)
        line[f"{name}_wall_ms"] = min(wall for _, wall in found)
    print(json.dumps(line), flush=True)


def vectors(texts: Iterable[str]) -> dict[str, list[float]]:
    chance = np.random.default_rng(0)
    made = {text: chance.standard_normal(SIZE) for text in dict.fromkeys(texts)}
    return {text: (one / np.linalg.norm(one)).tolist() for text, one in made.items()}


def timed(work: Any, number: int) -> tuple[float, float]:
    """Return CPU and wall milliseconds of one route."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    spent = time.process_time() - cpu, time.perf_counter() - wall
    return round(1000 * spent[0] / number, 4), round(1000 * spent[1] / number, 4)


if __name__ == "__main__":
    sys.exit(main())
