"""A bot behind ParlAI's websocket chat service as a skill."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp import web

from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ConfigError, ServiceLate, ServiceUnreachable
from prolocutor.plugins.evaluation.chat_connector import ParlaiChat, ParlaiChatConnector
from prolocutor.testing.fake_service import FakeRequest


class Service:
    """Speaks as the chat service does: a first message opens, `begin` pairs, then a bot counts."""

    def __init__(self) -> None:
        self.url = ""
        self.sessions = 0
        self.hung_up = asyncio.Event()

    async def talk(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sessions += 1
        heard: list[str] = []
        async for message in socket:
            said = message.json()["text"]
            heard.append(said)
            if said == "hang up":
                break
            if said == "silence":
                continue
            if said == "nonsense":
                await socket.send_str("[]")
            elif len(heard) == 1:
                await socket.send_json({"text": "Welcome.", "quick_replies": ["begin"]})
            elif len(heard) == 2:
                await socket.send_json({"text": "You are", "quick_replies": None})
                await socket.send_json({"text": "paired.", "quick_replies": None})
            else:
                await socket.send_json({"text": f"{len(heard) - 2}: {said}", "quick_replies": None})
            if said == "goodbye":
                break
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await socket.close()
        self.hung_up.set()
        return socket


@asynccontextmanager
async def service() -> AsyncIterator[Service]:
    speaker = Service()
    app = web.Application()
    app.router.add_get("/websocket", speaker.talk)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        speaker.url = f"ws://{host}:{port}/websocket#hi,begin"
        yield speaker
    finally:
        await runner.cleanup()


@asynccontextmanager
async def chat(**options: Any) -> AsyncIterator[tuple[ParlaiChatConnector, Service]]:
    async with service() as speaker:
        connector = ParlaiChatConnector(
            ParlaiChat(url=speaker.url, quiet=0.05, **options), name="chat"
        )
        try:
            yield connector, speaker
        finally:
            await connector.aclose()


def state(text: str, dialog: str = "d") -> FakeRequest:
    return FakeRequest({"dialog_id": dialog, "utterances": [{"text": text}]})


async def said(connector: ParlaiChatConnector, text: str, dialog: str = "d") -> Any:
    (reply,) = await connector.send([state(text, dialog)])
    assert isinstance(reply, Plain)
    return reply.value[0]["text"]


async def test_what_comes_after_the_first_worlds_is_the_reply() -> None:
    async with chat() as (connector, _):
        assert [await said(connector, "a"), await said(connector, "b")] == ["1: a", "2: b"]


async def test_dialogs_have_sessions_of_their_own() -> None:
    async with chat() as (connector, speaker):
        replies = [await said(connector, "a", one) for one in ("d", "e", "d")]

    assert replies == ["1: a", "1: a", "2: a"]
    assert speaker.sessions == 2


async def test_a_session_that_was_evicted_begins_anew() -> None:
    async with chat(max_dialogs=1) as (connector, speaker):
        replies = [await said(connector, "a", one) for one in ("d", "e", "d")]

    assert replies == ["1: a", "1: a", "1: a"]
    assert speaker.sessions == 3


async def test_a_session_that_was_lost_begins_anew() -> None:
    async with chat() as (connector, _):
        with pytest.raises(ServiceUnreachable, match="closed the connection"):
            await said(connector, "hang up")

        assert await said(connector, "a") == "1: a"


async def test_a_service_that_hung_up_meanwhile_is_called_again() -> None:
    async with chat() as (connector, speaker):
        await said(connector, "goodbye")
        await speaker.hung_up.wait()

        assert await said(connector, "a") == "1: a"


async def test_nonsense_is_a_bad_reply() -> None:
    async with chat() as (connector, _):
        with pytest.raises(BadReply, match="has a text"):
            await said(connector, "nonsense")


async def test_a_service_that_stays_silent_is_late() -> None:
    async with service() as speaker:
        connector = ParlaiChatConnector(
            ParlaiChat(url=f"{speaker.url},silence", quiet=0.05), name="chat"
        )
        asked = FakeRequest({"dialog_id": "d", "utterances": [{"text": "a"}]}, timeout=0.5)
        with pytest.raises(ServiceLate, match=r"said nothing for 0\.5 s after 'silence'"):
            await connector.send([asked])
        await connector.aclose()


async def test_a_batch_is_said_in_its_own_sessions() -> None:
    async with chat() as (connector, _):
        good, bad = await connector.send([state("a"), FakeRequest(None)])

    assert isinstance(good, Plain)
    assert isinstance(bad, BadReply)


async def test_nobody_at_the_address_is_unreachable() -> None:
    connector = ParlaiChatConnector(ParlaiChat(url="ws://127.0.0.1:1/websocket"), name="x")

    with pytest.raises(ServiceUnreachable):
        await said(connector, "a")


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(ConfigError, match="is not a WebSocket"):
        ParlaiChatConnector(ParlaiChat(url="module:function"), name="x")


@pytest.mark.parametrize(
    "state",
    [
        None,
        7,
        [],
        {},
        {"dialog_id": "d", "utterances": []},
        {"dialog_id": ["d"], "utterances": [{"text": "hi"}]},
        {"dialog_id": "d", "utterances": [{"text": 7}]},
        {"dialog_id": "d", "utterances": [7]},
    ],
    ids=str,
)
async def test_what_is_no_agent_state_is_a_failure_of_the_call(state: Any) -> None:
    connector = ParlaiChatConnector(ParlaiChat(url="ws://127.0.0.1:1/websocket"), name="bot")

    with pytest.raises(BadReply, match="needs the agent state"):
        await connector.send([FakeRequest(state)])
