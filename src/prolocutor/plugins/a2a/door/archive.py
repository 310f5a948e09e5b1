"""TaskArchive: rebuilds tasks from the turns of dialogs.

Tasks have no other record. The turns of a context are read in order: an input begins a task unless
the reply before asked for it. An input during a handover is answered by the operator's next words,
or by the end of the handover.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.sharing import is_shared
from prolocutor.contracts.store import DialogQuery
from prolocutor.dialog import rounds
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.inputs import OPERATOR
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.plugins.a2a.door.incoming import ATTRIBUTE, PARTS
from prolocutor.plugins.a2a.door.outgoing import finish_task, iso_time
from prolocutor.plugins.a2a.door.places import CONTEXT, task_id
from prolocutor.plugins.a2a.wire.core import (
    AGENT,
    CANCELED,
    FAILED,
    USER,
    WORKING,
    A2aMessage,
    A2aPart,
    A2aStatus,
    A2aTask,
)
from prolocutor.web.door_context import DoorSpeaker

CANCELLED: Final = "a2a_cancelled"
"""The records that name the tasks which a client cancelled while they ran."""

MAX_DIALOGS: Final = 1_000
_NAME: Final = "context_id"


class FoundTask(msgspec.Struct):
    """A task and its turns.

    Only the last turn may lack a reply: the operator who has the dialog has not answered.

    - `asks`: its last reply asked for something.
    - `is_last`: it is the last task of its context.
    - `is_lost`: the handover ended without an answer.
    """

    id: str
    context: str
    turns: list[tuple[HumanUtterance, BotUtterance | None]] = []
    asks: bool = False
    is_last: bool = False
    is_lost: bool = False

    @property
    def reply(self) -> BotUtterance | None:
        """The last reply, None if the last message has no reply."""
        return self.turns[-1][1]

    def message_ids(self) -> Iterator[str]:
        """Return the ids of the client's messages."""
        for said, _ in self.turns:
            yield find_message_id(said)

    @property
    def changed(self) -> str:
        """The time of its last change, in the form of the agent state."""
        said, reply = self.turns[-1]
        return said.date_time if reply is None else reply.date_time


class TaskArchive:
    """Finds the tasks of persons in the assistant's store."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._store = assistant.store

    @property
    def is_shared(self) -> bool:
        """Whether other processes use the store too, so that its content must not be cached."""
        return is_shared(self._store)

    async def is_taken_up(self, user: str) -> bool:
        """Return whether a turn of a person was cut off and will run again."""
        return any(turn.user == user for turn in await self._store.unfinished_turns())

    async def exists(self, user: str, context: str) -> bool:
        """Return whether a context belongs to a person."""
        return await self._store.active_dialog_id(user, context) is not None

    async def open_task(self, user: str, context: str) -> str:
        """Return the id of the task that waits for an answer in a context, "" for none."""
        if await self._assistant.archive.waiting(user, context) is None:
            return ""
        tasks = await self.find_tasks(user, context)
        return tasks[-1].id if tasks and tasks[-1].asks else ""

    async def task(self, user: str, context: str, id_: str) -> A2aTask | None:
        """Return the present state of a person's task."""
        for task in await self.find_tasks(user, context):
            if task.id == id_:
                return await self._task_view(user, task)
        return None

    async def find_tasks(self, user: str, context: str) -> list[FoundTask]:
        """Return the tasks of a context, oldest first."""
        dialog_id = await self._store.active_dialog_id(user, context)
        dialog = None if dialog_id is None else await self._store.dialog(dialog_id)
        return [] if dialog is None else await self._tasks(dialog, user, context)

    async def _tasks(self, dialog: Dialog, user: str, context: str) -> list[FoundTask]:
        """Return the tasks of a dialog, with `is_lost` set for tasks that nobody will answer."""
        tasks = read_tasks(dialog, context)
        unanswered = [task for task in tasks if task.reply is None and not task.is_lost]
        if unanswered:
            now = rounds.decode(await self._store.round(user, context))
            for one in unanswered:
                one.is_lost = now.handover is None
        return tasks

    async def context_tasks(self, user: str, context: str) -> list[A2aTask]:
        """Return the tasks of a context, oldest first."""
        return [await self._task_view(user, task) for task in await self.find_tasks(user, context)]

    async def list_tasks(self, speaker: DoorSpeaker) -> list[A2aTask]:
        """Return the tasks in the latest contexts of a caller, unsorted."""
        begin = speaker.beginning(CONTEXT) if speaker.user is None else None
        query = DialogQuery(
            user=speaker.user, user_prefix=begin, newest_first=True, limit=MAX_DIALOGS
        )
        tasks: list[A2aTask] = []
        for dialog_id in await self._store.dialog_ids(query):
            dialog = await self._store.dialog(dialog_id)
            name = None if dialog is None else find_context_id(dialog)
            if dialog is None or name is None:
                continue
            user = dialog.human.user_external_id
            if user == speaker.user or speaker.owns(CONTEXT, user):
                found = await self._tasks(dialog, user, name)
                tasks += [await self._task_view(user, one) for one in found]
        return tasks

    async def cancel(self, user: str, id_: str) -> None:
        """Record that a client cancelled a running task, whose reply then does not count."""
        await self._store.put_record(user, CANCELLED, id_, b"{}")

    async def _task_view(self, user: str, task: FoundTask) -> A2aTask:
        waiting: PendingAsk | None = None
        if task.asks and task.is_last:
            waiting = await self._assistant.archive.waiting(user, task.context)
        is_cancelled = task.id in await self._store.records(user, CANCELLED)
        return task_view(task, waiting, is_cancelled=is_cancelled)


