"""What operators did is kept in the store for a while."""

import asyncio
from pathlib import Path

import aiohttp
import pytest
from click.testing import CliRunner

from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.errors import StoreError
from prolocutor.plugins.upkeep.keys_command import audit
from prolocutor.testing.channel_kit import KEY, Gate, pipeline, running
from prolocutor.web import audit_trail
from prolocutor.web.audit_trail import AuditTrail, read_acts
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener
from tests.model_store import ModelStore


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


async def test_acts_are_kept_for_a_while_and_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_trail, "MAX_RECORDS", 3)
    store, clock = ModelStore(), Clock()
    trail = AuditTrail(store, clock)
    for number in range(6):
        clock.now += audit_trail.KEEP_SECONDS / 5
        trail.note("ann", "10.0.0.1", "DELETE", f"/api/user/{number}" + "x" * 1000)
        await trail.write()

    kept = await read_acts(store)

    assert [act.path[:11] for act in kept] == ["/api/user/3", "/api/user/4", "/api/user/5"]
    assert len(kept[0].path) == audit_trail.MAX_PATH
    assert await read_acts(store, clock.now) == kept[-1:]


async def test_a_page_that_looks_at_the_same_all_the_time_is_one_act_in_ten_minutes() -> None:
    store, clock = ModelStore(), Clock()
    trail = AuditTrail(store, clock)
    for _ in range(300):
        clock.now += 4
        trail.note("ann", "", "GET", "/api/console/conversations/1")
    for method, path in (("GET", "/api/console/conversations/2"), ("POST", "/a"), ("POST", "/a")):
        trail.note("ann", "", method, path)
    await trail.aclose()

    found = [(act.method, act.path[-1]) for act in await read_acts(store)]
    assert found == [("GET", "1"), ("GET", "1"), ("GET", "2"), ("POST", "a"), ("POST", "a")]


async def test_acts_wait_for_a_store_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    store = ModelStore()
    trail = AuditTrail(store)

    async def away(*_: object) -> None:
        raise StoreError("away")

    with monkeypatch.context() as patch:
        patch.setattr(store, "put_record", away)
        trail.note("ann", "", "POST", "/a")
        with pytest.raises(StoreError):
            await trail.write()
    trail.note("ann", "", "POST", "/b")
    await trail.aclose()

    assert [act.path for act in await read_acts(store)] == ["/a", "/b"]


async def test_the_command_lists_them_while_nobody_serves_the_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    async with Assistant(pipeline(Gate()), store=url) as assistant:
        doors = [DeepPavlov(assistant)]
        app = Listener(assistant, doors, auth=AccessPolicy(keys={KEY: "ann\x1b"}))
        headers = {"Authorization": f"Bearer {KEY}"}
        async with running(app) as served, aiohttp.ClientSession(served, headers=headers) as http:
            for method, path in (
                ("DELETE", "/api/user/bob"),
                ("GET", "/api/dialogs"),
                ("GET", "/debug/current_load"),
            ):
                async with http.request(method, path) as response:
                    assert response.status in (200, 204, 404)

    told = await asyncio.to_thread(CliRunner().invoke, audit, ["--store", url])

    assert told.exit_code == 0, told.output
    rows = [line.split("\t")[1:] for line in told.output.splitlines()]
    assert rows == [["ann\\x1b", "127.0.0.1", "DELETE", "/api/user/bob"]]
