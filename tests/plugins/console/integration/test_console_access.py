"""Every address of the console is for operators alone; a key that only reads changes nothing."""

import re
from collections.abc import Iterator

import aiohttp

from prolocutor.contracts.channel import Route, WebSocketRoute
from prolocutor.plugins.console.channel import Console
from prolocutor.plugins.console.resources import BASE
from prolocutor.testing.channel_kit import running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.listener import Listener
from tests.unit.assistant.talks import assistant

WHO = {"nobody": None, "person": "the-token-of-ann", "operator": "the-key"}
POLICY = AccessPolicy(keys={"the-key": "eve"}, tokens={"the-token-of-ann": "ann"}, loopback=False)
SAME = {"nobody": 401, "person": 403}


def addresses(console: Console) -> Iterator[tuple[str, str]]:
    """Return the method and an address of every route below `/api/console`."""
    for route in console.routes:
        path = re.sub(r"\{\w+(:path)?\}", "0" * 32, route.path)
        if path.startswith(BASE):
            yield ("WS" if isinstance(route, WebSocketRoute) else route.method), path


async def status(http: aiohttp.ClientSession, method: str, path: str, key: str | None) -> int:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if method != "WS":
        json = None if method == "GET" else {}
        async with http.request(method, path, headers=headers, json=json) as response:
            return response.status
    try:
        async with http.ws_connect(path, headers=headers):
            return 101
    except aiohttp.WSServerHandshakeError as error:
        return error.status


async def test_every_address_is_for_operators_alone() -> None:
    async with assistant() as it:
        console, ring = Console(DoorContext(it)), KeyRing(it.store)
        reader, _ = await ring.create("dashboard", ["read"])
        await ring.refresh()
        app = Listener(it, [console], auth=POLICY, ring=ring)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            found = list(addresses(console))
            wrong = []
            for method, path in found:
                for who, key in {**WHO, "reader": reader}.items():
                    seen = await status(http, method, path, key)
                    may = who == "operator" or (who == "reader" and method in ("GET", "WS"))
                    expected = SAME.get(who, 403)
                    if (seen in (401, 403)) if may else (seen != expected):
                        wrong.append((method, path, who, seen))

    assert wrong == []
    assert {method for method, _ in found} >= {"GET", "POST", "DELETE", "WS"}
    assert all(
        route.access in ("operators", "all") for route in console.routes if isinstance(route, Route)
    )
