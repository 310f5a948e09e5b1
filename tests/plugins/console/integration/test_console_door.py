"""The door of operators: they take dialogs over by HTTP, and a webhook is told of it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from prolocutor import Assistant, Pipeline
from prolocutor.assistant import duty_webhook
from prolocutor.assistant.assistant_settings import HandoverSettings
from prolocutor.plugins.a2a.door.door import A2a
from prolocutor.plugins.agui.channel import AgUi
from prolocutor.plugins.console.channel import Console
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.testing.channel_kit import KEY, STRICT, run_door, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener
from tests.integration.connectors.raw_server import plain, raw_server
from tests.integration.doors.fakes import get, post
from tests.unit.assistant.talks import echo

NAMED = AccessPolicy(keys={"key-of-eve": "eve", "key-of-bob": "bob"}, loopback=False)


def console(assistant: Assistant) -> Console:
    return Console(DoorContext(assistant))


def at(id_: str, what: str) -> str:
    return f"/api/console/conversations/{id_}/{what}"


async def test_only_operators_come_in() -> None:
    async with run_door(console, STRICT) as door, door.other_visitor("the-token-of-ann") as ann:
        result = await door.assistant.turn("hello", user="almond:ann")
        tried = [(ann, 403), (door, 401)]
        for visitor, status in tried:
            seen = [await get(visitor, "/api/console/handovers")]
            seen.append(await get(visitor, at(result.dialog_id, "handover")))
            seen += [
                await post(visitor, at(result.dialog_id, what), text="x")
                for what in ("take", "say", "give")
            ]
            assert [one[0] for one in seen] == [status] * 5
        async with door.other_visitor(KEY) as operator:
            assert (await post(operator, at(result.dialog_id, "take")))[0] == 200


async def test_operators_take_over_speak_and_give_back() -> None:
    async with (
        run_door(console, NAMED) as door,
        door.other_visitor("key-of-eve") as eve,
        door.other_visitor("key-of-bob") as bob,
    ):
        id_ = (await door.assistant.turn("hello", user="almond:ann", dialog="shop")).dialog_id
        early = await post(eve, at(id_, "say"), text="I am here.")
        status, taken = await post(eve, at(id_, "take"))
        refused = await post(bob, at(id_, "take"))
        listed = await get(bob, "/api/console/handovers")
        said = await post(eve, at(id_, "say"), text="I am here.")
        empty = await post(eve, at(id_, "say"), text="")
        given = await post(eve, at(id_, "give"), note="solved")
        shown = await get(bob, at(id_, "handover"))
        unknown = await post(eve, at("0" * 32, "take"))
        dialog = await door.assistant.store.dialog(id_)

    assert status == 200
    assert taken["handover"]["state"] == "taken"
    assert taken["handover"]["by"] == "eve"
    assert early[0] == 409
    assert early[1]["code"] == "handover_conflict"
    assert refused[0] == 409
    assert refused[1]["error"] == "eve has this dialog"
    (one,) = listed[1]["items"]
    assert one["dialog_id"] == id_
    assert one["user"] == "almond:ann"
    assert one["dialog"] == "shop"
    assert [said[0], empty[0], given[0], unknown[0]] == [200, 400, 200, 404]
    assert given[1] == shown[1] == {"dialog_id": id_, "handover": None}
    assert dialog is not None
    marks = [one.attributes["handover"]["state"] for one in dialog.utterances[2:]]
    assert marks == ["taken", "said", "given"]


CALLERS = ("openai:ann", "a2a:context-shop", "mcp:conversation-shop", "agui:thread-shop")
"""The persons who call at doors of programs in the dialog "shop"."""


async def test_clients_of_every_door_are_told_that_a_person_has_the_dialog() -> None:
    async with Assistant(Pipeline(skills=[echo()]), store="memory:") as it:
        app = Listener(it, [OpenAi(it), A2a(it), Mcp(it), AgUi(it)])
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            for user in CALLERS:
                await it.turn("hello", user=user, dialog="shop")
                await it.desk.take(user, "shop", by="eve")

            async def told(path: str, **body: Any) -> Any:
                async with http.post(path, json=body) as response:
                    return json.loads((await response.text()).split("data: ")[-1])

            asked = {"model": it.name, "user": "ann", "input": "hello?"}
            response = await told("/v1/responses", conversation="shop", **asked)
            message = {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "hello?"}]}
            task = await told("/a2a/message:send", message={**message, "contextId": "shop"})
            call = {"name": "ask", "arguments": {"text": "hello?", "conversation_id": "shop"}}
            tool = await told("/mcp", jsonrpc="2.0", id=1, method="tools/call", params=call)
            said = [{"id": "1", "role": "user", "content": "hello?"}]
            run = await told("/agui", threadId="shop", runId="1", messages=said)

    marks = [
        response["prolocutor"]["handover"],
        task["task"]["metadata"]["attributes"]["handover"],
        tool["result"]["structuredContent"]["handover"],
        run["result"]["handover"],
    ]
    assert [(one["by"], one["state"]) for one in marks] == [("eve", "taken")] * 4


async def test_a_webhook_is_told_of_each_change_in_order() -> None:
    async with raw_server(None, plain(b"")) as server:
        settings = HandoverSettings(webhook=server.url)
        pipeline = Pipeline(skills=[echo()])
        async with Assistant(pipeline, store="memory:", handover=settings) as it:
            result = await it.turn("hi", user="ann")
            await it.desk.take("ann", by="eve")
            await it.turn("help", user="ann")
            await it.desk.say("Yes?", "ann", by="eve")
            await it.desk.give("ann", by="eve", note="solved")
        told = [json.loads(body) for _, body in server.asked]

    changes = [(one["state"], one.get("by"), one.get("text"), one.get("note")) for one in told]
    assert changes[-4:] == [
        ("taken", "eve", settings.taken, None),
        ("heard", "eve", "help", None),
        ("said", "eve", "Yes?", None),
        ("given", "eve", settings.given, "solved"),
    ]
    assert {(one["dialog_id"], one["user"], one["dialog"]) for one in told} == {
        (result.dialog_id, "ann", "main")
    }


async def test_what_a_webhook_was_not_told_is_told_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duty_webhook, "SEND_TIMEOUT", 0.01)
    store, pipeline = f"sqlite:///{tmp_path / 'dialogs.db'}", Pipeline(skills=[echo()])
    away = HandoverSettings(webhook="http://127.0.0.1:9/")
    async with Assistant(pipeline, store=store, handover=away) as it:
        for user in ("ann", "bob"):
            await it.turn("hi", user=user)
            await it.desk.take(user, by="eve")
        await it.archive.delete_person("bob")
    monkeypatch.undo()
    async with raw_server(plain(b"")) as server, asyncio.timeout(60):
        there = HandoverSettings(webhook=server.url)
        async with Assistant(pipeline, store=store, handover=there) as it:
            while await it.store.records("", duty_webhook.WAITING_NOTES):
                pass

    assert [json.loads(body)["user"] for _, body in server.asked] == ["ann"]


async def test_without_a_key_only_our_own_page_may_write() -> None:
    async with run_door(console, AccessPolicy(loopback=True)) as door:
        id_ = (await door.assistant.turn("hello", user="almond:ann")).dialog_id
        tried: list[tuple[str | None, int]] = [
            ("https://elsewhere.example", 403),
            ("null", 403),
            (door.url, 200),
        ]
        for origin, status in tried:
            headers = {} if origin is None else {"Origin": origin}
            path = at(id_, "take")
            async with door.http.post(path, json={}, headers=headers) as response:
                assert response.status == status, origin
        async with door.http.post(at(id_, "give"), data="{}") as response:
            assert response.status == 400
        async with door.http.delete("/api/console/jobs/none") as response:
            assert response.status == 404
        assert await get(door, "/api/console/jobs") == (200, {"items": [], "next": None})
        assert (await get(door, "/api/console/jobs", limit=201))[0] == 400
