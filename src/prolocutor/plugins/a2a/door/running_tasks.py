"""RunningTasks: callers, their messages in flight, and the tasks whose turns run."""

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
    """The sender of a request.

    - `speaker` is the person, or the caller each of whose contexts is a person.
    - `trusted`: an operator.
    - `skill`: the only skill to ask.
    - `legacy`: the client speaks version 0.3.
    - `left` waits until the client disconnects, if that can be noticed.
    """

    speaker: DoorSpeaker
    trusted: bool = False
    skill: str | None = None
    legacy: bool = False
    left: Callable[[], Coroutine[None, None, None]] | None = None


class SentMessage(msgspec.Struct):
    """A message in flight: its place, its task and its meaning.

    `is_alone`: no other turn of its context runs that could ask or answer first.
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
        """Return the message as an input of the assistant."""
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
        """The messages of the task so far, including this one."""
        return [*self.earlier, self.message]


class RunningTask(msgspec.Struct):
    """A task whose turn runs; `over` is set when the turn ends or a client cancels the task.

    A streamed task has `stream`, its events; another has `reply`, the awaited reply.
    """

    sent: SentMessage
    since: str
    over: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    is_cancelled: bool = False
    stream: TurnStream | None = None
    reply: asyncio.Task[TurnResult] | None = None

    async def cancel(self) -> None:
        """Release the waiting clients; the turn runs on, but its reply is not delivered."""
        self.is_cancelled = True
        self.over.set()
        if self.reply is not None:
            self.reply.cancel()
        if self.stream is not None:
            await self.stream.aclose()

    def task(self) -> A2aTask:
        """Return the task in its present, unfinished state."""
        sent = self.sent
        return A2aTask(
            id=sent.task,
            context_id=sent.place.context,
            status=A2aStatus(state=WORKING, timestamp=iso_time(self.since)),
            history=sent.history,
        )


class RunningTasks:
    """The running tasks of this process, by person and id."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, str], RunningTask] = {}
        self._beginning: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, user: str) -> asyncio.Lock:
        """Return the lock under which a person's messages find their tasks in turn.

        Without it two answers to the same question would both continue its task.
        """
        return self._beginning.setdefault(user, asyncio.Lock())

    def begin(self, sent: SentMessage) -> RunningTask:
        """Add the task of a message."""
        running = RunningTask(sent, timestamp())
        self._tasks[sent.place.user, sent.task] = running
        return running

    def end(self, running: RunningTask) -> None:
        """Remove a task whose turn has ended."""
        sent = running.sent
        if self._tasks.get((sent.place.user, sent.task)) is running:
            del self._tasks[sent.place.user, sent.task]
        running.over.set()

    def find(self, user: str, id_: str) -> RunningTask | None:
        """Return a task if its turn runs, else None."""
        return self._tasks.get((user, id_))

    def caller_tasks(self, speaker: DoorSpeaker) -> list[A2aTask]:
        """Return the running tasks of a caller."""
        return [
            task.task()
            for task in self._tasks.values()
            if task.sent.place.user == speaker.user or speaker.owns(CONTEXT, task.sent.place.user)
        ]

    def person_tasks(self, user: str, context: str = "") -> list[A2aTask]:
        """Return the running tasks of a person, or of a context of theirs."""
        return [
            task.task()
            for task in self._tasks.values()
            if task.sent.place.user == user and context in ("", task.sent.place.context)
        ]


def cancel_task(task: A2aTask) -> A2aTask:
    """Return a task in the state after a client has cancelled it."""
    status = A2aStatus(state=CANCELED, timestamp=iso_time(timestamp()))
    return msgspec.structs.replace(task, status=status, artifacts=[])
