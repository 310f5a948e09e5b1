"""Popular commands: how often each example command was used, over all users."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any, Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.dialog import plain
from prolocutor.errors import BadInput, StoreError
from prolocutor.web.requests import json_response

log = logging.getLogger(__name__)

KIND: Final = "almond-example"
ALL_USERS: Final = ""
MOST: Final = 10_000
"""Different examples that are counted; further ones are not."""

LIMIT: Final = 1 << 53
SHOWN: Final = 20

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,3}")


class PopularCommands:
    """Counts the `example_id`s of parsed commands, in the store's records."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._counts: dict[str, int] | None = None
        self._counting = asyncio.Lock()

    async def count(self, parsed: dict[str, Any] | None) -> None:
        """Count a command if it names its example; a failing store is logged."""
        example = (parsed or {}).get("example_id", -1)
        if not 0 <= example < LIMIT:
            return
        try:
            async with self._counting:
                await self._count(str(example))
        except StoreError as error:
            log.warning("a command is not counted: %s", error)

    async def show(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /api/commands/popular?limit=20`: the most frequent first."""
        given = request.query("limit") or str(SHOWN)
        if not _NUMBER.fullmatch(given):
            raise BadInput("limit is a number between 1 and 9999", field="limit")
        async with self._counting:
            counts = await self._known()
            ranked = sorted(counts.items(), key=lambda pair: -pair[1])[: int(given)]
        return json_response([{"example_id": int(key), "count": count} for key, count in ranked])

    async def _count(self, key: str) -> None:
        counts = await self._known()
        if key not in counts and len(counts) >= MOST:
            return
        count = counts.get(key, 0) + 1
        await self._assistant.store.put_record(ALL_USERS, KIND, key, plain.encode(count))
        counts[key] = count

    async def _known(self) -> dict[str, int]:
        if self._counts is None:
            records = await self._assistant.store.records(ALL_USERS, KIND)
            self._counts = {key: plain.decode(body) for key, body in records.items()}
        return self._counts
