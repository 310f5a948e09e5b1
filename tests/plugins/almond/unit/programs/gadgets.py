"""Skills with manifests, served by fakes, and an assistant that runs programs for ann."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog import plain
from prolocutor.plan.pipeline import Service
from prolocutor.testing.sample_turns import an_opening
from tests.model_store import ModelStore
from tests.plugins.almond.unit.thingtalk.devices import CLASSES
from tests.unit.assistant.talks import assistant

TWEETS = [
    {"text": "foo is here", "author": "alice", "hashtags": ["a"], "likes": 3},
    {"text": "Bar FOO", "author": "bob", "hashtags": ["a", "b"], "likes": 7},
    {"text": "lol bar", "author": "HillaryClinton", "hashtags": [], "likes": 1},
]
COMICS = [
    {"title": "Tapes", "number": 1, "picture_url": "https://xkcd.example/1.png"},
    {"title": "Sheep", "number": 2, "picture_url": "https://xkcd.example/2.png"},
]
PRICES = [
    {"low_estimate": {"value": 40, "code": "usd"}, "uber_type": "pool"},
    {"low_estimate": {"value": 60, "code": "usd"}, "uber_type": "uber_x"},
]
HOME = {"latitude": 1.0, "longitude": 2.0, "display": "Home"}
PLACES = {"locations": {"home": HOME, "work": {**HOME, "display": "Work"}}}


class Gadgets:
    """A skill that does what its manifest says, from tables that tests may change.

    `asked` are the functions that were called, with their parameters; `failing` those that raise.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.failing: set[str] = set()
        self.requests: list[dict[str, Any]] = []
        self.tables: dict[str, Any] = {
            "home_timeline": list(TWEETS),
            "get_comic": COMICS[1],
            "price_estimate": PRICES,
            "get_temperature": {"value": 30.0},
            "current_event": {"has_sound": True, "start_time": "2026-01-01T00:00:00Z"},
            "search_videos": [{"video_url": "http://www.youtube.com", "title": "LOL"}],
            "current": {"temperature": 20, "status": "sunny"},
            "get_time": {"time": "12:00:00"},
            "items": [],
        }

    def __call__(self, request: dict[str, Any]) -> Any:
        self.requests.append(request)
        function = request.get("function")
        if function is None:
            text = request["utterances"][-1]["text"]
            return [{"text": f"re: {text}", "confidence": 0.5}]
        name = function["name"]
        self.asked.append((name, function["parameters"]))
        if name in self.failing:
            raise RuntimeError("out of order")
        return self.tables.get(name)

    def calls_of(self, name: str) -> list[dict[str, Any]]:
        """Return the parameters of each call of a function."""
        return [parameters for called, parameters in self.asked if called == name]


def service(gadgets: Gadgets, manifest: str = CLASSES, **options: Any) -> Service:
    """Make the skill `gadgets` with a manifest."""
    options = {"timeout": 30.0, "card": {"manifest": manifest}, **options}
    return Service("gadgets", gadgets, inline=True, **options)


class Keys:
    """A caller that writes down the keys that it is called with."""

    def __init__(self) -> None:
        self.keys: list[Any] = []

    async def call(self, service: str, request: dict[str, Any], **how: Any) -> Any:
        self.keys.append(how["key"])
        return [{"text": "x", "author": "y"}]


async def begun(started: float = 1.0) -> OpenedTurn:
    """Begin a turn of ann's in a store that nobody uses."""
    opening = an_opening(
        "ann", "", turn_id="t", date_time="2026-01-01 00:00:00.000000", started=started
    )
    turn = await ModelStore().open_turn(opening)
    assert isinstance(turn, OpenedTurn)
    return turn


@asynccontextmanager
async def running(gadgets: Gadgets, **options: Any) -> AsyncIterator[Assistant]:
    """Run an assistant whose skill is this one."""
    async with assistant(service(gadgets), **options) as it:
        yield it


async def program(it: Assistant, source: str, **options: Any) -> TurnResult:
    """Let ann send a program."""
    return await it.turn("", user="ann", program=source, **options)


async def say(it: Assistant, text: str, **options: Any) -> TurnResult:
    """Let ann say something."""
    return await it.turn(text, user="ann", **options)


def messages(result: TurnResult) -> list[dict[str, Any]]:
    """Return the messages of a turn, but for that which tells of the executed statement."""
    told = result.state["attributes"].get("messages") or [
        {"type": "text", "text": result.reply.text}
    ]
    return [one for one in told if one["type"] != "new-program"]


def texts(result: TurnResult) -> list[str]:
    """Return what a turn said as text."""
    return [message["text"] for message in messages(result) if message["type"] == "text"]


async def feed_texts(it: Assistant, after: int = 0) -> list[str]:
    """Return all texts of ann's feed after a row."""
    rows = await it.store.feed("ann", after, 10_000)
    found = [plain.decode(row.message) for row in rows if row.message is not None]
    return [one["text"] for one in found if one["type"] == "text"]
