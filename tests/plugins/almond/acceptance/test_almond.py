"""Published clients of Almond against the real `prolocutor serve`."""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pyalmond
import pytest

from tests.acceptance.commands import Commands, Serving


@asynccontextmanager
async def almond(server: Serving) -> AsyncIterator[pyalmond.WebAlmondAPI]:
    async with aiohttp.ClientSession() as session:
        yield pyalmond.WebAlmondAPI(pyalmond.AlmondLocalAuth(server.url, session))


async def test_pyalmond_works_without_a_change(commands: Commands) -> None:
    with commands.serving() as server:
        async with almond(server) as api:
            said = await api.async_converse_text("ask me")
            answered = await api.async_converse_text("yes", said["conversationId"])
            program = await api.async_converse_thingtalk("now => @a.b();")
            apps = await api.async_list_apps()
            created = await api.async_create_simple_device("com.xkcd")
            devices = await api.async_list_devices()
        assert server.end(signal.SIGTERM) == 0

    assert said["messages"] == [
        {"type": "text", "text": "Do you like questions?", "icon": "demonstration"}
    ]
    assert said["askSpecial"] == "yesno"
    assert answered["askSpecial"] is None
    assert answered["messages"][0]["text"] == "You said yes."
    assert program["conversationId"].startswith("stateless")
    assert all(message["type"] == "text" for message in program["messages"])
    assert program["messages"] != []
    assert apps == []
    assert created["kind"] == "com.xkcd"
    assert created in devices
    assert "org.prolocutor.timer" in [device["uniqueId"] for device in devices]


async def test_pyalmond_is_told_of_errors_by_the_status(commands: Commands, own: Path) -> None:
    with commands.serving(own) as server:
        async with almond(server) as api:
            with pytest.raises(aiohttp.ClientResponseError) as refused:
                await api.async_create_device({"kind": "com.xkcd", "nested": {}})

    assert refused.value.status == 400
