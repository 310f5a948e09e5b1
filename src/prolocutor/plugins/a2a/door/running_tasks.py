"""RunningTasks: messages on their way, what was sent by whom, and the tasks whose turns run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from weakref import WeakValueDictionary

import msgspec

from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.dialog.ids import timestamp
from prolocutor.dialog.inputs import TurnInput
from prolocutor.plugins.a2a.door.incoming import ReadMessage
from prolocutor.plugins.a2a.door.outgoing import iso_time
from prolocutor.plugins.a2a.door.places import CONTEXT, A2aPlace, request_key
from prolocutor.plugins.a2a.wire.core import (
    CANCELED,
    WORKING,
    A2aMessage,
    A2aSendParams,
    A2aStatus,
    A2aTask,
)
from prolocutor.web.door_context import DoorSpeaker


class A2aCaller(msgspec.Struct, frozen=True):
    """Who calls, and how.

    `speaker` is the person, or whose contexts are persons; `trusted` says that it is an operator.
    `skill` is the one that is talked to alone. `legacy`: version 0.3 is spoken. `left` waits until
    the client has left, where that is known.
    """

    speaker: DoorSpeaker
    trusted: bool = False
    skill: str | None = None
    legacy: bool = False
    left: Callable[[], Coroutine[None, None, None]] | None = None


class SentMessage(msgspec.Struct):
    """A message on its way: where it belongs, its task, and what it means.

    `is_alone`: no other turn of its context runs that may ask or answer before it.
    """

    params: A2aSendParams
    message: A2aMessage
    place: A2aPlace
    task: str
    read: ReadMessage
    skill: str | None
    earlier: list[A2aMessage]
    is_alone: bool = True

    def input(self) -> TurnInput:
        """Return what the message says, as an input of the assistant."""
        place = self.place
        return TurnInput(
            self.read.text,
            place.user,
            place.context,
            self.read.attributes,
            request_key(place.context, self.message.message_id),
            "a2a",
            self.read.parsed,
            skill=self.skill,
        )

    @property
    def history(self) -> list[A2aMessage]:
        """The messages of the task so far, this one included."""
        return [*self.earlier, self.message]


class RunningTask(msgspec.Struct):
    """A turn that runs; `over` is set when a client cancels it, or it has ended.

    `stream` are its events, `reply` is who waits for its reply, whichever there is.
    """

    sent: SentMessage
    since: str
    over: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    is_cancelled: bool = False
    stream: TurnStream | None = None
    reply: asyncio.Task[TurnResult] | None = None

    async def cancel(self) -> None:
        """End what clients wait for; the turn itself runs on, and its reply goes nowhere."""
        self.is_cancelled = True
        self.over.set()
        if self.reply is not None:
            self.reply.cancel()
        if self.stream is not None:
            await self.stream.aclose()

    def task(self) -> A2aTask:
        """Return the task as it is meanwhile."""
        sent = self.sent
        return A2aTask(
            id=sent.task,
            context_id=sent.place.context,
            status=A2aStatus(state=WORKING, timestamp=iso_time(self.since)),
            history=sent.history,
        )


class RunningTasks:
    """The tasks of this process whose turns run, by person and id."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, str], RunningTask] = {}
        self._beginning: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, user: str) -> asyncio.Lock:
        """Return the lock under which messages of a person find their tasks, one after the other.

        Two answers to one question would else both take its task for free.
        """
        return self._beginning.setdefault(user, asyncio.Lock())

    def begin(self, sent: SentMessage) -> RunningTask:
        """Add the task of a message."""
        running = RunningTask(sent, timestamp())
        self._tasks[sent.place.user, sent.task] = running
        return running

    def end(self, running: RunningTask) -> None:
        """Drop a task whose turn has ended."""
        sent = running.sent
        if self._tasks.get((sent.place.user, sent.task)) is running:
            del self._tasks[sent.place.user, sent.task]
        running.over.set()

    def find(self, user: str, id_: str) -> RunningTask | None:
        """Return a task, if its turn runs."""
        return self._tasks.get((user, id_))

    def all_of(self, speaker: DoorSpeaker) -> list[A2aTask]:
        """Return the tasks of a caller."""
        return [
            one.task()
            for one in self._tasks.values()
            if one.sent.place.user == speaker.user or speaker.owns(CONTEXT, one.sent.place.user)
        ]

    def all_at(self, user: str, context: str = "") -> list[A2aTask]:
        """Return the tasks of a person, or of one of their contexts."""
        return [
            one.task()
            for one in self._tasks.values()
            if one.sent.place.user == user and context in ("", one.sent.place.context)
        ]


def cancelled(task: A2aTask) -> A2aTask:
    """Return a task as it is once a client has cancelled it."""
    status = A2aStatus(state=CANCELED, timestamp=iso_time(timestamp()))
    return msgspec.structs.replace(task, status=status, artifacts=[])
