"""The door `telegram` against a Bot API on this machine that keeps the real one's rules."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import DoorPlace
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.telegram.channel import RETRY_SECONDS, Telegram, TelegramDoor, split

TOKEN = "123456:A-secret_of-the-bot"
ANN = 7
TYPED = asyncio.Event()


class BotServer:
    """Keeps updates until an offset confirms them, and all that a bot sends."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.failures: list[tuple[int, dict[str, Any]]] = []
        self.numberless: list[Any] = []
        self.waits = True
        self.valid = True
        self.forgets = True
        self.news = asyncio.Condition()
        self._last = 100

    async def add(self, **update: Any) -> None:
        async with self.news:
            self._last += 1
            self.updates.append({"update_id": self._last, **update})
            self.news.notify_all()

    async def say(self, text: str | None = None, **more: Any) -> None:
        person = {"id": ANN, "is_bot": False, "first_name": "Ann"}
        said = {} if text is None else {"text": text}
        chat = {"id": ANN, "type": "private"}
        message = {"message_id": self._last, "date": 0, "from": person, "chat": chat}
        await self.add(message={**message, **said, **more})

    async def press(self, data: str) -> None:
        message = {"message_id": 1, "date": 0, "chat": {"id": ANN, "type": "private"}}
        person = {"id": ANN, "is_bot": False}
        await self.add(callback_query={"id": "q", "from": person, "message": message, "data": data})

    async def shown(self, number: int) -> list[dict[str, Any]]:
        """Wait until so many messages are sent, and return them."""
        async with self.news:
            await self.news.wait_for(lambda: len(self.messages()) >= number)
        return self.messages()

    def messages(self) -> list[dict[str, Any]]:
        return [asked for method, asked in self.sent if method in ("sendMessage", "sendPhoto")]

    async def answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        method = request.match_info["method"]
        if request.match_info["token"] != TOKEN or not self.valid:
            return refusal(401, description="Unauthorized")
        if method == "getUpdates":
            return web.json_response({"ok": True, "result": await self._poll(asked)})
        if method == "sendMessage" and self.failures:
            code, more = self.failures.pop(0)
            return refusal(code, description="no", **more)
        if method == "sendMessage" and not 0 < len(asked["text"]) <= 4096:
            return refusal(400, description="Bad Request: message is too long")
        async with self.news:
            self.sent.append((method, asked))
            if method == "sendChatAction":
                TYPED.set()
            self.news.notify_all()
        return web.json_response({"ok": True, "result": {"message_id": 1}})

    async def _poll(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        async with self.news:
            offset = asked.get("offset", 0)
            if self.forgets:
                self.updates = [update for update in self.updates if update["update_id"] >= offset]
            fresh = [update for update in self.updates if update["update_id"] >= offset]
            if not fresh and not self.numberless and self.waits:
                await self.news.wait()
            numberless, self.numberless = self.numberless, []
            return numberless + [update for update in self.updates if update["update_id"] >= offset]


FAILED: dict[str, Any] = {"parameters": {"retry_after": 0}}


def refusal(code: int, **more: Any) -> web.Response:
    return web.json_response({"ok": False, "error_code": code, **more}, status=code)


async def speaker(request: dict[str, Any]) -> dict[str, Any]:
    """Say what a test needs, and count."""
    said, answer = request["utterances"][-1]["text"], request.get("answer")
    number = request["human"]["attributes"].get("number", 0) + 1
    counted = {"confidence": 1.0, "human_attributes": {"number": number}}
    if answer is not None:
        return {"text": f"{number}: {answer['value']}", **counted}
    if said == "wine":
        titles = [{"type": "choice", "title": title} for title in ("Red", "White")]
        asked = [{"type": "text", "text": "Which?"}, *titles]
        return {"messages": asked, "ask": "choice", **counted}
    if said in ("yesno", "location", "phone_number"):
        return {"text": "Well?", "ask": said, **counted}
    if said == "cat":
        shown = {"type": "picture", "url": "https://example.org/cat.png", "alt": "A cat"}
        return {"messages": [shown], **counted}
    if said == "think":
        await TYPED.wait()
    if said == "long":
        return {"text": "words " * 1_000, **counted}
    return {"text": f"{number}: {said}", **counted}


@asynccontextmanager
async def bot_server() -> AsyncIterator[tuple[BotServer, str]]:
    bot, app = BotServer(), web.Application()
    TYPED.clear()
    app.router.add_post("/bot{token}/{method}", bot.answer)
    server = TestServer(app)
    await server.start_server()
    try:
        async with asyncio.timeout(60):
            yield bot, str(server.make_url(""))
    finally:
        async with bot.news:
            bot.news.notify_all()
        await server.close()


@asynccontextmanager
async def opened(url: str, store: str = "memory:") -> AsyncIterator[Assistant]:
    async with Assistant(Pipeline(skills=[Service("speaker", speaker)]), store=store) as assistant:
        door = Telegram(assistant, TOKEN, url)
        door.bot.first_pause = 0.0
        await door.open()
        try:
            yield assistant
        finally:
            await door.close()


def buttons(message: dict[str, Any]) -> dict[str, str]:
    rows = message["reply_markup"]["inline_keyboard"]
    return {key["text"]: key["callback_data"] for row in rows for key in row}


async def test_a_person_talks_presses_buttons_and_shares() -> None:
    async with bot_server() as (bot, url), opened(url) as assistant:
        await bot.say("hello")
        assert (await bot.shown(1))[-1] == {"chat_id": ANN, "text": "1: hello"}
        await bot.say("wine")
        asked = (await bot.shown(2))[-1]
        assert asked["text"] == "Which?"
        assert list(buttons(asked)) == ["Red", "White"]
        await bot.press(buttons(asked)["White"])
        assert "White" in (await bot.shown(3))[-1]["text"]
        await bot.say("yesno")
        asked = (await bot.shown(4))[-1]
        assert asked["text"] == "Well?"
        assert list(buttons(asked)) == ["Yes", "No"]
        await bot.press(buttons(asked)["No"])
        assert (await bot.shown(5))[-1]["text"] == "5: False"
        await bot.say("location")
        (key,) = (await bot.shown(6))[-1]["reply_markup"]["keyboard"][0]
        assert key["request_location"] is True
        await bot.say(location={"latitude": 48.1, "longitude": 11.5})
        assert "48.1" in (await bot.shown(7))[-1]["text"]
        await bot.say("phone_number")
        (key,) = (await bot.shown(8))[-1]["reply_markup"]["keyboard"][0]
        assert key["request_contact"] is True
        await bot.say(contact={"phone_number": "4930123456", "first_name": "Ann"})
        assert (await bot.shown(9))[-1]["text"] == "9: +4930123456"
        await bot.say("cat")
        assert (await bot.shown(10))[-1]["photo"] == "https://example.org/cat.png"
        await bot.say("long")
        *_, first, second = await bot.shown(12)
        assert f"{first['text']} {second['text']}".split() == ["words"] * 1_000
        await bot.say("think")
        await bot.shown(13)
        await bot.press("row:999")
        assert "not there" in (await bot.shown(14))[-1]["text"]
        await bot.say(sticker={"file_id": "x"})
        assert "I can read" in (await bot.shown(15))[-1]["text"]

        before = await assistant.store.active_dialog_id(f"telegram:{ANN}", str(ANN))
        await bot.say("/start")
        await bot.shown(16)
        assert before is not None
        assert await assistant.store.active_dialog_id(f"telegram:{ANN}", str(ANN)) != before
        methods = [method for method, _ in bot.sent]
    assert {"sendChatAction", "answerCallbackQuery"} <= set(methods)


async def test_what_is_said_unasked_is_sent_to_the_chat() -> None:
    async with bot_server() as (bot, url), opened(url) as assistant:
        await bot.say("hello")
        await bot.shown(1)
        await assistant.notify(f"telegram:{ANN}", "The tea is ready.", dialog=str(ANN))
        await bot.shown(2)
        await assistant.notify(f"telegram:{ANN}", "So is the cake.")
        said = await bot.shown(3)

    assert [one["text"] for one in said[1:]] == ["The tea is ready.", "So is the cake."]
    assert {one["chat_id"] for one in said} == {ANN}


async def test_a_call_that_came_too_early_or_met_a_broken_server_is_made_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with bot_server() as (bot, url), opened(url):
        bot.failures = [(429, FAILED), (502, {})]
        await bot.say("hello")
        said = await bot.shown(1)

    assert [one["text"] for one in said] == ["1: hello"]
    assert "429" in caplog.text
    assert "502" in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("update", [None, 5, {"message": {}}, {"update_id": "1"}])
async def test_an_update_without_a_number_stops_no_later_one(update: Any) -> None:
    async with bot_server() as (bot, url):
        bot.numberless = [update]
        async with opened(url):
            await bot.say("hello")
            assert [one["text"] for one in await bot.shown(1)] == ["1: hello"]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds of all sleeps, none of which lasts."""
    seconds: list[float] = []
    sleep = asyncio.sleep

    async def note(pause: float) -> None:
        seconds.append(pause)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)
    return seconds


async def test_polls_that_are_answered_at_once_with_nothing_are_a_second_apart(
    pauses: list[float],
) -> None:
    async with bot_server() as (bot, url):
        bot.waits = False
        async with opened(url):
            await bot.say("hello")
            await bot.shown(1)
    assert any(0.5 < pause <= RETRY_SECONDS for pause in pauses)


async def test_a_pause_below_zero_is_not_kept(pauses: list[float]) -> None:
    async with bot_server() as (bot, url):
        bot.failures = [(429, {"parameters": {"retry_after": -1}})]
        async with opened(url):
            await bot.say("hello")
            await bot.shown(1)
    assert min(pauses) >= 0


async def test_an_update_that_comes_again_after_a_crash_is_answered_once(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/dialogs.db"
    async with bot_server() as (bot, url):
        bot.forgets = False  # the confirming poll of the process that ended was never seen
        async with opened(url, store) as first:
            await bot.say("hello")
            await bot.shown(1)
            await first.notify(f"telegram:{ANN}", "one")
            await bot.shown(2)
        async with opened(url, store):
            await bot.say("again")
            said = await bot.shown(3)

    assert [one["text"] for one in said] == ["1: hello", "one", "2: again"]


async def test_what_was_stored_but_not_sent_is_sent_by_the_next_process(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/dialogs.db"
    async with bot_server() as (bot, url):
        async with opened(url, store):
            await bot.say("hello")
            await bot.shown(1)
        pipeline = Pipeline(skills=[Service("speaker", speaker)])
        async with Assistant(pipeline, store=store) as alone:  # its door ended after the turn
            await alone.turn("missed", user=f"telegram:{ANN}", dialog=str(ANN))
        async with opened(url, store):
            said = await bot.shown(2)

    assert [one["text"] for one in said] == ["1: hello", "2: missed"]


async def test_a_token_that_is_refused_stops_the_door_with_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stopped = asyncio.Event()

    class Noted(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            stopped.set()

    noted = Noted(logging.ERROR)
    logging.getLogger("prolocutor.plugins.telegram.channel").addHandler(noted)
    async with bot_server() as (bot, url):
        bot.valid = False
        async with opened(url):
            await stopped.wait()
    logging.getLogger("prolocutor.plugins.telegram.channel").removeHandler(noted)

    (line,) = [message for message in caplog.messages if "Telegram" in message]
    assert "stops: Telegram refuses its token (401" in line
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("token", ["", "no token", "1:2/../getMe"])
def test_what_is_no_token_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(ConfigError) as refused:
        TelegramDoor(token=token).check(DoorPlace(Path(), ()))
    assert not token or token not in str(refused.value)


def test_texts_are_split_by_utf_16_units_and_lose_nothing() -> None:
    parts = split("😀" * 5_000)

    assert [len(part) for part in parts] == [2_048, 2_048, 904]
    assert split("a" * 4_090 + "\n" + "b" * 10) == ["a" * 4_090, "b" * 10]
