"""ChatDelivery: sends the messages of persons' feeds to their chats.

Replies and unasked messages take the same way. A record in the store holds the last sent row, so
the next process sends the rows that an ended process has not sent.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any, Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_stream import FeedMessage, feed_message
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.store import FeedRow
from prolocutor.dialog.rendering import plain_text
from prolocutor.plugins.telegram.bot_api import BotApi, BotRefusal, BotTokenRefused
from prolocutor.plugins.telegram.shown_messages import BotCall, ShownRow, make_calls
from prolocutor.web.event_writing import FeedFollower

log = logging.getLogger(__name__)

KIND: Final = "telegram-sent"


class SentUpTo(msgspec.Struct, frozen=True):
    """The last sent row of a person's feed."""

    n: int


class ChatDelivery:
    """Follows the feeds of all persons of the door."""

    def __init__(self, assistant: Assistant, bot: BotApi, prefix: str) -> None:
        self._assistant = assistant
        self._bot = bot
        self._prefix = prefix
        self._following: set[str] = set()
        self._tasks = BackgroundTasks("delivery to Telegram")

    async def resume(self) -> None:
        """Follow the feeds of persons known from earlier runs."""
        for user, body in (await self._assistant.store.records("", KIND)).items():
            self._follow(user, msgspec.json.decode(body, type=SentUpTo).n)

    async def follow(self, user: str) -> None:
        """Follow a person from now on, if not yet."""
        if user not in self._following:
            n = await self._assistant.store.feed_end(user)
            await self._note(user, n)
            self._follow(user, n)

    async def aclose(self) -> None:
        """Stop; unsent messages are sent after the next start."""
        await self._tasks.aclose()

    async def send(self, call: BotCall) -> None:
        """Make a call; a refusal is logged. Raise `BotTokenRefused`."""
        try:
            await self._bot.call(call.method, call.asked, msgspec.Raw)
        except BotTokenRefused:
            raise
        except BotRefusal as error:
            if call.method == "sendPhoto":
                await self.send(_to_text(call))
            else:
                log.warning("Telegram refuses %s: %s", call.method, error)

    def _follow(self, user: str, n: int) -> None:
        if user not in self._following:
            self._following.add(user)
            self._tasks.start(self._deliver(user, n))

    async def _deliver(self, user: str, sent: int) -> None:
        """Send the complete replies of a person, and record the last sent row."""
        rows: list[ShownRow] = []

        async def send(page: list[FeedRow]) -> None:
            for one in map(feed_message, page):
                if one.message is not None and one.message["type"] != "command":
                    rows.append(ShownRow(one.n, one.message))
                if one.closing is not None:
                    for call in make_calls(rows, one.closing.get("ask"), self._chat(user, one)):
                        await self.send(call)
                    rows.clear()
                    await self._note(user, one.n)

        feed = FeedFollower(self._assistant.store, user, send, sent)
        with self._assistant.feeds.listening(user) as news, suppress(BotTokenRefused):
            news.set()
            await feed.follow(news)  # until the token is refused, as the poll says

    async def _note(self, user: str, n: int) -> None:
        await self._assistant.store.put_record("", KIND, user, msgspec.json.encode(SentUpTo(n)))

    def _chat(self, user: str, row: FeedMessage) -> int:
        """Return the chat of a dialog; for other dialogs the person's own."""
        try:
            return int(row.dialog_name)
        except ValueError:
            return int(user.removeprefix(self._prefix))


def _to_text(photo: BotCall) -> BotCall:
    """Replace a picture that Telegram cannot show by its address."""
    asked: dict[str, Any] = dict(photo.asked)
    picture = {"type": "picture", "url": asked.pop("photo"), "alt": asked.pop("caption", "")}
    return BotCall("sendMessage", {**asked, "text": plain_text([picture])})
