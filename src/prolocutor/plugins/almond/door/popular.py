"""Popular commands: how often each example command was used, over all users."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog import plain
from prolocutor.errors import StoreError
from prolocutor.web.operations import TypedRequest

log = logging.getLogger(__name__)

KIND: Final = "almond-example"
ALL_USERS: Final = ""
MAX_EXAMPLES: Final = 10_000
"""The number of different examples that are counted; further examples are ignored."""

MAX_COUNT: Final = 1 << 53


class PopularQuery(msgspec.Struct, frozen=True):
    """How many examples are wanted."""

    limit: Annotated[
        int, Meta(ge=1, le=9999, extra={"error": "limit is a number between 1 and 9999"})
    ] = 20


class PopularCommand(msgspec.Struct, frozen=True):
    """An example command and how often it was used."""

    example_id: int
    count: int


class PopularCommands:
    """Counts the `example_id`s of parsed commands, in the store's records."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._counts: dict[str, int] | None = None
        self._counting = asyncio.Lock()

    async def count(self, parsed: dict[str, Any] | None) -> None:
        """Count a command if it names its example; a failing store is logged."""
        example = (parsed or {}).get("example_id", -1)
        if not 0 <= example < MAX_COUNT:
            return
        try:
            async with self._counting:
                await self._count(str(example))
        except StoreError as error:
            log.warning("a command is not counted: %s", error)

    async def popular_commands(
        self, request: TypedRequest[PopularQuery, None]
    ) -> list[PopularCommand]:
        """Return the most frequent examples, in descending order."""
        async with self._counting:
            counts = await self._load_counts()
            ranked = sorted(counts.items(), key=lambda pair: -pair[1])[: request.params.limit]
        return [PopularCommand(int(key), count) for key, count in ranked]

    async def _count(self, key: str) -> None:
        counts = await self._load_counts()
        if key not in counts and len(counts) >= MAX_EXAMPLES:
            return
        count = counts.get(key, 0) + 1
        await self._assistant.store.put_record(ALL_USERS, KIND, key, plain.encode(count))
        counts[key] = count

    async def _load_counts(self) -> dict[str, int]:
        if self._counts is None:
            records = await self._assistant.store.records(ALL_USERS, KIND)
            self._counts = {key: plain.decode(body) for key, body in records.items()}
        return self._counts
