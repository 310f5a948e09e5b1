"""Ten lines of YAML join five agents behind five protocols; three doors put them behind three."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.building import assistant_of_file
from prolocutor.contracts.connector import Connector
from prolocutor.dialog.plain import Plain
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.a2a.connector.connector import A2aAgent, A2aConnector
from prolocutor.plugins.a2a.door.door import A2a
from prolocutor.plugins.mcp.connector.connector import McpConnector, McpTool
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.testing.channel_kit import running
from prolocutor.testing.connector_kit import ask, closing
from prolocutor.web.listener import Listener
from tests.chat_peer import chat_peer
from tests.pages import ROOT, blocks
from tests.rasa_peer import rasa_peer

PAGE = ROOT / "docs" / "howto" / "join-five-agents.md"
BOT = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"text": "the program", "confidence": 0.3}), flush=True)
"""
STATE = {
    "dialog_id": "0" * 32,
    "utterances": [{"text": "who?", "attributes": {}}],
    "human_utterances": [{"text": "who?", "attributes": {}}],
    "bot_utterances": [],
    "human": {"attributes": {}, "user_external_id": "ann"},
    "bot": {"attributes": {}},
}


@asynccontextmanager
async def agent(door: Any, says: str) -> AsyncIterator[str]:
    def speak(request: dict[str, Any]) -> dict[str, Any]:
        return {"text": says, "confidence": 0.5}

    async with (
        Assistant(Pipeline(skills=[Service("one", speak)]), store="memory:") as inner,
        running(Listener(inner, [door(inner)])) as url,
    ):
        yield url


def file_of_the_page(folder: Path, places: dict[str, str]) -> Path:
    """Write the file that the page shows, with other addresses."""
    text = next(block.text for block in blocks(PAGE) if block.file == "assistant.yaml")
    assert len(text.splitlines()) <= 10
    for shown, real in places.items():
        assert shown in text
        text = text.replace(shown, real)
    (folder / "bot.py").write_text(BOT)
    file = folder / "assistant.yaml"
    file.write_text(text)
    return file


async def said_by(connector: Connector) -> str:
    async with closing(connector) as closed:
        reply = await ask(closed, STATE)
    assert isinstance(reply, Plain), reply
    text: str = reply.value[0]["text"]
    return text


async def test_five_agents_are_one_assistant_behind_three_protocols(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        hotel = await stack.enter_async_context(agent(A2a, "the A2A agent"))
        tools = await stack.enter_async_context(agent(Mcp, "the tool"))
        chat = await stack.enter_async_context(chat_peer("the model"))
        rasa = await stack.enter_async_context(rasa_peer())
        file = file_of_the_page(
            tmp_path,
            {
                "http://127.0.0.1:9001": hotel,
                "http://127.0.0.1:9002/mcp": f"{tools}/mcp",
                "http://127.0.0.1:11434/v1": chat.url,
                "http://127.0.0.1:5005": rasa.url,
            },
        )
        joined = await stack.enter_async_context(assistant_of_file(file, store="memory:"))
        doors = [OpenAi(joined), A2a(joined), Mcp(joined)]
        url = await stack.enter_async_context(running(Listener(joined, doors)))
        http = await stack.enter_async_context(aiohttp.ClientSession(url))

        async def completion(model: str) -> str:
            body = {
                "model": model,
                "messages": [{"role": "user", "content": "who?"}],
                "user": model,
            }
            async with http.post("/v1/chat/completions", json=body) as response:
                answer = await response.json()
            text: str = answer["choices"][0]["message"]["content"]
            return text

        async with http.get("/v1/models") as response:
            models = [one["id"] for one in (await response.json())["data"]]
        alone = {model.partition("/")[2]: await completion(model) for model in models}
        behind = [
            await said_by(A2aConnector(A2aAgent(url=url), name="a2a")),
            await said_by(McpConnector(McpTool(url=f"{url}/mcp"), name="mcp")),
        ]

    assert alone == {
        "": "the A2A agent",
        "hotel": "the A2A agent",
        "weather": "the tool",
        "chat": "the model",
        "pizza": "1: who?",
        "local": "the program",
    }
    assert behind == ["the A2A agent"] * 2
