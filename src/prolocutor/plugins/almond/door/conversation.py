"""One WebSocket of a conversation: it shows the rows of the person's feed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack, suppress
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.http import WebSocket, count_socket, spend
from prolocutor.contracts.store import FeedRow
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.turn_events import TurnEvent
from prolocutor.errors import BadInput, StoreError
from prolocutor.plugins.almond.door import commands
from prolocutor.plugins.almond.door.dialects import Dialect, Frame, encode_frame, error_frame
from prolocutor.plugins.almond.door.speakers import Speaker, expectation
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import FeedFollower

PAGE_ROWS: Final = 100
TURN_RUNS: Final[Frame] = {"type": "event", "event": {"type": "TurnRuns"}}
"""The first frame for a client while an earlier turn is still running."""

WAITING: Final = 64
MAX_BYTES: Final = 1_000_000
"""The limits of waiting frames of one socket, in frames and bytes; reading pauses at them."""

Take = Callable[
    [TurnInput, Callable[[TurnEvent], Awaitable[None]] | None], Coroutine[Any, Any, TurnResult]
]
"""Runs the turn of an input, with a function that shows its events."""


class ConversationOptions(msgspec.Struct):
    """The options of a client at the opening of a socket.

    - `after` is the id of the client's last message.
    - `history` says whether it wants earlier messages.
    - `devices` are frames of the person's devices, sent first.
    - `events`: it receives the events of the turns of its own inputs, like the chat page.
    - `skill` is the skill that its inputs are for.
    """

    after: int | None = None
    history: bool = True
    devices: list[Frame] = []
    events: bool = False
    skill: str | None = None


class Conversation:
    """A client on a dialog: it gets every message once, and an `askSpecial` for each turn."""

    def __init__(
        self,
        assistant: Assistant,
        speaker: Speaker,
        socket: WebSocket,
        dialect: Dialect,
        take: Take,
    ) -> None:
        self._assistant = assistant
        self._speaker = speaker
        self._socket = socket
        self._dialect = dialect
        self._take = take
        self._events = False
        self._skill: str | None = None
        self._feed = FeedFollower(assistant.store, speaker.user, self._show_rows)
        self._stops_next = False
        self._frames: list[tuple[str | bytes, ExitStack]] = []

    async def run(self, opening: ConversationOptions) -> None:
        """Serve the socket until the client is gone, and handle all frames that it sent."""
        user = self._speaker.user
        with count_socket(user), self._assistant.feeds.listening(user) as news:
            await self._begin(opening)
            self._events, self._skill = opening.events, opening.skill
            news.set()
            async with asyncio.TaskGroup() as group:
                showing = group.create_task(self._feed.follow(news))
                handling: asyncio.Task[None] | None = None
                async for frame in self._socket:
                    if commands.is_stop(frame):
                        self._stop()
                        continue
                    busy = ExitStack()
                    busy.enter_context(self._socket.busy())
                    self._frames.append((frame, busy))
                    if handling is None or handling.done():
                        handling = group.create_task(self._handle_all(news))
                    elif self._is_full():
                        await handling
                if handling is not None:
                    await handling
                showing.cancel()

    # -- messages to the client ------------------------------------------------------------

    async def _begin(self, opening: ConversationOptions) -> None:
        if self._dialect.opens_with_id:
            secret = self._speaker.secret
            shown = {} if secret is None else {"secret": secret}
            self._send({"type": "id", "id": self._speaker.conversation, **shown})
        for frame in opening.devices:
            self._send(frame)
        self._feed.after = await self._assistant.store.feed_end(self._speaker.user)
        if opening.after is not None:
            await self._show_since(opening.after)
        elif opening.history:
            rows = await self._tail(self._dialect.cached)
            closing = await expectation(self._assistant, self._speaker)
            await self._replay(self._dialect.select_earlier_rows(rows, closing.get("ask")))
        await self._show_expectation()
        if opening.events and self._assistant.turns.is_answering(
            self._speaker.user, self._speaker.dialog
        ):
            self._send(TURN_RUNS)

    async def _show_since(self, after: int) -> None:
        """Show all messages after a message id, page by page."""
        rows = await self._tail(1, after)
        at = rows[0].n - 1 if rows else self._feed.after
        while rows := await self._assistant.store.feed(self._speaker.user, at, PAGE_ROWS):
            await self._replay([row for row in rows if row.dialog_name == self._speaker.dialog])
            at = rows[-1].n

    async def _tail(self, limit: int, after: int | None = None) -> list[FeedRow]:
        speaker = self._speaker
        return await self._assistant.store.feed_tail(speaker.user, speaker.dialog, limit, after)

    async def _replay(self, rows: list[FeedRow]) -> None:
        """Show earlier messages without their asks: only the open ask is shown."""
        if rows:
            spend("backlog", self._speaker.user, len(rows))
        for row in rows:
            self._send(self._dialect.message(row))
            self._feed.after = max(self._feed.after, row.n)
            await self._socket.room()

    async def _show_rows(self, rows: list[FeedRow]) -> None:
        for row in self._dialect.select_rows(rows):
            if row.dialog_name == self._speaker.dialog:
                self._send(self._dialect.message(row))
                if row.closing is not None:
                    self._send(self._dialect.expectation(plain.decode(row.closing)))
            await self._socket.room()

    async def _show_event(self, event: TurnEvent) -> None:
        """Send an event of a turn; its reply is shown as rows of the feed."""
        self._send({"type": "event", "event": msgspec.to_builtins(event)})
        await self._socket.room()

    async def _show_expectation(self) -> None:
        """Send the `askSpecial` of the open ask."""
        speaker = self._speaker
        closing = await expectation(self._assistant, speaker)
        self._send(self._dialect.expectation(closing))

    def _send(self, frame: Frame | None) -> None:
        if frame is not None:
            self._socket.send(encode_frame(frame))

    # -- frames of the client ----------------------------------------------------------------

    def _is_full(self) -> bool:
        frames = self._frames
        return len(frames) >= WAITING or sum(len(frame) for frame, _ in frames) > MAX_BYTES

    def _stop(self) -> None:
        """Stop the running turn at once, or else the turn of the next frame."""
        running = self._assistant.stop(self._speaker.user, self._speaker.dialog)
        self._stops_next = not running and bool(self._frames)

    async def _handle_all(self, news: asyncio.Event) -> None:
        """Handle the frames in order; `busy` keeps the server alive until they are done."""
        while self._frames:
            frame, busy = self._frames.pop(0)
            with busy:
                await self._handle(frame, news)

    async def _handle(self, message: str | bytes, news: asyncio.Event) -> None:
        """Make a turn of a frame; if it is none, answer with the current `askSpecial`."""
        refused, answered = None, False
        try:
            frame = commands.read_frame(message)
            if frame.get("type") == "ping":
                return
            if frame.get("type") == "req-subproto":
                raise Unsupported("no subprotocol is spoken here", field="proto")
            input = commands.read_command(frame, self._speaker)
            if not commands.is_blank(input):
                key = commands.frame_key(frame)
                answered = await self._take_turn(replace(input, skill=self._skill, request_id=key))
        except Exception as error:
            refused = error_frame(error_response(error))
        with suppress(StoreError):
            await self._feed.catch_up(news)
        if not answered:
            self._send(refused)
            await self._show_expectation()

    async def _take_turn(self, input: TurnInput) -> bool:
        """Make a turn of an input; return False where it was made before, by the same key."""
        if self._stops_next:
            self._stops_next = False
            asyncio.get_running_loop().call_soon(self._stop)  # once the turn is in its queue
        show = self._show_event if self._events else None
        return not (await self._take(input, show)).repeated


class Unsupported(BadInput):
    """A subprotocol requested by Genie's speakers; it is not supported."""

    code = "EINVAL"