def task_view(
    found: FoundTask, waiting: PendingAsk | None = None, *, is_cancelled: bool = False
) -> A2aTask:
    """Return a task in the form for clients; `waiting` is the open ask of its last reply."""
    history = task_history(found)
    if found.reply is not None and not is_cancelled:
        return finish_task(found.id, found.context, found.reply, waiting, history)
    state = CANCELED if is_cancelled else FAILED if found.is_lost else WORKING
    status = A2aStatus(state=state, timestamp=iso_time(found.changed))
    return A2aTask(id=found.id, context_id=found.context, status=status, history=history)


def read_tasks(dialog: Dialog, context: str) -> list[FoundTask]:
    """Return the tasks of a dialog, oldest first."""
    found: list[FoundTask] = []
    heard: list[FoundTask] = []
    for utterance in dialog.utterances:
        if isinstance(utterance, HumanUtterance):
            if not found or not found[-1].asks:
                found.append(FoundTask(task_id(context, find_message_id(utterance)), context))
            found[-1].turns.append((utterance, None))
            found[-1].asks = False
            heard.append(found[-1])
            continue
        if utterance.active_skill == OPERATOR:
            if _handover_state(utterance) == "taken":
                continue
        elif heard:
            for lost in heard[:-1]:
                lost.is_lost = True
            heard = heard[-1:]
            heard[0].asks = utterance.attributes.get("ask") is not None
        for task in heard:
            task.turns[-1] = (task.turns[-1][0], utterance)
        heard = []
    if found:
        found[-1].is_last = True
    return found


def _handover_state(utterance: BotUtterance) -> object:
    handover = utterance.attributes.get("handover")
    return handover.get("state") if isinstance(handover, dict) else None


def find_context_id(dialog: Dialog) -> str | None:
    """Return the id of a dialog's context; None for a dialog of another door."""
    for utterance in dialog.utterances:
        ids = utterance.attributes.get(ATTRIBUTE)
        if isinstance(ids, dict) and isinstance(ids.get(_NAME), str):
            return str(ids[_NAME])
    return None


def find_message_id(said: HumanUtterance) -> str:
    """Return the id of the message that an utterance arrived in."""
    ids = said.attributes.get(ATTRIBUTE)
    given = ids.get("message_id") if isinstance(ids, dict) else None
    return given if isinstance(given, str) else said.utt_id


def task_history(found: FoundTask) -> list[A2aMessage]:
    """Return the messages of a task: the client's messages, and the questions between them."""
    history: list[A2aMessage] = []
    for position, (said, reply) in enumerate(found.turns):
        history.append(_message(said, found))
        if position + 1 < len(found.turns) and reply is not None:
            message = A2aMessage(
                message_id=reply.utt_id,
                context_id=found.context,
                task_id=found.id,
                role=AGENT,
                parts=[A2aPart(text=reply.text)],
            )
            history.append(message)
    return history


def _message(utterance: HumanUtterance, task: FoundTask) -> A2aMessage:
    parts = [A2aPart(text=utterance.text)] if utterance.text else []
    given = utterance.attributes.get(PARTS)
    for one in given if isinstance(given, list) else ():
        try:
            parts.append(msgspec.convert(one, A2aPart))
        except msgspec.ValidationError:
            parts.append(A2aPart(data=one))
    metadata = utterance.attributes.get("metadata")
    return A2aMessage(
        message_id=find_message_id(utterance),
        context_id=task.context,
        task_id=task.id,
        role=USER,
        parts=parts or [A2aPart(text="")],
        metadata=metadata if isinstance(metadata, dict) else None,
    )


def keep_history(task: A2aTask, length: int | None) -> A2aTask:
    """Return a task with the last `length` messages of its history; None keeps all."""
    if length is None or length >= len(task.history):
        return task
    kept = task.history[-length:] if length > 0 else []
    return msgspec.structs.replace(task, history=kept)


def parse_time(text: str) -> datetime | None:
    """Parse a time of RFC 3339, in UTC if it has no zone; return None for another text."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def encode_ids(ids: JsonObject, context: str) -> JsonObject:
    """Return the ids of a message and of its context, in their stored form."""
    return {**ids, _NAME: context}
