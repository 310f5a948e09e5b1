"""The agents of the soak: each works for a moment and fails now and then, as a schedule has it.

What happens to a message at a service follows from `SOAK_SEED`, the service, the person and the
message, so a second run of a turn fails as the first one did. The diarist writes every turn that
it sees to the file `SOAK_DIARY`, which outlives the server.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import os
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

Request = dict[str, Any]
Agent = Callable[[Request], Awaitable[Any]]

SEED: Final = os.environ.get("SOAK_SEED", "0")
DIARY: Final = os.environ.get("SOAK_DIARY", os.devnull)
BUSY: Final = 0.004
"""The most seconds that an agent works when nothing is wrong with it."""
LATE: Final = 0.2
"""Longer than the agents' `timeout` in assistant.yaml."""
RATES: Final = {
    "diarist": 0.05,
    "weigher": 0.3,
    "chooser": 0.05,
    "counter": 0.15,
    "echo": 0.2,
    "wobbly": 0.6,
    "scorer": 0.1,
    "picker": 0.1,
    "polish": 0.2,
    "judge": 0.2,
}
FAULTS: Final = ("raises", "exits", "gives up", "hangs", "is late", "malformed", "nothing")


def fault_of(agent: str, user: str, text: str, seed: str = SEED) -> str | None:
    """Return how an agent fails at an input; None if it does not."""
    share = _share(seed, agent, user, text) / RATES[agent]
    return FAULTS[int(share * len(FAULTS))] if share < 1 else None


def failing(agent: Agent) -> Agent:
    """Let an agent work for a moment, or fail, as its schedule has it."""
    name = getattr(agent, "__name__", "")

    @functools.wraps(agent)
    async def failing_agent(request: Request) -> Any:
        user, text = said_by(request), said_in(request)
        fault = fault_of(name, user, text)
        await asyncio.sleep(_share(SEED, name, user, text, "busy") * BUSY)
        if fault == "raises":
            raise RuntimeError(f"{name} has had enough")
        if fault == "exits":
            raise SystemExit(3)
        if fault == "gives up":
            raise asyncio.CancelledError
        if fault == "hangs":
            await asyncio.Future()
        if fault == "is late":
            await asyncio.sleep(LATE)
        if fault == "malformed":
            return {"text": object(), "confidence": float("nan")}
        return None if fault == "nothing" else await agent(request)

    return failing_agent


def noting(agent: Agent) -> Agent:
    """Write down that a turn is being worked at, before anything can go wrong."""

    @functools.wraps(agent)
    async def noting_agent(request: Request) -> Any:
        number = number_in(said_in(request))
        line = f"{request['turn_id']} {said_by(request)} {number}\n".encode()
        file = os.open(DIARY, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, line)
        os.close(file)
        return await agent(request)

    return noting_agent


def said_in(request: Request) -> str:
    """Return what the person said in this turn."""
    return str(request["human_utterances"][-1]["text"])


def said_by(request: Request) -> str:
    """Return who said it."""
    return str(request["human"]["user_external_id"])


def number_in(text: str) -> int:
    """Return the number in front of a message."""
    return int(text.partition(":")[0])


@noting
@failing
async def diarist(request: Request) -> Any:
    return {"number": number_in(said_in(request))}


@failing
async def weigher(request: Request) -> Any:
    return {"letters": len(said_in(request))}


@failing
async def chooser(request: Request) -> Any:
    return ["counter", "echo", "wobbly"]


@failing
async def counter(request: Request) -> Any:
    """Keep the number of the last message, and how many messages it answered."""
    number = number_in(said_in(request))
    human, bot = request["human"]["attributes"], request["bot"]["attributes"]
    return {
        "text": f"{number} it is",
        "confidence": 0.9,
        "human_attributes": {"count": number, "counted": human.get("counted", 0) + 1},
        "bot_attributes": {"count": number, "counted": bot.get("counted", 0) + 1},
    }


@failing
async def echo(request: Request) -> Any:
    return {"text": f"you said {said_in(request)}", "confidence": 0.5}


def wobbly(request: Request) -> Any:
    """Fail in a thread of its own: a plain function."""
    fault = fault_of("wobbly", said_by(request), said_in(request))
    if fault == "hangs":
        threading.Event().wait()
    if fault == "is late":
        time.sleep(LATE)
    if fault == "exits":
        raise SystemExit(3)
    if fault is not None:
        raise RuntimeError("wobbly fell over")
    return [{"text": "so so", "confidence": 0.1}]


@failing
async def scorer(request: Request) -> Any:
    return {"score": request["hypothesis"]["confidence"]}


@failing
async def picker(request: Request) -> Any:
    best = max(request["hypotheses"], key=lambda hypothesis: hypothesis["confidence"])
    return {
        "skill_name": best["skill_name"],
        "text": best["text"],
        "confidence": best["confidence"],
        "hypothesis": best["hypothesis_id"],
    }


@failing
async def polish(request: Request) -> Any:
    return request["bot_utterances"][-1]["text"] + "!"


@failing
async def judge(request: Request) -> Any:
    return {"fine": True}


def _share(*parts: str) -> float:
    """Return a number of [0, 1) that depends on the parts alone."""
    digest = hashlib.blake2b("/".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
