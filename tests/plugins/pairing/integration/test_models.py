"""Models in ordinary turns: replaced while turns run, learned online, kept over a restart."""

import asyncio
import logging
from pathlib import Path

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.pairing import Card
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.plugins.pairing import model_reloading
from prolocutor.plugins.pairing.model_files import HEAD, save_model
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener
from tests.plugins.pairing.integration.agents import Agent, assistant_of, record, turn

CARDS = [Card(name="red"), Card(name="blue")]
QUESTION = "Where is the key?"
TOP = "skill_selector: {router: learned, model: colours, budget: {policy: top, calls: 1}}\n"
RANKED = f"{TOP}response_selector: {{ranker: unsupervised}}\n"


def agents() -> dict[str, Agent]:
    return {name: Agent(f"I am {name}.", card={"description": f"Knows {name}."}) for name in NAMES}


NAMES = ("red", "blue")


def save(folder: Path, agent: str, more: int = 0) -> str:
    """Save a model by which this agent is right, and give its id."""
    router = LearnedRouter(CARDS)
    router.learn_all([RouterLabel(QUESTION, {agent: 1.0})] * (5 + more))
    return save_model(folder / "colours", router.to_model())


async def test_a_model_is_replaced_without_dropping_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_reloading, "LOOKS", 0.0)
    versions = [save(tmp_path, "red")]
    seen: list[tuple[str, str]] = []
    async with assistant_of(tmp_path, agents(), RANKED) as assistant:

        async def talk(number: int) -> None:
            while len(dict(seen)) < 3:
                result = await turn(assistant, QUESTION, user=f"user {number}")
                told = result.reply.attributes["pairing"]["router"]
                seen.append((told, result.reply.text))
                assert f"; {told})" in record(result).reasons[0]["reason"]
                if number == 0 and told == versions[-1] and len(versions) < 3:
                    agent = "blue" if len(versions) == 1 else "red"
                    versions.append(await asyncio.to_thread(save, tmp_path, agent, len(versions)))

        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(talk(number))

    spoke = {versions[0]: "I am red.", versions[1]: "I am blue.", versions[2]: "I am red."}
    assert {version: spoke[version] for version, _ in seen} == dict(seen)


async def test_a_broken_model_leaves_the_old_one_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(model_reloading, "LOOKS", 0.0)
    version = save(tmp_path, "red")
    caplog.set_level(logging.ERROR)
    async with assistant_of(tmp_path, agents(), RANKED) as assistant:
        await turn(assistant, QUESTION)
        (tmp_path / "colours" / HEAD).write_text("{}")
        async with asyncio.timeout(120):
            while not caplog.records:
                result = await turn(assistant, QUESTION)

    assert result.reply.attributes["pairing"]["router"] == version
    assert "colours: the model in use stays as it was" in caplog.text


async def test_a_thumb_teaches_the_router_in_use_and_outlasts_it(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/d.db"
    async with assistant_of(tmp_path, agents(), RANKED, store) as assistant:
        first = await turn(assistant, QUESTION)
        wrong = first.reply.active_skill
        right = next(name for name in NAMES if name != wrong)
        await assistant.archive.rate(first.reply.utt_id, -1, "ann")
        await assistant.archive.rate(first.reply.utt_id, 4, "ann")
        second = await turn(assistant, QUESTION, user="bob")
        await assistant.archive.rate(second.reply.utt_id, "up", "bob")

    async with assistant_of(tmp_path, agents(), RANKED, store) as assistant:
        third = await turn(assistant, QUESTION, user="cid")

    assert [second.reply.active_skill, third.reply.active_skill] == [right, right]


async def test_a_rating_over_http_teaches(tmp_path: Path) -> None:
    async with assistant_of(tmp_path, agents(), RANKED) as assistant:
        first = await turn(assistant, QUESTION)
        await _rate(assistant, first.reply.utt_id, 0)
        second = await turn(assistant, QUESTION)

    assert second.reply.active_skill != first.reply.active_skill


async def _rate(assistant: Assistant, utt_id: str, rating: int) -> None:
    app = Listener(assistant, [DeepPavlov(assistant)])
    async with running(app) as url, aiohttp.ClientSession(url) as http:
        body = {"utt_id": utt_id, "rating": rating, "user_id": "ann"}
        async with http.post("/rating/utterance", json=body) as response:
            assert response.status == 200
