"""The agents of a simulated day: most of the time they work, now and then they fail in some way."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any, Final

Request = dict[str, Any]

CHANCE: Final = random.Random(7)
FAILS: Final = 0.02
"""Of the calls of an agent that may fail."""


async def letters(request: Request) -> Any:
    return {"letters": len(request["human_utterances"][-1]["text"])}


async def counter(request: Request) -> Any:
    """Answer with a number that grows, and remember it."""
    number = request["human"]["attributes"].get("number", 0) + 1
    text = request["human_utterances"][-1]["text"]
    return {
        "text": f"number {number}: {text[:60]}",
        "confidence": 0.9,
        "human_attributes": {"number": number},
    }


def plain(request: Request) -> Any:
    """Answer in a thread."""
    if CHANCE.random() < FAILS:
        raise RuntimeError("the plain one fell over")
    return {"text": "so so", "confidence": 0.1}


async def shaky(request: Request) -> Any:
    """Fail in all ways that there are."""
    match CHANCE.randrange(int(6 / FAILS)):
        case 0:
            raise SystemExit(3)
        case 1:
            await asyncio.Future()
        case 2:
            return {"text": object(), "confidence": float("nan")}
        case 3:
            raise asyncio.CancelledError
        case 4:
            await asyncio.sleep(0.5)
        case 5:
            return [{"text": "x" * 1_200_000, "confidence": 1.0}]
    return []


async def clock(request: Request) -> Any:
    """Show rich messages."""
    if "time" not in request["human_utterances"][-1]["text"]:
        return []
    now = time.strftime("%H:%M")
    messages = [{"type": "text", "text": now}, {"type": "link", "title": "more", "url": "/x"}]
    return {"text": now, "confidence": 0.95, "messages": messages}


async def best(request: Request) -> Any:
    if CHANCE.random() < FAILS:
        raise RuntimeError("the selector fell over")
    chosen = max(request["hypotheses"], key=lambda hypothesis: hypothesis["confidence"])
    return {
        "skill_name": chosen["skill_name"],
        "text": chosen["text"],
        "confidence": chosen["confidence"],
        "hypothesis": chosen["hypothesis_id"],
    }


async def polish(request: Request) -> Any:
    if CHANCE.random() < FAILS:
        await asyncio.Future()
    return request["bot_utterances"][-1]["text"] + "!"
