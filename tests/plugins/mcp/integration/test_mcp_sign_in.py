"""How people, and the assistant itself, sign in at MCP servers that want tokens."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar

from prolocutor import Assistant, Pipeline, Service
from prolocutor.errors import ConfigError
from prolocutor.plugins.mcp.connector.connector import McpConnector, McpTool
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.plugins.mcp.oauth.settings import OAuthSettings
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener
from tests.plugins.mcp.integration.authorization_server import ProtectedServer, protected_server

FALLBACK = "Nobody knows."


class Talk:
    """A person who talks to an assistant, and opens the links that it gives."""

    def __init__(self, assistant: Assistant, browser: ClientSession) -> None:
        self.assistant = assistant
        self.browser = browser

    async def say(self, text: str, user: str = "ann") -> str:
        return (await self.assistant.reply(text, user=user)).text

    async def link(self, text: str = "hi", user: str = "ann") -> str:
        reply = await self.assistant.reply(text, user=user)
        links = [message for message in reply.attributes["messages"] if message["type"] == "link"]
        return str(links[0]["url"])

    async def open(self, link: str) -> tuple[int, str]:
        async with self.browser.get(link) as page:
            return page.status, await page.text()


@asynccontextmanager
async def talking(
    server: ProtectedServer, store: str = "memory:", **settings: Any
) -> AsyncIterator[Talk]:
    oauth = OAuthSettings(**settings) if settings else None
    skill = Service("tool", McpTool(url=f"{server.url}/mcp", oauth=oauth), timeout=20)
    async with Assistant(
        Pipeline(skills=[skill]), store=store, deadline=30, fallback=FALLBACK
    ) as assistant:
        app = Listener(assistant, [Mcp(assistant)])
        async with (
            running(app) as url,
            ClientSession(url, cookie_jar=CookieJar(unsafe=True)) as browser,
        ):
            yield Talk(assistant, browser)


async def test_a_person_signs_in_by_a_link_and_gets_the_answer() -> None:
    async with protected_server() as server, talking(server) as talk:
        status, page = await talk.open(await talk.link("what do I have?"))
        reply = await talk.say("yes")

    assert status == 200
    assert "You are signed in" in page
    assert reply == "token-1 what do I have?"


async def test_a_sign_in_is_asked_for_as_the_standards_have_it() -> None:
    async with protected_server() as server, talking(server) as talk:
        await talk.open(await talk.link())

    (sought,), (asked,) = server.sought, server.asked
    secret = base64.b64encode(b"c-1:s+%26+1").decode()
    assert sought["code_challenge_method"] == "S256"
    assert sought["scope"] == "read"
    assert sought["resource"] == asked["resource"] == f"{server.url}/mcp"
    assert asked["by"] == f"Basic {secret}"
    assert server.registered[0]["application_type"] == "native"


async def test_each_person_has_a_token_of_their_own() -> None:
    async with protected_server() as server, talking(server) as talk:
        await talk.open(await talk.link())
        await talk.say("yes")
        other = await talk.say("hi", user="bob")

    assert "sign in" in other


async def test_a_token_outlives_the_process(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'a.db'}"
    async with protected_server() as server:
        async with talking(server, store) as talk:
            await talk.open(await talk.link())
            await talk.say("yes")
        async with talking(server, store) as talk:
            assert await talk.say("again") == "token-1 again"


async def test_a_token_that_has_ended_is_renewed_without_the_person() -> None:
    async with protected_server() as server, talking(server) as talk:
        await talk.open(await talk.link())
        await talk.say("yes")
        server.valid.clear()
        reply = await talk.say("again")

    assert reply == "token-2 again"
    assert server.asked[-1]["refresh_token"] == "refresh-1"


async def test_a_person_signs_in_again_where_their_token_is_renewed_no_more() -> None:
    async with protected_server() as server, talking(server) as talk:
        await talk.open(await talk.link())
        await talk.say("yes")
        server.valid.clear()
        server.faults["refuses"] = ("refresh_token",)
        reply = await talk.say("again")

    assert "Please sign in" in reply


async def test_a_tool_that_needs_more_is_asked_for_with_what_was_granted_before() -> None:
    async with protected_server() as server, talking(server) as talk:
        server.scope = "write"
        await talk.open(await talk.link())
        await talk.open(await talk.link("yes"))
        reply = await talk.say("yes")

    assert [one["scope"] for one in server.sought] == ["read", "read write"]
    assert reply == "token-2 hi"


async def test_links_are_not_given_without_end() -> None:
    async with protected_server() as server, talking(server) as talk:
        server.faults["token"] = {"access_token": "no good", "refresh_token": None}
        await talk.open(await talk.link())
        for _ in range(2):
            await talk.open(await talk.link("yes"))
        reply = await talk.say("yes")

    assert "sign in" not in reply


async def test_a_person_may_decline() -> None:
    async with protected_server() as server, talking(server) as talk:
        await talk.link()
        reply = await talk.say("no")

    assert reply == "All right, then I cannot do that for you."


async def test_another_browser_cannot_end_a_sign_in() -> None:
    async with protected_server() as server, talking(server) as talk:
        link = await talk.link()
        async with talk.browser.get(link, allow_redirects=False) as began:
            where = began.headers["Location"]
        talk.browser.cookie_jar.clear()
        status, page = await talk.open(where)

    assert status == 403
    assert "another browser" in page
    assert server.asked == []


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ({"answer": {"iss": "https://evil.example"}}, "is not that of"),
        ({"answer": {"code": "another"}}, "invalid_grant"),
        ({"document": {"code_challenge_methods_supported": []}}, "PKCE"),
        ({"document": {"registration_endpoint": None}}, "registers nobody"),
    ],
)
async def test_a_sign_in_that_is_not_safe_is_refused(faults: dict[str, Any], said: str) -> None:
    async with protected_server() as server, talking(server) as talk:
        server.faults = faults
        status, page = await talk.open(await talk.link())
        server.faults = {}
        reply = await talk.say("yes")

    assert status // 100 in (4, 5)
    assert said in page
    assert "sign in" in reply


@pytest.mark.parametrize(
    "faults",
    [
        {"resource": {"resource": "https://evil.example/mcp"}},
        {"resource": {"authorization_servers": ["http://evil.example"]}},
        {"document": {"issuer": "https://evil.example"}},
    ],
)
async def test_no_link_is_given_to_a_server_that_is_another(faults: dict[str, Any]) -> None:
    async with protected_server() as server, talking(server) as talk:
        server.faults = faults
        reply = await talk.say("hi")

    assert reply == FALLBACK
    assert server.sought == []


async def test_an_assistant_with_a_secret_signs_in_by_itself() -> None:
    settings = {"grant": "client_credentials", "client_id": "c", "client_secret": "s"}
    async with protected_server() as server, talking(server, **settings) as talk:
        first, second = await talk.say("one"), await talk.say("two", user="bob")

    assert first == "token-1 one"
    assert second == "token-1 two"
    assert [one["grant_type"] for one in server.asked] == ["client_credentials"]


async def test_a_link_that_nobody_gave_is_not_found() -> None:
    async with protected_server() as server, talking(server) as talk:
        found = [await talk.open(path) for path in ("/mcp/sign-in/x", "/mcp/signed-in?state=x")]

    assert [status for status, _ in found] == [404, 404]


async def test_a_person_who_is_deleted_takes_their_token_along() -> None:
    async with protected_server() as server, talking(server) as talk:
        await talk.open(await talk.link())
        await talk.say("yes")
        await talk.assistant.archive.delete_person("ann")
        kept = await talk.assistant.store.records("ann", "mcp-token")

    assert kept == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"key": "k", "oauth": OAuthSettings()}, "no key"),
        ({"oauth": OAuthSettings(grant="client_credentials")}, "client_credentials need"),
        ({"oauth": OAuthSettings(grant="jwt_bearer", client_id="c")}, "assertion"),
    ],
)
def test_settings_that_cannot_be_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        McpConnector(McpTool(url="http://127.0.0.1/mcp", **options), name="tool")
