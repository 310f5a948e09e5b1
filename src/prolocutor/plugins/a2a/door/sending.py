"""TaskSender: turns the messages of clients into turns, and turns into tasks."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.background import BackgroundTasks, beside
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.turn_events import TurnEvent
from prolocutor.errors import Conflict
from prolocutor.plugins.a2a.door.archive import TaskArchive, encode_ids
from prolocutor.plugins.a2a.door.incoming import ATTRIBUTE, checked_message, read_message
from prolocutor.plugins.a2a.door.outgoing import finish_task, is_heard, takes_something
from prolocutor.plugins.a2a.door.places import (
    A2aPlace,
    find_place,
    find_task_place,
    request_key,
    task_id,
    unknown_context,
)
from prolocutor.plugins.a2a.door.running_tasks import (
    A2aCaller,
    RunningTask,
    RunningTasks,
    SentMessage,
    cancel_task,
)
from prolocutor.plugins.a2a.door.streaming import ReplyEvents, status_event
from prolocutor.plugins.a2a.door.webhooks import TaskWebhooks
from prolocutor.plugins.a2a.wire.core import (
    INPUT_REQUIRED,
    SUBMITTED,
    TERMINAL,
    WORKING,
    A2aEvent,
    A2aMessage,
    A2aSendParams,
    A2aStatus,
    A2aTask,
)
from prolocutor.plugins.a2a.wire.faults import (
    CONFLICT,
    CONTENT_TYPE,
    INVALID_PARAMS,
    TASK_NOT_CANCELABLE,
    UNSUPPORTED_OPERATION,
    A2aFault,
    not_found,
)
from prolocutor.web.door_context import DoorSpeaker
from prolocutor.web.event_writing import batches, begun

log = logging.getLogger(__name__)

QUIET_SECONDS: Final = 60.0
"""Seconds after which a task is looked at again although there was no news of it."""

_NEVERMIND: Final = {"code": ["bookkeeping", "special", "special:nevermind"], "entities": {}}

T = TypeVar("T")

MAX_KNOWN: Final = 10_000
"""The contexts, and the finished tasks, that are remembered so that the store need not be asked."""

MAX_CHARACTERS: Final = 10_000
"""The characters of a task that is remembered, about; a larger one is read again."""


class MessagePreparation:
    """Finds the context and the task of a message, and reads its content."""

    def __init__(
        self,
        archive: TaskArchive,
        webhooks: TaskWebhooks,
        known: KnownContexts,
        running: RunningTasks,
    ) -> None:
        self._archive = archive
        self._webhooks = webhooks
        self._known = known
        self._running = running

    async def prepare(self, params: A2aSendParams, caller: A2aCaller) -> SentMessage:
        """Prepare a message for its turn and add its webhook; raise `A2aFault` to refuse it."""
        message = checked_message(params)
        modes = params.configuration.accepted_output_modes
        if not takes_something(modes):
            raise A2aFault(CONTENT_TYPE, f"none of {', '.join(modes)!s:.200} is sent here")
        place = self._place(message, caller.speaker)
        open_task = await self._known.open_task(place)
        task = await self._find_task(message, place, open_task)
        read = read_message(message, params.metadata)
        ids = encode_ids(read.attributes[ATTRIBUTE], place.context)
        read.attributes[ATTRIBUTE] = ids
        earlier: list[A2aMessage] = []
        if open_task is not None and open_task.id == task:
            asked = open_task.status.message
            earlier = [*open_task.history, *([asked] if asked is not None else [])]
        named = msgspec.structs.replace(message, context_id=place.context, task_id=task)
        sent = SentMessage(params, named, place, task, read, caller.skill, earlier)
        config = params.configuration.task_push_notification_config
        if config is not None:
            wanted = msgspec.structs.replace(config, task_id=task)
            await self._webhooks.add(place, wanted, legacy=caller.legacy, trusted=caller.trusted)
        return sent

    def _place(self, message: A2aMessage, speaker: DoorSpeaker) -> A2aPlace:
        if not message.task_id:
            said = "" if message.context_id else repr(message.parts)
            seed = request_key(message.message_id, said)
            return find_place(speaker, message.context_id, seed)
        place = find_task_place(speaker, message.task_id)
        if message.context_id not in ("", place.context):
            what = "contextId is not that of the task; leave it out"
            raise A2aFault(INVALID_PARAMS, what, field="message.contextId")
        return place

    async def _find_task(
        self, message: A2aMessage, place: A2aPlace, open_task: A2aTask | None
    ) -> str:
        """Return the task of a message; raise `A2aFault` for a task that takes no more messages."""
        named = message.task_id
        own = task_id(place.context, message.message_id)
        if open_task is not None and named in ("", open_task.id):
            running = self._running.find(place.user, open_task.id)
            if running is None or running.sent.message.message_id == message.message_id:
                return open_task.id
            if named:  # another message answers it just now
                raise _being_worked_on()
        if not named:
            return own
        for found in await self._archive.find_tasks(place.user, place.context):
            if found.id == named:
                if message.message_id in found.message_ids():
                    return named  # sent again: the stored reply
                if found.asks and found.is_last:
                    return named
                if found.reply is None and not found.is_lost:
                    raise _being_worked_on()
                what = "the task is over; leave taskId out to begin another"
                raise A2aFault(UNSUPPORTED_OPERATION, what, field="message.taskId")
        if self._running.find(place.user, named) is not None:
            raise _being_worked_on()
        raise not_found(named)


def _being_worked_on() -> A2aFault:
    what = "the task is being worked on; wait for its reply, or leave taskId out to begin another"
    return A2aFault(UNSUPPORTED_OPERATION, what, field="message.taskId")


class TaskSender:
    """Passes the messages of clients to the assistant.

    `own_contexts`: whether a client may choose the ids of its contexts.
    """

    def __init__(
        self,
        assistant: Assistant,
        archive: TaskArchive,
        webhooks: TaskWebhooks,
        *,
        own_contexts: bool,
    ) -> None:
        self._assistant = assistant
        self._archive = archive
        self._known = KnownContexts(archive, own_contexts=own_contexts)
        self._running = RunningTasks()
        self._preparing = MessagePreparation(archive, webhooks, self._known, self._running)
        self._alone = BackgroundTasks("message that nobody waits for")

    # -- what clients ask -------------------------------------------------------------------

    async def send(self, params: A2aSendParams, caller: A2aCaller) -> A2aTask:
        """Send a message; return its task after the reply, or at once if the client wants that."""
        running = await self._begun(params, caller)
        if not params.configuration.return_immediately:
            return await self._finish(running)
        self._alone.start(self._finish(running))
        return running.task()

    async def stream(self, params: A2aSendParams, caller: A2aCaller) -> AsyncIterator[A2aEvent]:
        """Send a message and return the events of its task."""
        running = await self._begun(params, caller)
        sent = running.sent
        stream = running.stream = self._assistant.stream(sent.input())
        try:
            happened = await begun(stream)
        except StopAsyncIteration:  # cancelled before its turn began
            happened = []
        except Conflict:
            self._running.end(running)
            raise _other_message() from None
        except BaseException:
            self._running.end(running)
            raise
        return self._stream_events(running, stream, happened)

    async def task(self, speaker: DoorSpeaker, id_: str) -> A2aTask:
        """Return the present state of a task; raise `A2aFault` for an unknown task."""
        place = find_task_place(speaker, id_)
        running = self._running.find(place.user, id_)
        if running is not None:
            return running.task()
        finished_task = self._known.finished_task(place.user, id_)
        if finished_task is not None and await self._archive.exists(place.user, place.context):
            return finished_task
        found = await self._archive.task(place.user, place.context, id_)
        if found is not None:
            return found
        if not self._running.person_tasks(place.user) and await self._archive.is_taken_up(
            place.user
        ):
            return A2aTask(id=id_, context_id=place.context, status=A2aStatus(state=WORKING))
        raise not_found(id_)

    async def cancel(self, speaker: DoorSpeaker, id_: str) -> A2aTask:
        """Cancel a task: its open ask ends, and the reply of its running turn is not delivered."""
        task = await self.task(speaker, id_)
        place = find_task_place(speaker, id_)
        state = task.status.state
        if state in TERMINAL:
            raise A2aFault(TASK_NOT_CANCELABLE, f"the task is over: {state}", field="id")
        await self._archive.cancel(place.user, id_)
        running = self._running.find(place.user, id_)
        if running is not None:
            await running.cancel()
        elif state == INPUT_REQUIRED:
            attributes = {ATTRIBUTE: encode_ids({"message_id": f"cancel:{id_}"}, place.context)}
            cancel = TurnInput(
                "", place.user, place.context, attributes, channel="a2a", parsed=_NEVERMIND
            )
            await self._assistant.turn(cancel)
        self._known.forget(place)
        return cancel_task(task)

    def running(self, speaker: DoorSpeaker, context: str) -> list[A2aTask]:
        """Return the running tasks of a caller, or of a context of theirs."""
        if context:
            return self._running.person_tasks(find_place(speaker, context, "").user, context)
        return self._running.caller_tasks(speaker)

    async def pause(self, user: str, id_: str, news: asyncio.Event) -> None:
        """Wait until the turn of a task ends, or its person's feed has a new row."""
        running = self._running.find(user, id_)
        if running is not None:
            await running.over.wait()
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET_SECONDS):
                await news.wait()
        news.clear()

    async def aclose(self) -> None:
        """Stop waiting for turns, which belong to the assistant and end by themselves."""
        await self._alone.aclose()

    # -- the turn ---------------------------------------------------------------------------

    async def _begun(self, params: A2aSendParams, caller: A2aCaller) -> RunningTask:
        """Find the task of a message while no other message of its person can take that task."""
        async with self._running.lock(caller.speaker.user or _sender_context(params.message)):
            sent = await self._preparing.prepare(params, caller)
            place = sent.place
            sent.is_alone = not self._running.person_tasks(place.user, place.context)
            return self._running.begin(sent)

    async def _finish(self, running: RunningTask) -> A2aTask:
        """Wait for the reply; return the task after it, or the cancelled task."""
        try:
            with beside(self._assistant.turn(running.sent.input())) as running.reply:
                return await self._finish_task(running, await running.reply)
        except Conflict:
            raise _other_message() from None
        except asyncio.CancelledError:
            if not running.is_cancelled:
                raise
            return cancel_task(running.task())
        finally:
            self._running.end(running)

    async def _stream_events(
        self, running: RunningTask, stream: TurnStream, happened: list[TurnEvent]
    ) -> AsyncIterator[A2aEvent]:
        """Yield the events of a task; `first` are events that its turn has sent already."""
        shaped = ReplyEvents(running.task())
        submitted = running.task()
        submitted.status.state = SUBMITTED
        try:
            yield A2aEvent(task=submitted)
            async for batch in batches(stream, happened):
                for event in batch:
                    if not running.is_cancelled and (task_view := shaped.take(event)) is not None:
                        yield task_view
            if running.is_cancelled:  # a stream ends at a terminal state (A2A 1.0, 3.1.2)
                yield status_event(submitted, cancel_task(submitted).status)
                return
            task = await self._finish_task(running, stream.result)
        finally:
            self._running.end(running)
            await stream.aclose()
        for last in shaped.last(task):
            yield last

    async def _finish_task(self, running: RunningTask, result: TurnResult) -> A2aTask:
        """Return the task after a reply, and cache it."""
        sent, reply, repeated = running.sent, result.spoken, result.repeated
        if running.is_cancelled:
            return cancel_task(running.task())
        place = sent.place
        if repeated or not sent.is_alone or self._archive.is_shared:
            found = await self._stored_task(sent)
            if found is not None and repeated and is_heard(reply):
                return found
        modes = sent.params.configuration.accepted_output_modes
        task = finish_task(sent.task, place.context, reply, result.waiting, sent.history, modes)
        if not repeated:
            is_over = task.status.state in TERMINAL
            waits = task.status.state == INPUT_REQUIRED
            self._known.remember(place, task if waits else None)
            if is_over and not modes:
                self._known.finish(place.user, task)
        return task

    async def _stored_task(self, sent: SentMessage) -> A2aTask | None:
        """Return the task of a message from the store, which may correct the assumed task.

        An earlier turn may have asked, or answered, after the message came.
        """
        place = sent.place
        for found in await self._archive.find_tasks(place.user, place.context):
            if sent.message.message_id in found.message_ids():
                sent.task = found.id
                return await self._archive.task(place.user, place.context, found.id)
        return None


