"""TaskSender: makes turns of the messages of clients, and tasks of the turns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import Any, Final

import msgspec

from prolocutor.a2a.door.archive import TaskArchive, described
from prolocutor.a2a.door.incoming import ATTRIBUTE, checked, read_message
from prolocutor.a2a.door.known_contexts import KnownContexts
from prolocutor.a2a.door.outgoing import SpokenReply, read_reply, takes_something, task_of
from prolocutor.a2a.door.places import (
    A2aPlace,
    place_of,
    place_of_task,
    request_key,
    task_id,
)
from prolocutor.a2a.door.running_tasks import A2aCaller, RunningTask, SentMessage, cancelled
from prolocutor.a2a.door.streaming import ReplyEvents, status_event
from prolocutor.a2a.door.webhooks import TaskWebhooks
from prolocutor.a2a.wire.core import (
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
from prolocutor.a2a.wire.faults import (
    CONFLICT,
    CONTENT_TYPE,
    INVALID_PARAMS,
    TASK_NOT_CANCELABLE,
    UNSUPPORTED_OPERATION,
    A2aFault,
    not_found,
)
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.dialog.ids import timestamp
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.dialog.turn_events import ReplyGiven, TurnEvent
from prolocutor.errors import Conflict

log = logging.getLogger(__name__)

CHANNEL: Final = "a2a"
QUIET: Final = 60.0
"""Seconds after which a task is looked at again although there was no news of it."""

_NEVERMIND: Final = {"code": ["bookkeeping", "special", "special:nevermind"], "entities": {}}


class TaskSender:
    """Sends what clients say to the assistant.

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
        self._webhooks = webhooks
        self._known = KnownContexts(archive, own_contexts=own_contexts)
        self._running: dict[tuple[str, str], RunningTask] = {}
        self._alone: set[asyncio.Task[A2aTask]] = set()

    # -- what clients ask -------------------------------------------------------------------

    async def send(self, params: A2aSendParams, caller: A2aCaller) -> A2aTask:
        """Send a message and return its task: after the reply, or at once where that is wanted."""
        sent = await self._prepared(params, caller)
        if not params.configuration.return_immediately:
            return await self._finish(self._begin(sent))
        running = self._begin(sent)
        self._start(self._finish(running))
        return running.task()

    async def stream(self, params: A2aSendParams, caller: A2aCaller) -> AsyncIterator[A2aEvent]:
        """Send a message and return the events of its task."""
        sent = await self._prepared(params, caller)
        running = self._begin(sent)
        stream = self._assistant.stream(
            sent.read.text,
            user=sent.place.user,
            dialog=sent.place.context,
            attributes=sent.read.attributes,
            request_id=request_key(sent.place.context, sent.message.message_id),
            channel=CHANNEL,
            parsed=sent.read.parsed,
            skill=sent.skill,
        )
        try:
            first = await anext(stream)
        except BaseException as error:
            self._end(running)
            raise (_raised(error) if isinstance(error, Exception) else error) from None
        return self._streamed(running, stream, first)

    async def task(self, user: str | None, id_: str) -> A2aTask:
        """Return a task as it is now; `A2aFault` where there is none."""
        place = place_of_task(user, id_)
        running = self._running.get((place.user, id_))
        if running is not None:
            return running.task()
        finished = self._known.finished(place.user, id_)
        if finished is not None and await self._archive.exists(place.user, place.context):
            return finished
        found = await self._archive.task(place.user, place.context, id_)
        if found is not None:
            return found
        if not self.running(place.user, "") and await self._archive.is_taken_up(place.user):
            return A2aTask(id=id_, context_id=place.context, status=A2aStatus(state=WORKING))
        raise not_found(id_)

    async def cancel(self, user: str | None, id_: str) -> A2aTask:
        """Cancel a task: what it asks is over, and the reply of a turn that runs goes nowhere."""
        task = await self.task(user, id_)
        place = place_of_task(user, id_)
        key = (place.user, id_)
        state = task.status.state
        if state in TERMINAL:
            raise A2aFault(TASK_NOT_CANCELABLE, f"the task is over: {state}", field="id")
        await self._archive.cancel(place.user, id_)
        running = self._running.get(key)
        if running is not None:
            running.is_cancelled = True
            running.over.set()
        elif state == INPUT_REQUIRED:
            attributes = {ATTRIBUTE: described({"message_id": f"cancel:{id_}"}, place.context)}
            await self._assistant.turn(
                "", user=place.user, dialog=place.context, attributes=attributes,
                channel=CHANNEL, parsed=_NEVERMIND,
            )  # fmt: skip
        self._known.forget(place)
        return cancelled(task)

    def running(self, user: str | None, context: str) -> list[A2aTask]:
        """Return the tasks of a person, or of one context, whose turns run."""
        return [
            one.task()
            for one in self._running.values()
            if one.sent.place.user == user and context in ("", one.sent.place.context)
        ]

    async def pause(self, user: str, id_: str, news: asyncio.Event) -> None:
        """Wait until the turn of a task has ended, or there is news of its person."""
        running = self._running.get((user, id_))
        if running is not None:
            await running.over.wait()
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET):
                await news.wait()
        news.clear()

    async def aclose(self) -> None:
        """Stop waiting for turns; they are the assistant's and end by themselves."""
        for task in self._alone:
            task.cancel()
        await asyncio.gather(*self._alone, return_exceptions=True)

    # -- before the turn --------------------------------------------------------------------

    async def _prepared(self, params: A2aSendParams, caller: A2aCaller) -> SentMessage:
        message = checked(params)
        modes = params.configuration.accepted_output_modes
        if not takes_something(modes):
            raise A2aFault(CONTENT_TYPE, f"none of {', '.join(modes)!s:.200} is sent here")
        place = self._place(message, caller.user)
        open_task = await self._known.open_task(place)
        task = await self._task_of(message, place, open_task)
        read = read_message(message, params.metadata)
        ids = described(read.attributes[ATTRIBUTE], place.context)
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

    def _place(self, message: A2aMessage, user: str | None) -> A2aPlace:
        if not message.task_id:
            said = "" if message.context_id else repr(message.parts)
            seed = request_key(message.message_id, said)
            return place_of(user, message.context_id, seed)
        place = place_of_task(user, message.task_id)
        if message.context_id not in ("", place.context):
            what = "contextId is not that of the task; leave it out"
            raise A2aFault(INVALID_PARAMS, what, field="message.contextId")
        return place

    async def _task_of(
        self, message: A2aMessage, place: A2aPlace, open_task: A2aTask | None
    ) -> str:
        """Return the task that a message belongs to; `A2aFault` where it takes no more."""
        named = message.task_id
        own = task_id(place.context, message.message_id)
        if open_task is not None and named in ("", open_task.id):
            return open_task.id
        if not named:
            return own
        for found in await self._archive.found_in(place.user, place.context):
            if found.id == named:
                if message.message_id in found.message_ids():
                    return named  # sent again: the stored reply
                if found.asks and found.is_last:
                    return named
                what = "the task is over; leave taskId out to begin another"
                raise A2aFault(UNSUPPORTED_OPERATION, what, field="message.taskId")
        if (place.user, named) in self._running:
            what = "the task is being worked on; wait for its reply"
            raise A2aFault(UNSUPPORTED_OPERATION, what, field="message.taskId")
        raise not_found(named)

    # -- the turn ---------------------------------------------------------------------------

    def _begin(self, sent: SentMessage) -> RunningTask:
        running = RunningTask(sent, timestamp())
        self._running[sent.place.user, sent.task] = running
        return running

    def _end(self, running: RunningTask) -> None:
        sent = running.sent
        if self._running.get((sent.place.user, sent.task)) is running:
            del self._running[sent.place.user, sent.task]
        running.over.set()

    async def _finish(self, running: RunningTask) -> A2aTask:
        """Wait for the reply and return the task after it, or cancelled meanwhile."""
        sent = running.sent
        try:
            result = await self._assistant.turn(
                sent.read.text,
                user=sent.place.user,
                dialog=sent.place.context,
                attributes=sent.read.attributes,
                request_id=request_key(sent.place.context, sent.message.message_id),
                channel=CHANNEL,
                parsed=sent.read.parsed,
                skill=sent.skill,
            )
            reply = read_reply(result.reply_state)
            return await self._after(running, reply, result.waiting, repeated=result.repeated)
        except Conflict as error:
            raise _raised(error) from None
        finally:
            self._end(running)

    async def _streamed(
        self, running: RunningTask, stream: TurnStream, first: TurnEvent
    ) -> AsyncIterator[A2aEvent]:
        """Return the events of a task whose turn has begun with this event."""
        shaped = ReplyEvents(running.task())
        begun = running.task()
        begun.status.state = SUBMITTED
        try:
            yield A2aEvent(task=begun)
            event = first
            while not isinstance(event, ReplyGiven):
                if running.is_cancelled:
                    yield status_event(begun, cancelled(begun).status)
                    return
                if (shown := shaped.take(event)) is not None:
                    yield shown
                event = await anext(stream)
            reply = SpokenReply.of(event.utterance)
            task = await self._after(running, reply, event.waiting, repeated=event.repeated)
        finally:
            self._end(running)
            await stream.aclose()
        for last in shaped.last(task):
            yield last

    async def _after(
        self,
        running: RunningTask,
        reply: SpokenReply,
        waiting: PendingAsk | None,
        *,
        repeated: bool,
    ) -> A2aTask:
        """Return the task after a reply, and remember it."""
        sent = running.sent
        if running.is_cancelled:
            return cancelled(running.task())
        place = sent.place
        if repeated:
            await self._find_task(sent)
        modes = sent.params.configuration.accepted_output_modes
        task = task_of(sent.task, place.context, reply, waiting, sent.history, modes)
        if not repeated:
            is_over = task.status.state in TERMINAL
            self._known.remember(place, None if is_over else task)
            if is_over and not modes:
                self._known.finish(place.user, task)
        return task

    async def _find_task(self, sent: SentMessage) -> None:
        """Correct the task of a message that was sent again: it may have gone on with another."""
        for found in await self._archive.found_in(sent.place.user, sent.place.context):
            if sent.message.message_id in found.message_ids():
                sent.task = found.id
                return

    def _start(self, finishing: Coroutine[Any, Any, A2aTask]) -> None:
        task = asyncio.get_running_loop().create_task(finishing)
        self._alone.add(task)
        task.add_done_callback(self._left)

    def _left(self, task: asyncio.Task[A2aTask]) -> None:
        self._alone.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a message that nobody waited for failed: %s", error)


def _raised(error: Exception) -> Exception:
    """Return the error in the protocol's words, where it has some."""
    if isinstance(error, Conflict):
        what = "this messageId came with another message before"
        return A2aFault(CONFLICT, what, field="message.messageId")
    return error
