"""What a client sends beside the text reaches skills as it is, and comes back as it is."""

from typing import Any

import aiohttp

from prolocutor import Assistant, Pipeline
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener
from tests.unit.pipeline.talk import says

PARTS: list[Any] = [
    {"data": {"basket": [{"id": 7, "price": 1.50, "tags": []}], "note": None}},
    {"data": {"\N{SNOWMAN}": "\u0000\n", "deep": [[[[{}]]]], "big": 12345678901234567890}},
]


async def test_data_parts_pass_through_untouched() -> None:
    seen: list[Any] = []

    def mirrors(request: Any) -> Any:
        heard = request["human_utterances"][-1]["attributes"]
        seen.append(heard["data_parts"])
        return {"text": "ok", "confidence": 1.0, "attributes": {"data_parts": heard["data_parts"]}}

    async with Assistant(Pipeline(skills=[says("mirrors", mirrors)]), store="memory:") as it:
        reply = await it.reply("hi", user="ann", attributes={"data_parts": PARTS})
        app = Listener(it, [DeepPavlov(it)])
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            body = {"user_id": "ann", "payload": "hi", "data_parts": PARTS}
            async with http.post("/", json=body) as response:
                answer = await response.json()
        stored = await it.store.dialog(answer["dialog_id"])

    assert seen == [PARTS, PARTS]
    assert reply.attributes["data_parts"] == answer["attributes"]["data_parts"] == PARTS
    assert stored is not None
    assert [utterance.attributes["data_parts"] for utterance in stored.utterances[-2:]] == [
        PARTS,
        PARTS,
    ]
