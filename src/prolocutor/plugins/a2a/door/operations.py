"""AgentOperations: the operations of A2A, for all versions and bindings."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.background import beside
from prolocutor.plugins.a2a.door.archive import TaskArchive, keep_history, parse_time
from prolocutor.plugins.a2a.door.places import A2aPlace, find_place, find_task_place
from prolocutor.plugins.a2a.door.running_tasks import A2aCaller
from prolocutor.plugins.a2a.door.sending import TaskSender
from prolocutor.plugins.a2a.door.streaming import artifact_events, status_event
from prolocutor.plugins.a2a.door.webhooks import TaskWebhooks
from prolocutor.plugins.a2a.wire.core import (
    STATES,
    TERMINAL,
    WORKING,
    A2aEvent,
    A2aListParams,
    A2aPushConfig,
    A2aPushList,
    A2aPushParams,
    A2aSendParams,
    A2aTask,
    A2aTaskList,
    A2aTaskParams,
)
from prolocutor.plugins.a2a.wire.faults import (
    INVALID_PARAMS,
    TASK_NOT_FOUND,
    UNSUPPORTED_OPERATION,
    A2aFault,
)

PAGE_SIZE: Final = 50
MAX_PAGE: Final = 100
SUBSCRIPTION_SECONDS: Final = 3600.0
"""Seconds after which a subscription ends; the client may subscribe again."""


class AgentOperations:
    """The operations that clients call, in Structs of version 1.0; they raise `A2aFault`."""

    def __init__(
        self,
        assistant: Assistant,
        archive: TaskArchive,
        sender: TaskSender,
        webhooks: TaskWebhooks,
    ) -> None:
        self._assistant = assistant
        self._archive = archive
        self._sender = sender
        self._webhooks = webhooks

    async def send_message(self, params: A2aSendParams, caller: A2aCaller) -> A2aEvent:
        """Send a message; return its task."""
        task = await self._sender.send(params, caller)
        return A2aEvent(task=keep_history(task, params.configuration.history_length))

    async def send_streaming_message(
        self, params: A2aSendParams, caller: A2aCaller
    ) -> AsyncIterator[A2aEvent]:
        """Send a message; yield the events of its task.

        During a handover they go on until the operator has spoken.
        """
        return self._events_until_answer(await self._sender.stream(params, caller), caller)

    async def get_task(self, params: A2aTaskParams, caller: A2aCaller) -> A2aTask:
        """Return the present state of a task."""
        _check_length(params.history_length)
        task = await self._sender.task(caller.speaker, _given_value(params.id, "id"))
        return keep_history(task, params.history_length)

    async def list_tasks(self, params: A2aListParams, caller: A2aCaller) -> A2aTaskList:
        """Return a page of a person's tasks, the latest first."""
        size = PAGE_SIZE if params.page_size is None else params.page_size
        if not 1 <= size <= MAX_PAGE:
            what = f"pageSize is between 1 and {MAX_PAGE}"
            raise A2aFault(INVALID_PARAMS, what, field="pageSize")
        _check_length(params.history_length)
        tasks = await self._choose_tasks(params, caller)
        start = _start(params.page_token, tasks)
        page = tasks[start : start + size]
        more = start + size < len(tasks)
        return A2aTaskList(
            tasks=[_listed_task(task, params) for task in page],
            next_page_token=_token(page[-1].id) if more else "",
            page_size=size,
            total_size=len(tasks),
        )

    async def cancel_task(self, params: A2aTaskParams, caller: A2aCaller) -> A2aTask:
        """Cancel a task; return it."""
        return await self._sender.cancel(caller.speaker, _given_value(params.id, "id"))

    async def subscribe_to_task(
        self, params: A2aTaskParams, caller: A2aCaller
    ) -> AsyncIterator[A2aEvent]:
        """Yield the present state of a task, and its updates until it is over."""
        task = await self._sender.task(caller.speaker, _given_value(params.id, "id"))
        if task.status.state in TERMINAL:  # UnsupportedOperationError by A2A 1.0, 3.1.6
            what = f"the task is over: {task.status.state}"
            raise A2aFault(UNSUPPORTED_OPERATION, what, field="id")
        return self._follow_task(task, caller)

    # -- webhooks ---------------------------------------------------------------------------

    async def create_webhook(self, params: A2aPushConfig, caller: A2aCaller) -> A2aPushConfig:
        """Add a webhook of a task."""
        await self._webhooks.check(params, trusted=caller.trusted)
        place = await self._find_place(params.task_id, caller)
        return await self._webhooks.add(place, params, legacy=caller.legacy, trusted=caller.trusted)

    async def get_webhook(self, params: A2aPushParams, caller: A2aCaller) -> A2aPushConfig:
        """Return a webhook of a task, without an id the first webhook."""
        for config in (await self.list_webhooks(params, caller)).configs:
            if params.id in ("", config.id):
                return config
        raise A2aFault(TASK_NOT_FOUND, f"the task has no webhook {params.id!r:.80}", field="id")

    async def list_webhooks(self, params: A2aPushParams, caller: A2aCaller) -> A2aPushList:
        """Return the webhooks of a task."""
        place = await self._find_place(params.task_id, caller)
        return A2aPushList(configs=await self._webhooks.task_webhooks(place.user, params.task_id))

    async def delete_webhook(self, params: A2aPushParams, caller: A2aCaller) -> None:
        """Remove a webhook of a task if it exists."""
        place = await self._find_place(params.task_id, caller)
        await self._webhooks.remove(place.user, params.task_id, _given_value(params.id, "id"))

    async def _find_place(self, task_id: str, caller: A2aCaller) -> A2aPlace:
        """Return the place of a task; raise `A2aFault` for an unknown task."""
        await self._sender.task(caller.speaker, _given_value(task_id, "taskId"))
        return find_task_place(caller.speaker, task_id)

    # -- lists ------------------------------------------------------------------------------

    async def _choose_tasks(self, params: A2aListParams, caller: A2aCaller) -> list[A2aTask]:
        if params.status and params.status not in STATES:
            raise A2aFault(INVALID_PARAMS, f"no state is {params.status!r:.80}", field="status")
        after = None
        if params.status_timestamp_after is not None:
            after = parse_time(params.status_timestamp_after)
            if after is None:
                what = "statusTimestampAfter is a time of RFC 3339"
                raise A2aFault(INVALID_PARAMS, what, field="statusTimestampAfter")
        speaker, context = caller.speaker, params.context_id
        if not context and speaker.user is None and speaker.own is None:
            what = "without a token name the context whose tasks you want"
            raise A2aFault(INVALID_PARAMS, what, field="contextId")
        running = self._sender.running(speaker, context)
        ids = {task.id for task in running}
        if context:
            stored = await self._archive.context_tasks(
                find_place(speaker, context, "").user, context
            )
        else:
            stored = await self._archive.list_tasks(speaker)
        found = [*running, *(task for task in stored if task.id not in ids)]
        # The latest status first (A2A 1.0, 3.1.4).
        found.sort(key=lambda one: (one.status.timestamp or "", one.id), reverse=True)
        return [
            task
            for task in found
            if params.status in ("", task.status.state)
            and (after is None or (parse_time(task.status.timestamp or "") or after) > after)
        ]

    # -- subscriptions ----------------------------------------------------------------------

    async def _events_until_answer(
        self, events: AsyncIterator[A2aEvent], caller: A2aCaller
    ) -> AsyncIterator[A2aEvent]:
        update = None
        async for event in events:
            update = event.status_update
            yield event
        if update is not None and update.status.state == WORKING:
            task = A2aTask(id=update.task_id, context_id=update.context_id, status=update.status)
            following = self._follow_task(task, caller)
            await anext(following)
            async for event in following:
                yield event

    async def _follow_task(self, task: A2aTask, caller: A2aCaller) -> AsyncIterator[A2aEvent]:
        place = find_task_place(caller.speaker, task.id)
        yield A2aEvent(task=task)
        until = time.monotonic() + SUBSCRIPTION_SECONDS
        left = caller.left() if caller.left else _never()
        with self._assistant.feeds.listening(place.user) as news, beside(left) as leaving:
            while task.status.state not in TERMINAL and time.monotonic() < until:
                now = await self._sender.task(caller.speaker, task.id)
                if now.status == task.status:
                    with beside(self._sender.pause(place.user, task.id, news)) as pausing:
                        await asyncio.wait({pausing, leaving}, return_when=FIRST_COMPLETED)
                    if leaving.done():
                        return
                    continue
                task = now
                for event in [*artifact_events(task), status_event(task, task.status)]:
                    yield event


