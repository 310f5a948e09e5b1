"""A WebSocket for the results and errors of running programs."""

from __future__ import annotations

import asyncio
from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import WebSocket, count_socket
from prolocutor.contracts.store import FeedRow
from prolocutor.dialog import plain
from prolocutor.dialog.schedules import NOTIFICATION
from prolocutor.plugins.almond.door.dialects import Frame, encode_frame
from prolocutor.plugins.almond.door.speakers import Speaker
from prolocutor.web.event_writing import FeedFollower


class ResultStream:
    """Sends results from the moment on at which the socket was opened."""

    def __init__(self, assistant: Assistant, speaker: Speaker, socket: WebSocket) -> None:
        self._assistant = assistant
        self._speaker = speaker
        self._socket = socket
        self._found: Frame | None = None

    async def run(self) -> None:
        """Serve the socket until the client is gone; its frames are ignored."""
        user = self._speaker.user
        with count_socket(user), self._assistant.feeds.listening(user) as news:
            store = self._assistant.store
            feed = FeedFollower(store, user, self._send_rows, await store.feed_end(user))
            async with asyncio.TaskGroup() as group:
                sending = group.create_task(feed.follow(news))
                async for _ in self._socket:
                    pass
                sending.cancel()

    async def _send_rows(self, rows: list[FeedRow]) -> None:
        for row in rows:
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
        self._socket.send(encode_frame(frame))
