"""Fourteen ways in which a service can misbehave, and the eight places of a pipeline."""

import asyncio
import sys
import threading
from typing import Any

from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeService

SECRET = "the text of an exception"

for_ever = threading.Event()
"""Set by the test that has made threads wait for it."""


async def hangs(request: Any) -> Any:
    await asyncio.Event().wait()


def blocks(request: Any) -> Any:
    for_ever.wait(20)


async def raises(request: Any) -> Any:
    raise ValueError(SECRET)


async def raises_what_doubles(request: Any) -> Any:
    parts: Any = [SECRET]
    for _ in range(40):
        parts = [parts, parts]
    raise ValueError(parts)


async def exits(request: Any) -> Any:
    sys.exit(SECRET)


async def cancels_itself(request: Any) -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel(SECRET)
    await asyncio.sleep(0)


async def gives_null(request: Any) -> Any:
    return None


async def gives_a_string(request: Any) -> Any:
    return "odd"


async def gives_no_text(request: Any) -> Any:
    return {"skill_name": "odd", "confidence": 0.99}


async def gives_no_confidence(request: Any) -> Any:
    return {"skill_name": "odd", "text": "odd"}


async def gives_nan(request: Any) -> Any:
    return {"skill_name": "odd", "text": "odd", "confidence": float("nan")}


async def gives_protected_keys(request: Any) -> Any:
    stolen = {"id": "stolen", "user_external_id": "stolen", "user_type": "stolen"}
    return {
        "skill_name": "odd",
        "text": "odd",
        "confidence": 0.99,
        "human_attributes": stolen,
        "bot_attributes": stolen,
        **stolen,
    }


async def gives_a_cycle(request: Any) -> Any:
    reply = {"skill_name": "odd", "text": "odd", "confidence": 0.99}
    reply["again"] = reply
    return reply


async def gives_50_megabytes(request: Any) -> Any:
    return {"skill_name": "odd", "text": "x" * 50_000_000, "confidence": 0.99}


MISBEHAVIOURS = [
    hangs,
    blocks,
    raises,
    raises_what_doubles,
    exits,
    cancels_itself,
    gives_null,
    gives_a_string,
    gives_no_text,
    gives_no_confidence,
    gives_nan,
    gives_protected_keys,
    gives_a_cycle,
    gives_50_megabytes,
]

PLACES = [
    "annotators",
    "skill_selector",
    "skills",
    "candidate_annotators",
    "response_selector",
    "postprocessors",
    "response_annotators",
    "last_chance",
]


def fine(place: str) -> Service | None:
    """Make a service that does its work in a place."""
    replies: dict[str, Any] = {
        "annotators": ["fine"],
        "skill_selector": ["odd", "fine"],
        "skills": {"text": "fine", "confidence": 0.5},
        "candidate_annotators": "fine",
        "response_selector": {"skill_name": "fine", "text": "fine", "confidence": 0.5},
        "postprocessors": "fine.",
        "response_annotators": "fine",
        "last_chance": "Sorry.",
    }
    if place == "last_chance":
        return Service("last", FakeService(replies[place]))
    return Service("fine", FakeService(replies[place]))


def pipeline_with(target: Any, place: str, *, alone: bool) -> Pipeline:
    """Make a pipeline in which one service misbehaves, alone in its place or beside a fine one.

    A last chance is asked only where the ordinary way fails, so there it does.
    """
    odd = Service("odd", target, timeout=60.0 if alone else 0.03)
    services: dict[str, Any] = {}
    for other in PLACES:
        sound = fine(other)
        if place == "last_chance" and other == "response_selector":
            sound = Service("fine", FakeService(None))
        if other == place:
            together = [odd] if alone or other == "last_chance" else [odd, sound]
        else:
            together = [sound]
        services[other] = together[0] if other == "last_chance" else together
    return Pipeline(**services)
