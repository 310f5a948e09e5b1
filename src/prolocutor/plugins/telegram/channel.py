"""Telegram: the door for a bot of Telegram.

It polls for updates, so it needs no public address. An update is stored before it is confirmed and
removed when its turn is over; `update_id` is the key of the turn. Thus an update repeated after a
crash is answered once.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, Final
from weakref import WeakValueDictionary

import msgspec
from msgspec import Meta

from prolocutor.asks.intents import read_object
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_stream import FeedMessage, feed_message
from prolocutor.background import BackgroundTasks, beside
from prolocutor.contracts.channel import DoorPlace, Route
from prolocutor.contracts.store import FeedRow
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rendering import plain_text
from prolocutor.errors import BadInput, ConfigError, Stopping, StoreError
from prolocutor.plugins.telegram.bot_api import (
    BotApi,
    BotRefusal,
    BotTokenRefused,
    BotUpdate,
    TelegramMessage,
)
from prolocutor.web.door_context import DoorContext
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import FeedFollower

KIND: Final = "telegram-sent"

log = logging.getLogger(__name__)

API: Final = "https://api.telegram.org"
INBOX: Final = "telegram-update"
POLL_SECONDS: Final = 50
"""Seconds of a long poll for updates."""
RETRY_SECONDS: Final = 1.0
"""Seconds before a failed store is asked again, and between two polls that bring nothing."""
TYPING_INTERVAL: Final = 4.5
"""Seconds between two typing indicators; Telegram shows each for 5."""

_TOKEN: Final = re.compile(r"\d+:[\w-]+", re.ASCII)
_START: Final = re.compile(r"/start(?:@\w+)?(?:\s.*)?", re.DOTALL)
_BEGUN: Final = "A new dialog begins. What can I do for you?"
_UNREAD: Final = "I can read texts, places and phone numbers."
_GONE: Final = "This button is not there any more."

LONGEST_TEXT: Final = 4_096
LONGEST_CAPTION: Final = 1_024
PRESSED_ROW: Final = "row:"
"""The data of a button: this prefix and the number of its row in the person's feed."""
ANSWERS: Final = {"answer:yes": "yes", "answer:no": "no"}
"""The data of the buttons of a yes-or-no question, and their texts as input."""

_SHARED: Final = {
    "location": {"text": "Send my location", "request_location": True},
    "phone_number": {"text": "Send my phone number", "request_contact": True},
}
_PRESSED: Final = ("button", "choice")


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


class TelegramInput(msgspec.Struct, frozen=True):
    """A person's text in a chat, and the content of a pressed button."""

    user: str
    chat: int
    text: str
    parsed: JsonObject | None = None


class TelegramDoor(msgspec.Struct, frozen=True, kw_only=True):
    """A bot of Telegram, by long polling of the Bot API."""

    token: Annotated[str, Meta(description="The token that BotFather made for the bot.")] = ""
    api: Annotated[str, Meta(description="The address of the Bot API.")] = API

    def check(self, place: DoorPlace) -> None:
        """Raise `ConfigError` for a malformed token."""
        if not _TOKEN.fullmatch(self.token):
            raise ConfigError(
                "the door telegram needs the token of a bot: telegram: {token: ${TELEGRAM_TOKEN}}"
            )

    def build(self, context: DoorContext) -> Telegram:
        """Return the door."""
        self.check(DoorPlace(context.folder, ()))
        return Telegram(context.assistant, self.token, self.api)


