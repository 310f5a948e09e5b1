"""An assistant with agents of all states behind its console, in a thread with a loop of its own."""

import asyncio
import queue
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Breaker, Pipeline, Service
from prolocutor.plugins.console.channel import Console
from prolocutor.web.door_context import DoorContext, ServedFile
from prolocutor.web.listener import Listener
from prolocutor.web.serving import serve
from tests.unit.pipeline.talk import hypothesis, says

T = TypeVar("T")

PATIENCE = 180.0
HOSTILE = (
    "<img src=x onerror=\"harmed.push('img')\"><b>bold</b> javascript:alert(1) \u202edrow\u0000"
)


class HeldAgent:
    """An agent that answers what its gate lets through: a text for each turn."""

    def __init__(self) -> None:
        self.asked: queue.Queue[None] = queue.Queue()
        self.gate: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, request: Any) -> Any:
        self.asked.put(None)
        return hypothesis(await self.gate.get(), 0.9)


def pipeline(held: HeldAgent) -> Pipeline:
    """Make a pipeline of a held agent, one that fails, one that needs an annotator, and others."""
    card = {"description": HOSTILE, "examples": [HOSTILE], "price": 0.01}
    ill = says("ill", ValueError(HOSTILE), breaker=Breaker(failures=1, cooldown=1e6), card=card)
    alone = says("alone", hypothesis(HOSTILE, 0.2), card=card)
    needy = Service("needy", says("x", []).target, after=["note"], requires=["note"])
    return Pipeline(
        annotators=[says("note", {"n": 1})],
        skills=[Service("held", held, timeout=PATIENCE), ill, alone, needy],
    )


class WatchedAssistant:
    """Serves the console of an assistant; it can go away and come back at the same address."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._ready: queue.Queue[int] = queue.Queue()
        self._port = 0

    def __enter__(self) -> "WatchedAssistant":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._port}"

    def begin(self) -> None:
        """Serve."""
        self.held = HeldAgent()
        self._thread = threading.Thread(target=asyncio.run, args=(self._live(),))
        self._thread.start()
        self._port = self._ready.get(timeout=PATIENCE)

    def end(self) -> None:
        """Serve no more."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Await something in the loop of the assistant."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def start_turn(self, text: str, user: str = "ann") -> None:
        """Start a turn, and wait until the held agent is asked."""
        asyncio.run_coroutine_threadsafe(self.assistant.turn(text, user=user), self._loop)
        self.held.asked.get(timeout=PATIENCE)

    def let_answer(self, text: str) -> None:
        """Let the held agent answer."""
        self.do(self.held.gate.put(text))

    def turn(self, text: str, reply: str = "fine", user: str = "ann") -> Any:
        """Take a whole turn."""
        self.let_answer(reply)
        result = self.do(self.assistant.turn(text, user=user))
        self.held.asked.get(timeout=PATIENCE)
        return result

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        file = ServedFile(self._file, lambda: [(HOSTILE, "kitchen.yaml:31")])
        options: dict[str, Any] = {"store": "memory:", "deadline": PATIENCE}
        async with Assistant(pipeline(self.held), **options) as self.assistant:
            app = Listener(self.assistant, [Console(DoorContext(self.assistant, file=file))])
            ready = self._told
            await serve(app, port=self._port, on_ready=ready, stop=self._stop)

    def _told(self, url: str) -> None:
        self._ready.put(int(url.rpartition(":")[2]))
