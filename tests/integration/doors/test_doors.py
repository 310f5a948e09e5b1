"""Each kind of message and ask at each door: a test for each cell of docs/reference/doors.md."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.messages import ASK_KINDS, KINDS
from prolocutor.doors.door_catalog import DOORS as CATALOG
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.channel_kit import running
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener
from tests.pages import ROOT
from tests.shown_at_doors import ASKS, DOORS, FORMS, MESSAGES, SHOWN, WRITTEN, tables

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = ROOT / "docs" / "reference" / "doors.md"


class Reply(msgspec.Struct):
    """What a client gets: the text that it shows, and all of it."""

    text: str
    whole: Any


async def speaker(request: dict[str, Any]) -> dict[str, Any]:
    """Say a message of a kind, or ask for one."""
    what, kind = request["utterances"][-1]["text"].split()
    if what == "say":
        return {"messages": [MESSAGES[kind]], "confidence": 1.0}
    choices = [{"type": "choice", "title": "Garden"}] if kind == "choice" else []
    asked = {"type": "text", "text": "Which?"}
    return {"text": "Which?", "messages": [asked, *choices], "ask": kind, "confidence": 1.0}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    pipeline = Pipeline(skills=[Service("speaker", speaker)])
    async with Assistant(pipeline, store="memory:") as assistant:
        app = Listener(
            assistant,
            [CATALOG.load(door)().build(DoorContext(assistant)) for door in DOORS],
        )
        async with running(app) as url, aiohttp.ClientSession(url) as session:
            yield session


async def post(http: aiohttp.ClientSession, path: str, body: Any, **headers: str) -> Any:
    async with http.post(path, json=body, headers=headers) as response:
        assert response.status == 200
        return await response.json(content_type=None)


async def deeppavlov(http: aiohttp.ClientSession, text: str) -> Reply:
    whole = await post(http, "/", {"user_id": new_id(), "payload": text})
    return Reply(whole["response"], whole)


async def almond(http: aiohttp.ClientSession, text: str) -> Reply:
    frames: list[dict[str, Any]] = []

    async def until_asked(socket: aiohttp.ClientWebSocketResponse) -> None:
        while not frames or frames[-1]["type"] != "askSpecial":
            frames.append(await socket.receive_json())

    async with http.ws_connect(f"/api/conversation?id={new_id()}") as socket:
        await until_asked(socket)
        frames.clear()
        await socket.send_json({"type": "command", "text": text})
        await until_asked(socket)
    said = [frame["text"] for frame in frames if frame["type"] == "text"]
    return Reply("\n".join(said), frames)


async def parlai(http: aiohttp.ClientSession, text: str) -> Reply:
    async with http.ws_connect("/websocket") as socket:
        await socket.send_json({"text": text})
        whole = await socket.receive_json()
    return Reply(whole["text"], whole)


async def openai(http: aiohttp.ClientSession, text: str) -> Reply:
    body = {"model": "assistant", "messages": [{"role": "user", "content": text}]}
    whole = await post(http, "/v1/chat/completions", body)
    return Reply(whole["choices"][0]["message"]["content"], whole)


async def a2a(http: aiohttp.ClientSession, text: str) -> Reply:
    message = {"messageId": new_id(), "role": "ROLE_USER", "parts": [{"text": text}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    whole = await post(http, "/a2a", call, **{"A2A-Version": "1.0"})
    return Reply("\n".join(str(one["text"]) for one in found(whole, "text")), whole)


async def mcp(http: aiohttp.ClientSession, text: str) -> Reply:
    call = {"name": "ask", "arguments": {"text": text}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    whole = (await post(http, "/mcp", body, **headers))["result"]
    first = whole["content"][0] if whole["content"] else {}
    return Reply(first.get("text", ""), whole)


async def agui(http: aiohttp.ClientSession, text: str) -> Reply:
    message = {"id": "1", "role": "user", "content": text}
    run = {"threadId": new_id(), "runId": new_id(), "messages": [message]}
    async with http.post("/agui", json=run) as response:
        lines = (await response.text()).split("\n\n")
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line]
    said = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
    return Reply("".join(said), events)


CLIENTS: dict[str, Callable[[aiohttp.ClientSession, str], Any]] = {
    one.__name__: one for one in (deeppavlov, almond, parlai, openai, a2a, mcp, agui)
}


def found(whole: Any, *keys: str, **values: Any) -> list[dict[str, Any]]:
    """Return all objects inside, at any depth, that have these keys and these values."""
    objects: list[dict[str, Any]] = []
    if isinstance(whole, dict):
        fits = all(key in whole for key in keys)
        if fits and all(whole.get(key) == value for key, value in values.items()):
            objects.append(whole)
        whole = list(whole.values())
    for one in whole if isinstance(whole, list) else ():
        objects += found(one, *keys, **values)
    return objects


def as_it_is(message: dict[str, Any]) -> dict[str, Any]:
    """Return what of a message is the same at every door; buttons get an owner."""
    return {key: value for key, value in message.items() if key != "json"}


def is_shown(form: str, kind: str, reply: Reply) -> bool:
    """Return whether a message is shown in a form."""
    message = MESSAGES[kind]
    url = message.get("url") or message.get("rdl", {}).get("webCallback")
    match form:
        case "text" | "fallback":
            return WRITTEN[kind] in reply.text
        case "message":
            return bool(found(reply.whole, **as_it_is(message)))
        case "quick reply":
            return message["title"] in reply.whole["quick_replies"]
        case "part":
            said = {"url": url} if url else {"text": message["text"]}
            return bool(found(found(reply.whole, "parts"), **said))
        case "data":
            parts = [part["data"] for part in found(reply.whole, "data")]
            return bool(found(parts, **as_it_is(message)))
        case "link":
            return bool(found(reply.whole, type="resource_link", uri=url))
        case "nothing":
            signs = [message.get(key) for key in ("url", "title", "name", "uniqueId")]
            return not any(sign and str(sign) in json.dumps(reply.whole) for sign in signs)
    raise AssertionError(f"no check of {form!r}")


def is_asked(form: str, kind: str, reply: Reply) -> bool:
    """Return whether an ask is shown in a form."""
    match form:
        case "ask":
            return bool(found(reply.whole, ask=kind) or found(reply.whole, askSpecial=kind))
        case "state":
            return bool(found(reply.whole, state="TASK_STATE_INPUT_REQUIRED"))
        case "data":
            return bool(found([part["data"] for part in found(reply.whole, "data")], ask=kind))
        case "schema":
            return bool(found(reply.whole, "answer", ask=kind))
        case "interrupt":
            return bool(found(found(reply.whole, "interrupts"), "message", "responseSchema"))
        case "yes/no":
            return reply.text.endswith("[yes/no]")
        case "nothing":
            return not (found(reply.whole, "ask") or "[yes/no]" in reply.text)
    raise AssertionError(f"no check of {form!r}")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", SHOWN)
async def test_a_message_is_shown_as_the_table_says(
    http: aiohttp.ClientSession, kind: str, door: str
) -> None:
    reply = await CLIENTS[door](http, f"say {kind}")
    forms = SHOWN[kind][door].split(", ")

    assert [form for form in forms if not is_shown(form, kind, reply)] == []


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", ASKS)
async def test_an_ask_is_shown_as_the_table_says(
    http: aiohttp.ClientSession, kind: str, door: str
) -> None:
    reply = await CLIENTS[door](http, f"ask {kind}")
    forms = ASKS[kind][door].split(", ")

    assert [form for form in forms if not is_asked(form, kind, reply)] == []


async def test_the_table_has_every_kind_and_the_page_shows_it() -> None:
    assert SHOWN.keys() == MESSAGES.keys() == WRITTEN.keys() == KINDS.keys()
    assert set(ASKS) == set(ASK_KINDS.names())
    cells = [cell for rows in (SHOWN, ASKS) for row in rows.values() for cell in row.values()]
    assert {form for cell in cells for form in cell.split(", ")} == FORMS.keys()
    assert tables() in PAGE.read_text("utf-8")
