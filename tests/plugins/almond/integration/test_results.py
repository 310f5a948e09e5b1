"""What running programs find, as a socket is told of it."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from msgspec.structs import replace

from prolocutor.assistant.assistant import Assistant
from prolocutor.plugins.almond.door.door import SOCKETS, Almond
from prolocutor.plugins.almond.programs.running_apps import PROGRAMS
from prolocutor.testing.channel_kit import Door, Gate
from prolocutor.testing.channel_kit import running as serving
from prolocutor.web.listener import Listener
from tests.plugins.almond.integration.wire import client, opened
from tests.plugins.almond.unit.programs.gadgets import TWEETS, Gadgets, running

LOCAL = "almond:local"
TWEETING = "monitor(@com.twitter.home_timeline());"
NEWS = {"text": "news", "author": "carol", "hashtags": [], "likes": 0}


@asynccontextmanager
async def watched(gadgets: Gadgets) -> AsyncIterator[Door]:
    """The door before an assistant that has these gadgets and watches tweets."""
    async with running(gadgets) as it:
        app = Listener(it, [Almond(it)])
        async with serving(app) as url, aiohttp.ClientSession(url) as http:
            await it.turn("", user=LOCAL, program=TWEETING)
            yield Door(url, http, it, app, Gate())


async def ring(it: Assistant) -> None:
    """Let all running programs be due now, and wait until they have run."""
    for entry in await it.store.entries(LOCAL, PROGRAMS):
        await it.store.schedule(replace(entry, due=time.time() - 1))
    await it.notify(LOCAL, "That is all.")


@pytest.mark.parametrize("base", SOCKETS)
async def test_results_of_a_program_are_told_as_results(base: str) -> None:
    gadgets = Gadgets()
    async with watched(gadgets) as door, client(door, address=f"{base}/results") as results:
        gadgets.tables["home_timeline"] = [NEWS, *TWEETS]
        await ring(door.assistant)
        found = (await results.receive())["result"]
        [app] = await door.assistant.programs.apps(LOCAL)

    [message] = found.pop("formatted")
    raw = found.pop("raw")
    assert message["type"] == "text"
    assert message["text"] == "carol: news"
    assert raw.items() >= {"text": "news", "author": "carol"}.items()
    assert found == {
        "appId": app.id,
        "icon": app.icon,
        "type": "com.twitter:home_timeline",
    }


async def test_each_result_is_told_by_itself_and_conversations_are_not_told_more() -> None:
    gadgets = Gadgets()
    async with (
        watched(gadgets) as door,
        client(door, address="/api/results") as results,
        opened(door) as ann,
    ):
        gadgets.tables["home_timeline"] = [NEWS, {**NEWS, "author": "dan"}]
        await ring(door.assistant)
        found = [(await results.receive())["result"] for _ in range(2)]
        shown = await ann.until_asked()

    assert [[one["text"] for one in each["formatted"]] for each in found] == [
        ["carol: news"],
        ["dan: news"],
    ]
    assert [each["raw"]["author"] for each in found] == ["carol", "dan"]
    assert [one["text"] for one in shown[:-1]] == [
        "Notification from Twitter",
        "carol: news",
        "dan: news",
    ]
    assert all(one.keys() == {"type", "text", "icon", "id"} for one in shown[:-1])


async def test_failures_are_told_as_errors() -> None:
    gadgets = Gadgets()
    async with watched(gadgets) as door, client(door, address="/api/results") as results:
        gadgets.failing.add("home_timeline")
        await ring(door.assistant)
        told = await results.receive()
        [app] = await door.assistant.programs.apps(LOCAL)

    assert told["error"]["appId"] == app.id
    assert isinstance(told["error"]["error"], str)


async def test_ordinary_turns_and_earlier_results_are_not_told() -> None:
    gadgets = Gadgets()
    async with watched(gadgets) as door:
        gadgets.tables["home_timeline"] = [NEWS]
        await ring(door.assistant)
        async with client(door, address="/api/results") as results:
            await door.assistant.turn("hello", user=LOCAL)
            gadgets.tables["home_timeline"] = [{**NEWS, "author": "dan"}]
            await ring(door.assistant)
            found = (await results.receive())["result"]

    assert [one["text"] for one in found["formatted"]] == ["dan: news"]
