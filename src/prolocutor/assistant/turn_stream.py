"""Followers' views: a turn while it runs, and the feed of a person."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Final, Self

import msgspec

from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.store import FeedRow, FeedStore
from prolocutor.dialog import plain
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.turn_events import Delta, Replaced, ReplyGiven, TurnEvent
from prolocutor.errors import Stopping

MAX_UNREAD: Final = 100_000
"""The most characters of provisional words that wait for a listener."""


class FeedMessage(msgspec.Struct, frozen=True):
    """A row of a person's feed: `n` ascends by one, `id` within its dialog name.

    `closing` (`{"ask", "code"?, "entities"?}`) is there in the last row of a turn; `message` and
    `id` are None where a turn said nothing.
    """

    n: int
    dialog_id: str
    message: JsonObject | None
    dialog_name: str = "main"
    id: int | None = None
    closing: JsonObject | None = None


def feed_message(row: FeedRow) -> FeedMessage:
    """Decode a row of the feed."""
    return FeedMessage(
        n=row.n,
        dialog_id=row.dialog_id,
        message=None if row.message is None else plain.decode(row.message),
        dialog_name=row.dialog_name,
        id=row.id,
        closing=None if row.closing is None else plain.decode(row.closing),
    )


async def follow_feed(
    listeners: FeedListeners, store: FeedStore, user: str, after: int
) -> AsyncIterator[FeedMessage]:
    """Return every message with `n > after`, then each new message as it comes, without end."""
    with listeners.listening(user) as news:
        while True:
            news.clear()
            rows = await store.feed(user, after)
            for row in rows:
                after = row.n
                yield feed_message(row)
            if not rows:
                await news.wait()


class TurnStream:
    """The events of a turn, in their order; `ReplyGiven` ends it, or the exception of the turn.

    The turn runs whether events are read or not. They wait until they are read: there are few but
    deltas, and deltas that wait are joined. A listener so slow that more than `MAX_UNREAD`
    characters would wait gets `Replaced` and no more deltas, but everything else.
    """

    def __init__(self) -> None:
        self._events: deque[TurnEvent] = deque()
        self._tail: list[str] = []
        self._skill = ""
        self._unread = 0
        self._said: list[str] = []
        self._is_deaf = False
        self._has_ended = False
        self._error: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._result: TurnResult | None = None

    @property
    def result(self) -> TurnResult:
        """All that is known of the turn, once `ReplyGiven` was read."""
        assert self._result is not None
        return self._result

    def follow(self, turn: asyncio.Future[TurnResult]) -> Self:
        """End with the outcome of this turn; return the stream."""
        if turn.done():
            self._turn_ended(turn)
        else:
            turn.add_done_callback(self._turn_ended)
        return self

    def take(self, event: TurnEvent) -> None:
        """Add an event; this is the stream's `TurnListener`."""
        if self._has_ended:
            return
        if isinstance(event, Delta):
            self._take_words(event)
        elif not isinstance(event, Replaced):
            self._join_tail()
            self._events.append(event)
        elif self._said:
            self._void()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TurnEvent:
        while not self._events and not self._tail:
            if self._has_ended:
                error, self._error = self._error, None
                raise error or StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if not self._events:
            self._join_tail()
        event = self._events.popleft()
        if isinstance(event, Delta):
            self._unread -= len(event.text)
        return event

    def ready(self) -> list[TurnEvent]:
        """Return, and take out, the events that can be read without waiting."""
        events = list(self._events)
        self._events.clear()
        self._unread -= sum(len(one.text) for one in events if isinstance(one, Delta))
        return events

    async def aclose(self) -> None:
        """Stop listening; the turn runs on."""
        self._events.clear()
        self._tail.clear()
        self._has_ended, self._error = True, None
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _take_words(self, delta: Delta) -> None:
        if self._is_deaf or not delta.text:
            return
        self._unread += len(delta.text)
        if self._unread > MAX_UNREAD:
            self._is_deaf = True
            self._void()
            return
        if delta.skill != self._skill:
            self._join_tail()
            self._skill = delta.skill
        self._tail.append(delta.text)
        self._said.append(delta.text)

    def _void(self) -> None:
        """Take back all deltas; those that were not read need not be."""
        self._tail.clear()
        self._said.clear()
        self._unread = 0
        self._events = deque(one for one in self._events if not isinstance(one, Delta))
        self._events.append(Replaced())

    def _join_tail(self) -> None:
        if self._tail:
            self._events.append(Delta(self._skill, "".join(self._tail)))
            self._tail.clear()

    def _turn_ended(self, turn: asyncio.Future[TurnResult]) -> None:
        """Announce the outcome of the turn: its reply is stored now, or never will be."""
        if turn.cancelled():
            self._fail(Stopping("the assistant was stopped before the reply"))
        elif error := turn.exception():
            self._fail(error)
        elif not self._has_ended:
            self._result = result = turn.result()
            self._settle_words(result.reply.text)
            self.take(
                ReplyGiven(
                    result.reply,
                    turn_id=result.turn_id,
                    dialog_id=result.dialog_id,
                    human_utt_id=result.human_utt_id,
                    waiting=result.waiting,
                    n=result.n,
                    repeated=result.repeated,
                )
            )
            self._has_ended = True

    def _settle_words(self, text: str) -> None:
        """Make the deltas come to the text of the reply, or void."""
        words = "".join(self._said)
        if not words or words == text:
            return
        if text.startswith(words):
            self.take(Delta(self._skill, text[len(words) :]))
        else:
            self.take(Replaced())

    def _fail(self, error: BaseException) -> None:
        self.take(Replaced())
        if not self._has_ended:
            self._has_ended, self._error = True, error
