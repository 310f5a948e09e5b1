"""Keys that are kept in the store: made, scoped, ended and revoked while a server runs."""

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.owner_channel import OwnerChannel
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.errors import NotFound
from prolocutor.testing.channel_kit import Gate, pipeline, running
from prolocutor.web.key_ring import KIND, KeyRing
from prolocutor.web.listener import Listener
from tests.model_store import ModelStore

REQUESTS = {
    "read": ("GET", "/api/dialogs", None),
    "converse": ("POST", "/", {"user_id": "ann", "payload": "hi"}),
    "operate": ("POST", "/owner/close", {"user": "ann"}),
    "admin": ("POST", "/owner/keys", {"do": "list"}),
}
MAY = {
    "read": {"read"},
    "converse": {"converse", "read"},
    "operate": {"converse", "operate", "read"},
    "admin": {"converse", "operate", "read", "admin"},
}


async def test_a_key_reaches_as_far_as_its_scopes() -> None:
    async with Assistant(pipeline(Gate()), store="memory:") as assistant:
        ring = KeyRing(assistant.store)
        app = Listener(assistant, [OwnerChannel(assistant, ring), DeepPavlov(assistant)], ring=ring)
        async with running(app) as url, aiohttp.ClientSession(url) as http:

            async def status(what: str, secret: str | None) -> int:
                method, path, body = REQUESTS[what]
                headers = {"Authorization": f"Bearer {secret}"} if secret else {}
                async with http.request(method, path, json=body, headers=headers) as response:
                    return response.status

            assert await status("read", None) == 200
            seen = {}
            for scope in MAY:
                secret, key = await ring.create("someone", [scope])  # type: ignore[list-item]
                statuses = {what: await status(what, secret) for what in REQUESTS}
                seen[scope] = {what for what, status in statuses.items() if status == 200}
                assert set(statuses.values()) <= {200, 403}
            assert seen == MAY
            assert await status("read", None) == 401  # loopback counts no more

            await ring.revoke(key.id)
            assert await status("admin", secret) == 401


async def test_what_is_stored_is_a_digest_and_the_last_use() -> None:
    now, store = [1000.0], ModelStore()
    ring = KeyRing(store, lambda: now[0])
    secret, key = await ring.create("dashboard", ["read"], 100.0)

    assert ring.find(secret) is not None
    assert ring.find(secret[:-1]) is None
    (listed,) = await ring.list()
    assert listed.name == "dashboard"
    assert listed.used == 1000.0
    assert listed.expires == 1100.0
    (stored,) = (await store.records("", KIND)).values()
    assert secret.split("_", 2)[2].encode() not in stored
    other = KeyRing(store, lambda: now[0])
    assert [one.id for one in await other.list()] == [key.id]
    now[0] = 1100.0
    assert other.find(secret) is None
    with pytest.raises(NotFound, match="keys list"):
        await ring.revoke("nothing")


async def test_a_token_of_a_person_speaks_for_nobody_else() -> None:
    async with Assistant(pipeline(Gate()), store="memory:") as assistant:
        ring = KeyRing(assistant.store)
        secret, _ = await ring.create("phone of ann", (), user="ann")
        app = Listener(assistant, [OwnerChannel(assistant, ring), DeepPavlov(assistant)], ring=ring)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            headers = {"Authorization": f"Bearer {secret}"}
            statuses = []
            for user, path in (("ann", "/"), ("bob", "/"), ("ann", "/owner/keys")):
                body = {"user_id": user, "payload": "hi", "do": "list"}
                async with http.post(path, json=body, headers=headers) as response:
                    statuses.append(response.status)

    assert statuses == [200, 403, 403]