def _sender_context(message: A2aMessage | None) -> str:
    """Return the name that tells senders without a user apart: the message's context, if any."""
    if message is None:
        return ""
    return message.context_id or message.task_id.rpartition(".")[0] or message.message_id


def _other_message() -> A2aFault:
    what = "this messageId came with another message before"
    return A2aFault(CONFLICT, what, field="message.messageId")


class KnownContexts:
    """The recent contexts and finished tasks; entries may be dropped at any time."""

    def __init__(self, archive: TaskArchive, *, own_contexts: bool) -> None:
        self._archive = archive
        self._own_contexts = own_contexts
        self._open: OrderedDict[tuple[str, str], A2aTask | None] = OrderedDict()
        self._finished: OrderedDict[tuple[str, str], A2aTask] = OrderedDict()

    async def open_task(self, place: A2aPlace) -> A2aTask | None:
        """Return the task that waits for an answer; raise `A2aFault` for an unknown context."""
        if place.is_new:
            return None
        key = (place.user, place.context)
        if key not in self._open or self._archive.is_shared:
            return await self._look_up(place)
        return self._open[key]

    def remember(self, place: A2aPlace, task: A2aTask | None) -> None:
        """Cache the task that waits in a context; None if no task waits."""
        if task is not None and not _is_small(task):
            self.forget(place)
            return
        _put(self._open, (place.user, place.context), task)

    def forget(self, place: A2aPlace) -> None:
        """Drop a context from the cache; the next use reads the store."""
        self._open.pop((place.user, place.context), None)

    def finish(self, user: str, task: A2aTask) -> None:
        """Cache a finished task."""
        if _is_small(task):
            _put(self._finished, (user, task.id), task)

    def finished_task(self, user: str, id_: str) -> A2aTask | None:
        """Return a finished task if it is cached."""
        return self._finished.get((user, id_))

    async def _look_up(self, place: A2aPlace) -> A2aTask | None:
        """Cache a context from the store; raise `A2aFault` if it does not exist."""
        user, context = place.user, place.context
        task = None
        if await self._archive.exists(user, context):
            open_id = await self._archive.open_task(user, context)
            task = await self._archive.task(user, context, open_id) if open_id else None
        elif place.is_ours or not self._own_contexts:
            raise unknown_context(context)
        self.remember(place, task)
        return task


def _is_small(task: A2aTask) -> bool:
    """Return whether a task is small enough to cache."""
    parts = [part for message in task.history for part in message.parts]
    parts += [part for artifact in task.artifacts for part in artifact.parts]
    if task.status.message is not None:
        parts += task.status.message.parts
    size = 0
    for part in parts:
        size += len(part.text or part.raw or part.url or "")
        if part.data is not UNSET:
            size += len(plain.encode(part.data))
    return size + 100 * len(parts) <= MAX_CHARACTERS


def _put(known: OrderedDict[tuple[str, str], T], key: tuple[str, str], value: T) -> None:
    """Cache a value; drop the oldest value if there are too many."""
    known[key] = value
    known.move_to_end(key)
    if len(known) > MAX_KNOWN:
        known.popitem(last=False)
