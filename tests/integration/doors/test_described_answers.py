"""What the doors answer over real sockets is what the OpenAPI document says of it."""

import re
from typing import Any

import aiohttp
from jsonschema import Draft202012Validator

from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.evaluation.chat_door import Parlai
from prolocutor.plugins.page.channel import Page
from prolocutor.testing.channel_kit import Gate, pipeline, running
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener

PNG = b"\x89PNG\r\n\x1a\n..."
JSON = "application/json"


async def test_every_answer_is_as_it_is_described() -> None:
    metrics, recent = TurnMetrics(), RecentTurns()
    observers = [metrics, recent]
    async with Assistant(pipeline(Gate()), store="memory:", observers=observers) as assistant:
        page = Page(DoorContext(assistant, recent=recent))
        doors = [DeepPavlov(assistant), Almond(assistant), page, Parlai(assistant)]
        app = Listener(assistant, doors, metrics=metrics)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            described = Described(http, await (await http.get("/openapi.json")).json())
            await ask_everything(described)

    asked = described.asked
    assert len(asked) > 40
    assert {"200", "201", "204", "400", "404"} <= {status for _, _, status in asked}


async def ask_everything(ask: "Described") -> None:
    said = await ask("POST", "/", json={"user_id": "ann", "payload": "hi", "debug_output": True})
    await ask("POST", "/", json={"user_id": "ann", "payload": "/start"})
    await ask("POST", "/", json={"payload": 5})
    await ask("POST", "/", json={"user_id": "ann"}, headers={"Idempotency-Key": ""})
    dialog, utterance = said["dialog_id"], said["utt_id"]
    for path in (
        "/ping",
        "/health/live",
        "/health/ready",
        "/metrics",
        "/icons/none",
        "/api/dialogs?limit=1",
        "/api/dialogs/?limit=x",
        f"/api/dialogs/{dialog}",
        "/api/dialogs/xyz",
        "/api/dialogs/00",
        "/api/user/ann",
        "/debug/current_load",
        "/",
        "/page/app.js",
        "/page/none.js",
        "/api/visitor",
        f"/api/turns/{utterance}",
        f"/api/turns/{'0' * 32}",
        "/api/turns/1",
        "/uploads/none.png",
        "/user/register",
        "/apps",
        "/devices/oauth2/com.twitter",
        "/devices/configure/com.twitter",
        "/devices/configure/com.twitter?controls=x",
        "/api/devices/list",
        "/api/apps/list",
        "/api/apps/get/none",
        "/me/api/commands/popular",
        "/api/commands/popular?limit=0",
    ):
        await ask("GET", path)
    await ask("POST", "/rating/dialog", json={"dialog_id": dialog, "rating": 5})
    await ask("POST", "/rating/utterance", json={"utt_id": utterance, "rating": None})
    await ask("POST", "/rating/utterance", json={"utt_id": "00", "rating": 1})
    await ask("POST", "/rating/reply", json={"utt_id": utterance, "rating": 1.0})
    await ask("POST", "/rating/reply", json={"utt_id": utterance, "rating": True})
    await ask("POST", "/uploads", data=PNG)
    await ask("POST", "/uploads", data=b"")
    await ask("POST", "/uploads", data=b"<svg>")
    await ask("POST", "/api/converse", json={"command": {"type": "command", "text": "hi"}})
    await ask("POST", "/me/api/converse?protocol=2", json={"command": {"type": "dance"}})
    await ask("POST", "/api/conversation/process", json={"text": "hi"})
    await ask("POST", "/api/conversation/process", json={})
    await ask("POST", "/api/devices/create", json={"kind": "com.x", "url": "https://x.example"})
    await ask("POST", "/api/devices/create", json={"kind": "com.x", "url": []})
    await ask("POST", "/api/apps/create", json={"code": "this is not a program"})
    await ask("POST", "/api/apps/create", json={"code": ""})
    await ask("POST", "/api/apps/delete/none")
    await ask("POST", "/api/notify", json={"user": "local", "messages": "ding"})
    await ask("POST", "/api/notify", json={"user": "local"})
    await ask("DELETE", "/api/user/ann")
    await ask("DELETE", "/api/user/ann")


class Described:
    """A client that compares each answer with the document."""

    def __init__(self, http: aiohttp.ClientSession, document: Any) -> None:
        self._http = http
        self._document = document
        self._paths = {
            re.compile(re.sub(r"\\\{\w+\\\}", "[^?]+", re.escape(path))): path
            for path in sorted(document["paths"], key=lambda path: path.count("{"))
        }
        self.asked: set[tuple[str, str, str]] = set()

    async def __call__(self, method: str, path: str, **request: Any) -> Any:
        async with self._http.request(method, path, **request) as response:
            kind = response.headers.get("Content-Type", "").partition(";")[0]
            body = await response.read()
            value = await response.json() if kind == JSON and body else None
        address = path.partition("?")[0]
        template = next(at for pattern, at in self._paths.items() if pattern.fullmatch(address))
        status = str(response.status)
        self.asked.add((method, template, status))
        told = self._document["paths"][template][method.lower()]["responses"]
        assert status in told, (method, path, status, value)
        answer = told[status]
        if "$ref" in answer:
            answer = self._document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
        content = answer.get("content", {})
        if value is not None:
            components = {"components": self._document["components"]}
            assert JSON in content, (method, path, status)
            Draft202012Validator({**content[JSON]["schema"], **components}).validate(value)
        elif body:
            main = kind.partition("/")[0]
            assert {kind, f"{main}/*", "*/*"} & content.keys(), (method, path, kind)
        return value