async def _never() -> None:
    """Wait for ever."""
    await asyncio.Event().wait()


def _given_value(id_: str, field: str) -> str:
    if not id_:
        raise A2aFault(INVALID_PARAMS, f"{field} is needed", field=field)
    return id_


def _check_length(length: int | None) -> None:
    if length is not None and length < 0:
        raise A2aFault(INVALID_PARAMS, "historyLength is at least 0", field="historyLength")


def _listed_task(task: A2aTask, params: A2aListParams) -> A2aTask:
    task = keep_history(task, params.history_length)
    return task if params.include_artifacts else msgspec.structs.replace(task, artifacts=[])


def _token(task_id: str) -> str:
    return base64.urlsafe_b64encode(task_id.encode()).rstrip(b"=").decode()


def _start(token: str, tasks: list[A2aTask]) -> int:
    """Return the index at which a page begins; its token is the id of the task before it."""
    if not token:
        return 0
    try:
        padded = token + "=" * (-len(token) % 4)
        last = base64.urlsafe_b64decode(padded).decode()
    except (binascii.Error, ValueError):
        last = ""
    for position, task in enumerate(tasks):
        if task.id == last:
            return position + 1
    raise A2aFault(INVALID_PARAMS, "pageToken is none that was given here", field="pageToken")
