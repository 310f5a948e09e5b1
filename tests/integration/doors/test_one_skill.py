"""Talking to one skill alone, at the doors of DeepPavlov's and Almond's clients."""

from typing import Any

import aiohttp

from prolocutor import Assistant, Pipeline
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener
from tests.unit.pipeline.talk import skill


async def test_one_skill_alone_is_asked_where_the_client_says_so() -> None:
    pipeline = Pipeline(skills=[skill("loud", "LOUD", 0.9), skill("soft", "soft", 0.1)])
    async with Assistant(pipeline, store="memory:") as it:
        app = Listener(it, [DeepPavlov(it), Almond(it)])
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            body = {"user_id": "ann", "payload": "hi"}
            usual = await posted(http, "/", body)
            alone = await posted(http, "/?skill=soft", body)
            unknown = await posted(http, "/?skill=sofd", body)
            command = {"command": {"type": "command", "text": "hi"}}
            converse = await posted(http, "/api/converse?skill=soft", command)
            async with http.ws_connect("/chat/ws?skill=soft") as socket:
                await socket.send_json(body)
                by_socket = await socket.receive_json()
            heard = await conversation(http, "soft"), await conversation(http, "sofd")

    assert [one["response"] for one in (usual, alone, by_socket)] == ["LOUD", "soft", "soft"]
    assert unknown["code"] == "not_found"
    assert unknown["field"] == "skill"
    assert "did you mean 'soft'?" in unknown["error"]
    assert converse["messages"][0]["text"] == "soft"
    assert [frame.get("text") or frame["code"] for frame in heard] == ["soft", "not_found"]


async def posted(http: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> Any:
    async with http.post(path, json=body) as response:
        return await response.json()


async def conversation(http: aiohttp.ClientSession, name: str) -> dict[str, Any]:
    """Say something over a socket for one skill; return the first text or error."""
    address = f"/api/conversation?skill={name}&skip_history=1&id={name}"
    async with http.ws_connect(address) as socket:
        await socket.send_json({"type": "command", "text": "hi"})
        while True:
            frame: dict[str, Any] = await socket.receive_json()
            if frame["type"] in ("text", "error"):
                return frame
