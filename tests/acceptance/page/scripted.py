"""A real browser, and a server for it whose every frame is written by a test."""

import asyncio
import queue
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route, WebSocketRoute
from prolocutor.contracts.http import WebSocket
from prolocutor.dialog import plain
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.plan.pipeline import Pipeline
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.page.channel import Page as PageDoor
from prolocutor.testing.channel_kit import running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener

PATIENCE = 180.0
NAMES = (
    "chromium-headless-shell",  # takes half the processor time of the others
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
)

Frame = dict[str, Any]

ID: Frame = {"type": "id", "id": "main"}
NOTHING: Frame = {"type": "askSpecial", "ask": None, "context": {"code": ["null"], "entities": {}}}


def asks(kind: str | None) -> Frame:
    return {**NOTHING, "ask": kind}


@contextmanager
def a_browser() -> Iterator[Browser]:
    """Run the Chromium of this machine or Playwright's; skip the test where there is neither."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        if program is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("the chat page in a browser (there is no Chromium)")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Script:
    """A door that speaks the wire as a test tells it to, and keeps what it hears."""

    name = "script"
    prefix = "almond:"

    def __init__(self, _: Assistant) -> None:
        self.routes: Sequence[Route | WebSocketRoute] = [
            WebSocketRoute("/api/conversation", self._serve)
        ]
        self.opening: list[Frame] = [ID, NOTHING]
        self.opened: queue.Queue[dict[str, str | None]] = queue.Queue()
        self.heard: queue.Queue[Frame] = queue.Queue()
        self.sockets: set[WebSocket] = set()

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def _serve(self, socket: WebSocket) -> None:
        self.sockets.add(socket)
        try:
            for frame in self.opening:
                socket.send(plain.encode(frame).decode())
            self.opened.put({name: socket.query(name) for name in ("id", "after", "access_token")})
            async for message in socket:
                frame = plain.decode(message)
                if frame["type"] != "ping":
                    self.heard.put(frame)
        finally:
            self.sockets.discard(socket)


class Server:
    """The chat page before a script, or before the door, in a thread with a loop of its own."""

    def __init__(
        self, pipeline: Pipeline, auth: AccessPolicy | None = None, *, scripted: bool = True
    ) -> None:
        self._pipeline, self._auth, self._scripted = pipeline, auth, scripted
        self._ready: queue.Queue[None] = queue.Queue()
        self._thread = threading.Thread(target=asyncio.run, args=(self._live(),))

    def __enter__(self) -> "Server":
        self._thread.start()
        self._ready.get(timeout=PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    def begin(self, *opening: Frame) -> None:
        """Begin anew: what is sent to whoever opens the wire."""
        self.script.opening = [ID, *opening] if opening else [ID, NOTHING]
        for one in (self.script.opened, self.script.heard):
            while not one.empty():
                one.get()

    def send(self, *frames: Frame) -> None:
        """Send frames to all who are there."""
        for frame in frames:
            text = plain.encode(frame).decode()
            self._loop.call_soon_threadsafe(self._send, text)

    def hang_up(self) -> None:
        """Break every line."""
        self._loop.call_soon_threadsafe(self._close)

    def opened(self) -> dict[str, str | None]:
        """Wait until somebody opens the wire, and give the query."""
        return self.script.opened.get(timeout=PATIENCE)

    def heard(self) -> Frame:
        """Wait for what the page says, without its key and what it says of the time zone."""
        frame = self.script.heard.get(timeout=PATIENCE)
        if frame["type"] == "stop":
            return frame
        assert frame.pop("key")
        assert frame.pop("platformData")["timezone"]
        return frame

    def reply(self, text: str, user: str = "almond:local") -> str:
        """Let the assistant itself answer somebody, and give the id of the reply."""
        turn = self.assistant.reply(text, user)
        return asyncio.run_coroutine_threadsafe(turn, self._loop).result(PATIENCE).utt_id

    def rating_of(self, utt_id: str) -> Any:
        """Return the ratings of a reply."""
        turn = self.assistant.store.turn(utt_id)
        said = asyncio.run_coroutine_threadsafe(turn, self._loop).result(PATIENCE)
        return [one["rating"] for one in said[-1].attributes["ratings"]]

    def _send(self, text: str) -> None:
        for socket in self.script.sockets:
            socket.send(text)

    def _close(self) -> None:
        for socket in self.script.sockets:
            socket.close(1001)

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        recent = RecentTurns()
        settings: dict[str, Any] = {"store": "memory:", "deadline": PATIENCE, "observers": [recent]}
        async with Assistant(self._pipeline, **settings) as assistant:
            self.assistant = assistant
            self.script = Script(assistant)
            page = PageDoor(DoorContext(assistant, recent=recent))
            door = self.script if self._scripted else Almond(assistant)
            app = Listener(assistant, [door, page], auth=self._auth)
            async with running(app) as self.url:
                self._ready.put(None)
                await self._stop.wait()


def harmed(page: Page) -> list[str]:
    """Return what shows that a page took something for more than text; it should be nothing."""
    found: list[str] = page.evaluate(
        """() => [
          ...(window.harmed ?? []),
          ...[...document.querySelectorAll("script, iframe, object, embed, form[action], base, b")]
            .filter((one) => !one.src?.startsWith(location.origin))
            .map((one) => one.outerHTML),
          ...[...document.querySelectorAll("*")].flatMap((one) => [...one.attributes])
            .filter((one) => /^on|^srcdoc$/.test(one.name) || (
              /^(href|src|action|formaction|data|poster|xlink:href)$/.test(one.name)
              && !/^(https?:|[/])/.test(one.value)))
            .map((one) => `${one.name}=${one.value}`),
        ]"""
    )
    return found


WATCH = """
window.harmed = [];
addEventListener("securitypolicyviolation", (event) => window.harmed.push(event.violatedDirective));
"""
"""What a page runs first, so that `harmed` can tell."""