class Telegram:
    """The door for a bot, by its `token`; `api` is the Bot API's server."""

    name: Final = "telegram"
    prefix: Final = "telegram:"
    routes: Sequence[Route] = ()

    def __init__(self, assistant: Assistant, token: str, api: str = API) -> None:
        self.bot = BotApi(token, api)
        self._assistant = assistant
        self._delivery = ChatDelivery(assistant, self.bot, self.prefix)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._running = BackgroundTasks("Telegram")
        self._ids: set[int] = set()

    async def open(self) -> None:
        """Start polling."""
        self._running.start(self._run())

    async def close(self) -> None:
        """Stop polling; running turns go on, and their replies are sent after the next start."""
        await self._running.aclose()
        await self._delivery.aclose()
        await self.bot.aclose()

    async def _run(self) -> None:
        resumed, offset = False, None
        clock = asyncio.get_running_loop().time
        while True:
            begun, confirmed = clock(), offset
            try:
                if not resumed:
                    await self._resume()
                    resumed = True
                for raw in await self.bot.updates(offset, POLL_SECONDS):
                    offset = await self._take(bytes(raw), offset)
                if offset == confirmed:  # nothing came: a server that does not wait is not hurried
                    await asyncio.sleep(begun + RETRY_SECONDS - clock())
            except StoreError as error:
                log.error("Telegram: the store cannot be reached: %s", error)
                await asyncio.sleep(RETRY_SECONDS)
            except BotTokenRefused as error:
                log.error("the door telegram stops: Telegram refuses its token (%s)", error)
                return
            except BotRefusal as error:
                log.error("the door telegram stops: Telegram refuses to send updates (%s)", error)
                return

    async def _resume(self) -> None:
        await self._delivery.resume()
        stored = (await self._assistant.store.records("", INBOX)).values()
        updates = [msgspec.json.decode(body, type=BotUpdate) for body in stored]
        for update in sorted(updates, key=lambda one: one.update_id):
            self._begin(update)

    async def _take(self, raw: bytes, offset: int | None) -> int | None:
        """Store an update and start on it; return the offset for confirming it.

        An update without a number cannot be confirmed: it leaves the `offset` as it is.
        """
        try:
            update_id = msgspec.json.decode(raw, type=_Numbered).update_id
        except msgspec.MsgspecError as error:
            log.warning("Telegram: an update has no number: %s", error)
            return offset
        try:
            update = msgspec.json.decode(raw, type=BotUpdate)
        except msgspec.MsgspecError as error:
            log.warning("Telegram: update %d cannot be read: %s", update_id, error)
        else:
            await self._assistant.store.put_record("", INBOX, str(update_id), raw)
            self._begin(update)
        return update_id + 1

    def _begin(self, update: BotUpdate) -> None:
        if update.update_id not in self._ids:
            self._ids.add(update.update_id)
            self._running.start(self._handle(update))

    async def _handle(self, update: BotUpdate) -> None:
        """Answer an update, after the earlier updates of its person."""
        person = _sender(update)
        lock = self._locks.setdefault(person, asyncio.Lock())
        try:
            async with lock:
                await self._answer(update)
            await self._assistant.store.delete_record("", INBOX, str(update.update_id))
        except (Stopping, BotTokenRefused):
            pass  # it stays in the store for the next start
        except StoreError as error:
            log.error("Telegram: update %d waits for the next start: %s", update.update_id, error)
        finally:
            self._ids.discard(update.update_id)

    async def _answer(self, update: BotUpdate) -> None:
        if update.callback_query is not None:
            asked = {"callback_query_id": update.callback_query.id}
            self._running.start(self._quietly(BotCall("answerCallbackQuery", asked)))
        chat = _chat(update)
        if chat is None:
            return
        try:
            said = await self._read_input(update)
            if said is not None:
                await self._turn(said, f"telegram-{update.update_id}")
        except (Stopping, StoreError, BotRefusal):
            raise
        except Exception as error:
            await self._say(chat, error_response(error).error)

    async def _turn(self, telegram_input: TelegramInput, key: str) -> None:
        dialog = str(telegram_input.chat)
        await self._delivery.follow(telegram_input.user)
        if _START.fullmatch(telegram_input.text) and telegram_input.parsed is None:
            await self._assistant.archive.close(telegram_input.user, dialog)
            await self._say(telegram_input.chat, _BEGUN)
            return
        input = TurnInput(
            telegram_input.text,
            telegram_input.user,
            dialog,
            {},
            key,
            channel=self.name,
            parsed=telegram_input.parsed,
        )
        with beside(self._typing(telegram_input.chat)):
            await self._assistant.turn(input)

    async def _read_input(self, update: BotUpdate) -> TelegramInput | None:
        """Return the input of an update; None if it has no sender. Raise `BadInput`."""
        press, message = update.callback_query, update.message
        if press is not None and press.message is not None:
            user, chat = f"{self.prefix}{press.sender.id}", press.message.chat.id
            if press.data in ANSWERS:
                return TelegramInput(user, chat, ANSWERS[press.data])
            return await self._find_pressed(user, chat, press.data)
        if message is None or message.sender is None or message.sender.is_bot:
            return None
        text = _text(message)
        if text is None:
            raise BadInput(_UNREAD, field="text")
        return TelegramInput(f"{self.prefix}{message.sender.id}", message.chat.id, text)

    async def _find_pressed(self, user: str, chat: int, data: str) -> TelegramInput:
        """Find a pressed button in the feed of its person; raise `BadInput` if it is gone."""
        number = data.removeprefix(PRESSED_ROW)
        if number.isdecimal() and len(number) < 16:
            for row in map(
                feed_message, await self._assistant.store.feed(user, int(number) - 1, 1)
            ):
                message = row.message or {}
                if row.n != int(number) or message.get("type") not in ("button", "choice"):
                    break
                content = message.get("json")
                parsed = None if content is None else read_object(content)
                return TelegramInput(user, chat, message["title"], parsed)
        raise BadInput(_GONE, field="data")

    async def _say(self, chat: int, text: str) -> None:
        await self._delivery.send(BotCall("sendMessage", {"chat_id": chat, "text": text}))

    async def _typing(self, chat: int) -> None:
        while True:
            await self._quietly(BotCall("sendChatAction", {"chat_id": chat, "action": "typing"}))
            await asyncio.sleep(TYPING_INTERVAL)

    async def _quietly(self, call: BotCall) -> None:
        """Make a call whose failure does not matter."""
        with suppress(BotRefusal):
            await self.bot.call(call.method, call.asked, msgspec.Raw)


