"""Approvals by clients of Almond's socket and of Telegram, over kills of the assistant."""

import asyncio
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from tests.acceptance.commands import Commands
from tests.plugins.almond.acceptance.test_almond import until_asked
from tests.plugins.effects.acceptance.paying import charges, written
from tests.plugins.telegram.integration.test_telegram import TOKEN, BotServer, bot_server, buttons


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path, "person")


async def test_a_person_approves_over_almonds_socket(commands: Commands, file: Path) -> None:
    with commands.serving(file) as server:
        address = f"{server.url.replace('http', 'ws')}/api/conversation"
        async with connect(address) as socket:
            await until_asked(socket)
            await socket.send('{"type": "command", "text": "pay 50 Bob"}')
            asked = await until_asked(socket)
        server.process.kill()
        server.process.wait()
    with commands.serving(file) as server:
        address = f"{server.url.replace('http', 'ws')}/api/conversation"
        async with connect(f"{address}?after={asked[-2]['id']}") as socket:
            again = await until_asked(socket)
            await socket.send('{"type": "parsed", "code": ["bookkeeping", "choice", "0"]}')
            done = await until_asked(socket)

    titles = ["Approve (yes)", "Edit", "Refuse (no)"]
    assert [one["title"] for one in asked if one["type"] == "choice"] == titles
    assert asked[-1]["ask"] == "choice"
    assert again[-1]["ask"] == "choice"
    assert "Paid 50." in [one.get("text") for one in done]
    assert charges(file) == ["50 Bob"]


async def test_a_person_approves_in_telegram(commands: Commands, file: Path) -> None:
    async with bot_server() as (bot, url), asyncio.timeout(170):
        await asyncio.to_thread(add_telegram, file, url)
        await _in_telegram(bot, commands, file)

    assert charges(file) == ["50 Bob"]


def add_telegram(file: Path, url: str) -> None:
    told = f"doors:\n  page: {{}}\n  telegram: {{token: '{TOKEN}', api: '{url.rstrip('/')}'}}\n"
    file.write_text(file.read_text() + told)


async def _in_telegram(bot: BotServer, commands: Commands, file: Path) -> None:
    serving = commands.serving(file)
    server = await asyncio.to_thread(serving.__enter__)
    await bot.say("pay 50 Bob")
    while not buttons_of(bot):
        await bot.shown(len(bot.messages()) + 1)
    server.process.kill()
    server.process.wait()
    serving.__exit__(None, None, None)
    serving = commands.serving(file)
    await asyncio.to_thread(serving.__enter__)
    try:
        await bot.press(buttons_of(bot)["Approve (yes)"])
        while "Paid 50." not in [one.get("text") for one in bot.messages()]:
            await bot.shown(len(bot.messages()) + 1)
    finally:
        serving.__exit__(None, None, None)


def buttons_of(bot: BotServer) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in bot.messages():
        if "inline_keyboard" in one.get("reply_markup", {}):
            found |= buttons(one)
    return found if "Refuse (no)" in found else {}
