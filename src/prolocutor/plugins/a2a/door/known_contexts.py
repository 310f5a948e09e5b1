"""KnownContexts: a cache of contexts and finished tasks, which saves reads of the store."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, TypeVar

from msgspec import UNSET

from prolocutor.dialog import plain
from prolocutor.plugins.a2a.door.archive import TaskArchive
from prolocutor.plugins.a2a.door.places import A2aPlace, unknown_context
from prolocutor.plugins.a2a.wire.core import A2aTask

T = TypeVar("T")

MAX_KNOWN: Final = 10_000
"""The contexts, and the finished tasks, that are remembered so that the store need not be asked."""


MAX_CHARACTERS: Final = 10_000
"""The characters of a task that is remembered, about; a larger one is read again."""


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