class _Numbered(msgspec.Struct):
    update_id: int


def _sender(update: BotUpdate) -> str:
    if update.callback_query is not None:
        return str(update.callback_query.sender.id)
    sender = update.message.sender if update.message is not None else None
    return "" if sender is None else str(sender.id)


def _chat(update: BotUpdate) -> int | None:
    press = update.callback_query
    message = update.message if press is None else press.message
    return None if message is None else message.chat.id


def _text(message: TelegramMessage) -> str | None:
    """Return the content of a message in words known to asks."""
    if message.location is not None:
        return f"{message.location.latitude:.6f}, {message.location.longitude:.6f}"
    if message.contact is not None:
        number = message.contact.phone_number
        return f"+{number}" if number.isdecimal() else number
    return message.text or message.caption


class BotCall(msgspec.Struct, frozen=True):
    """A method of the Bot API, and its arguments."""

    method: str
    asked: dict[str, Any]


class ShownRow(msgspec.Struct, frozen=True):
    """A message of the feed, and the number of its row."""

    n: int
    message: JsonObject


def make_calls(rows: list[ShownRow], ask: str | None, chat: int) -> list[BotCall]:
    """Return the calls that show these rows together, in order; the last call has the keyboard."""
    shown: list[BotCall] = []
    lines: list[str] = []
    for row in rows:
        message = row.message
        url = message.get("url")
        if message["type"] == "picture" and isinstance(url, str) and url.startswith("http"):
            shown += _texts(lines, chat)
            lines = []
            caption = {"caption": message["alt"][:LONGEST_CAPTION]} if message.get("alt") else {}
            shown.append(BotCall("sendPhoto", {"chat_id": chat, "photo": url, **caption}))
        elif message["type"] not in ("result", *_PRESSED) or _is_described(message):
            lines.append(plain_text([message]))  # the feed has the fallback of a result before it
    keyboard = _keyboard(rows, ask, chat)
    shown += _texts(lines, chat)
    if keyboard is not None:
        if not shown:
            shown = _texts(["Please choose:"], chat)
        last = shown[-1]
        shown[-1] = BotCall(last.method, {**last.asked, "reply_markup": keyboard})
    return shown


def split(text: str) -> list[str]:
    """Split a text into parts of 4,096 UTF-16 units at most, at line ends or blanks if possible."""
    parts = []
    while text := text.strip():
        part = text.encode("utf-16-le")[: 2 * LONGEST_TEXT].decode("utf-16-le", "ignore")
        if len(part) < len(text):
            half = len(part) // 2
            end = max(part.rfind("\n"), half)
            end = end if end > half else max(part.rfind(" "), half)
            part = part[:end] if end > half else part
        parts.append(part.rstrip())
        text = text[len(part) :]
    return parts


def _texts(lines: list[str], chat: int) -> list[BotCall]:
    text = "\n".join(line for line in lines if line)
    return [BotCall("sendMessage", {"chat_id": chat, "text": part}) for part in split(text)]


def _is_described(message: JsonObject) -> bool:
    more = message.get("text") if message["type"] == "choice" else None
    return bool(more) and more != message.get("title")


def _keyboard(rows: list[ShownRow], ask: str | None, chat: int) -> JsonObject | None:
    keys = [
        [{"text": row.message["title"], "callback_data": f"{PRESSED_ROW}{row.n}"}]
        for row in rows
        if row.message["type"] in _PRESSED and row.message.get("title")
    ]
    if not keys and ask == "yesno":
        yes, no = ANSWERS
        keys = [[{"text": "Yes", "callback_data": yes}, {"text": "No", "callback_data": no}]]
    if keys:
        return {"inline_keyboard": keys}
    if ask in _SHARED and chat > 0:  # groups have no such keys
        return {"keyboard": [[_SHARED[ask]]], "resize_keyboard": True, "one_time_keyboard": True}
    return None
