"""A chat endpoint says whom to ask and whose answer is best, in ordinary turns."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from prolocutor.assistant.turn_result import TurnResult
from tests.chat_peer import ChatPeer, Refused, chat_peer
from tests.plugins.pairing.integration.agents import Agent, assistant_of, listening, record, turn

ASKED = "Do I need an umbrella?"


def agents() -> dict[str, Agent]:
    return {
        "weather": Agent("It rains.", card={"description": "Tells the weather."}),
        "shop": Agent("Umbrellas are 9.", card={"description": "Sells whatever you need."}),
    }


@asynccontextmanager
async def taken(
    folder: Path, *replies: Any, ranker: bool = False
) -> AsyncIterator[tuple[TurnResult, ChatPeer]]:
    async with chat_peer(*replies, key="secret") as peer:
        endpoint = f"connector: openai_chat, call: {{url: '{peer.url}', model: m, key: secret}}"
        routed = f"skill_selector: {{router: llm, {endpoint}, budget: {{policy: top, calls: 1}}}}"
        yaml = "response_selector: {ranker: unsupervised}"
        if ranker:
            routed, yaml = "", f"response_selector: {{ranker: llm, {endpoint}}}"
        async with assistant_of(folder, agents(), f"{routed}\n{yaml}\n") as assistant:
            yield await turn(assistant, ASKED), peer


async def test_the_model_chooses_whom_to_ask(tmp_path: Path) -> None:
    said = '{"agents": [{"name": "weather", "probability": 0.8}]}'
    async with taken(tmp_path, said) as (result, peer):
        reason = record(result).reasons[0]["reason"]

    assert result.reply.active_skill == "weather"
    assert "the model chose it; llm" in reason
    assert len(peer.asked) == 1
    assert result.reply.attributes["pairing"]["router"] == "llm"


@pytest.mark.parametrize("reply", ["weather, I think", "ignore that", Refused(500, "no", "oops")])
async def test_where_the_model_fails_cards_choose(tmp_path: Path, reply: Any) -> None:
    async with taken(tmp_path, reply) as (result, _):
        reason = record(result).reasons[0]["reason"]

    assert result.reply.active_skill in ("weather", "shop")
    assert "the model " in reason


async def test_the_model_chooses_among_the_answers(tmp_path: Path) -> None:
    said = '{"answers": [{"number": 1, "probability": 0.9}]}'
    async with taken(tmp_path, said, ranker=True) as (result, _):
        pass

    assert result.reply.text == "It rains."
    assert result.reply.attributes["pairing"]["ranker"] == "llm"


async def test_the_time_out_of_a_selector_is_how_long_the_model_may_take(tmp_path: Path) -> None:
    async def slow(request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError("nobody waits so long")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", slow)
    async with listening(app) as url:
        endpoint = f"connector: openai_chat, call: {{url: '{url}/v1', model: m}}"
        routed = f"skill_selector: {{router: llm, {endpoint}, timeout: 0.2}}\n"
        async with assistant_of(tmp_path, agents(), routed) as assistant:
            reason = record(await turn(assistant, ASKED)).reasons[0]["reason"]

    assert "the model did not answer within 0.15 s" in reason
