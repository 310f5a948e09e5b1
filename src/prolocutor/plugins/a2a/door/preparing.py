"""MessagePreparation: finds the place of a client's message before its turn."""

from __future__ import annotations

import msgspec

from prolocutor.plugins.a2a.door.archive import TaskArchive, described
from prolocutor.plugins.a2a.door.incoming import ATTRIBUTE, checked_message, read_message
from prolocutor.plugins.a2a.door.known_contexts import KnownContexts
from prolocutor.plugins.a2a.door.outgoing import takes_something
from prolocutor.plugins.a2a.door.places import (
    A2aPlace,
    find_place,
    find_task_place,
    request_key,
    task_id,
)
from prolocutor.plugins.a2a.door.running_tasks import A2aCaller, RunningTasks, SentMessage
from prolocutor.plugins.a2a.door.webhooks import TaskWebhooks
from prolocutor.plugins.a2a.wire.core import A2aMessage, A2aSendParams, A2aTask
from prolocutor.plugins.a2a.wire.faults import (
    CONTENT_TYPE,
    INVALID_PARAMS,
    UNSUPPORTED_OPERATION,
    A2aFault,
    not_found,
)
from prolocutor.web.door_context import DoorSpeaker


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
