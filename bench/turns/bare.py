"""What the services behind HTTP take without any assistant: the same calls by a bare client.

    python -m bench.turns.bare --dialogs 1 --turns 10

The six steps of the standard pipeline, each all its calls at a time, one after the other.
"""

from __future__ import annotations

import asyncio
import json

import aiohttp
import uvloop

from bench.peers.load import Figures, Load, load_of, measure, parser
from bench.peers.services import CONFIDENCES
from bench.turns.runner import child

HYPOTHESES = {"hypotheses": [{"text": "I heard it", "confidence": 0.9}]}
WORDS = {"x": ["what is 1 percent of eighty"]}
STEPS = [
    [("tokens", WORDS), ("words", WORDS)],
    [("rules", WORDS)],
    [(name, WORDS) for name in CONFIDENCES],
    [("length", HYPOTHESES)] * len(CONFIDENCES),
    [("best", HYPOTHESES)],
    [("strip", WORDS)],
]


def main() -> None:
    load = load_of(parser(["bare"]).parse_args())
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(bare(load))
    line = {
        "peer": "bare client",
        "dialogs": load.dialogs,
        "turns": load.total,
        "cpu_ms_per_turn": round(figures.cpu * 1000 / load.total, 4),
        "wall_ms_per_turn": round(figures.wall * 1000 / load.total, 4),
    }
    print(json.dumps(line), flush=True)


async def bare(load: Load) -> Figures:
    async with child("bench/peers/slow_services.py") as server:
        url = json.loads(await server.stdout.readline())["url"]
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:

            async def call(service: str, request: dict[str, list]) -> None:
                async with client.post(f"{url}/{service}", json=request) as response:
                    await response.json()

            async def turn(user: str, number: int) -> None:
                for step in STEPS:
                    await asyncio.gather(*(call(*one) for one in step))

            return await measure(load, lambda: turn)


if __name__ == "__main__":
    main()
