"""Results: a socket that is told what running programs find and what goes wrong with them."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from prolocutor.almond.door.dialects import Frame, encoded
from prolocutor.almond.door.people import Party
from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import WebSocket
from prolocutor.contracts.store import FeedRow
from prolocutor.dialog import plain
from prolocutor.dialog.notices import NOTIFICATION
from prolocutor.errors import StoreError

log = logging.getLogger(__name__)

PAGE: Final = 100
RETRY: Final = 1.0
"""Seconds after which a feed that could not be read is read again."""


class ResultStream:
    """One socket of a person; what came before it was opened is not told."""

    def __init__(self, assistant: Assistant, party: Party, socket: WebSocket) -> None:
        self._assistant = assistant
        self._party = party
        self._socket = socket
        self._after = 0
        self._found: Frame | None = None

    async def run(self) -> None:
        """Serve the socket until the client is gone; what it says is not heard."""
        with self._assistant.listening(self._party.user) as news:
            self._after = await self._assistant.store.feed_end(self._party.user)
            async with asyncio.TaskGroup() as group:
                telling = group.create_task(self._tell_all(news))
                async for _ in self._socket:
                    pass
                telling.cancel()

    async def _tell_all(self, news: asyncio.Event) -> None:
        while True:
            await news.wait()
            news.clear()
            try:
                await self._tell_news()
            except StoreError as error:
                log.error("a person's feed cannot be read: %s", error)
                await asyncio.sleep(RETRY)
                news.set()

    async def _tell_news(self) -> None:
        store, user = self._assistant.store, self._party.user
        if await store.feed_end(user) < self._after:
            self._after = 0  # the person was deleted, and is somebody new from now on
        while rows := await store.feed(user, self._after, PAGE):
            for row in rows:
                self._after = row.n
                self._read(row)
                await self._socket.room()

    def _read(self, row: FeedRow) -> None:
        message: Frame = {} if row.message is None else plain.decode(row.message)
        told = message.pop(NOTIFICATION, None)
        if isinstance(told, dict) and "utt_id" not in message:
            self._end()
            self._begin(told, message)
        elif self._found is not None:
            self._found["formatted"].append(message)
        if row.closing is not None:
            self._end()

    def _begin(self, told: Frame, message: Frame) -> None:
        about = {"appId": told.get("appId"), "icon": message.get("icon")}
        if "error" in told:
            self._send({"error": {**about, "error": told["error"]}})
            return
        said = told.get("text")
        formatted = [] if said is None else [{**message, "text": said}]
        self._found = {
            **about,
            "raw": told.get("raw"),
            "type": told.get("type"),
            "formatted": formatted,
        }

    def _end(self) -> None:
        found, self._found = self._found, None
        if found is not None:
            self._send({"result": found})

    def _send(self, frame: dict[str, Any]) -> None:
        self._socket.send(encoded(frame))
