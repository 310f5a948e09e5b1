"""A WebSocket for the results and errors of running programs."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.quota import open_socket_of
from prolocutor.contracts.store import FeedRow
from prolocutor.contracts.websocket import WebSocket
from prolocutor.dialog import plain
from prolocutor.dialog.notices import NOTIFICATION
from prolocutor.errors import StoreError
from prolocutor.plugins.almond.door.dialects import Frame, encoded
from prolocutor.plugins.almond.door.speakers import Speaker

log = logging.getLogger(__name__)

PAGE: Final = 100
RETRY: Final = 1.0
"""Seconds after which a feed that could not be read is read again."""


class ResultStream:
    """Sends results from the moment on at which the socket was opened."""

    def __init__(self, assistant: Assistant, speaker: Speaker, socket: WebSocket) -> None:
        self._assistant = assistant
        self._speaker = speaker
        self._socket = socket
        self._after = 0
        self._found: Frame | None = None

    async def run(self) -> None:
        """Serve the socket until the client is gone; its frames are ignored."""
        user = self._speaker.user
        with open_socket_of(user), self._assistant.feeds.listening(user) as news:
            self._after = await self._assistant.store.feed_end(self._speaker.user)
            async with asyncio.TaskGroup() as group:
                sending = group.create_task(self._send_all(news))
                async for _ in self._socket:
                    pass
                sending.cancel()

    async def _send_all(self, news: asyncio.Event) -> None:
        while True:
            await news.wait()
            news.clear()
            try:
                await self._send_news()
            except StoreError as error:
                log.error("a person's feed cannot be read: %s", error)
                await asyncio.sleep(RETRY)
                news.set()

    async def _send_news(self) -> None:
        store, user = self._assistant.store, self._speaker.user
        if await store.feed_end(user) < self._after:
            self._after = 0  # the person was deleted; their feed starts anew
        while rows := await store.feed(user, self._after, PAGE):
            for row in rows:
                self._after = row.n
                self._read(row)
                await self._socket.room()

    def _read(self, row: FeedRow) -> None:
        message: Frame = {} if row.message is None else plain.decode(row.message)
        notification = message.pop(NOTIFICATION, None)
        if isinstance(notification, dict) and "utt_id" not in message:
            self._end()
            self._begin(notification, message)
        elif self._found is not None:
            self._found["formatted"].append(message)
        if row.closing is not None:
            self._end()

    def _begin(self, notification: Frame, message: Frame) -> None:
        about = {"appId": notification.get("appId"), "icon": message.get("icon")}
        if "error" in notification:
            self._send({"error": {**about, "error": notification["error"]}})
            return
        said = notification.get("text")
        formatted = [message if said is None else {**message, "text": said}]
        self._found = {
            **about,
            "raw": notification.get("raw"),
            "type": notification.get("type"),
            "formatted": formatted,
        }

    def _end(self) -> None:
        found, self._found = self._found, None
        if found is not None:
            self._send({"result": found})

    def _send(self, frame: dict[str, Any]) -> None:
        self._socket.send(encoded(frame))
