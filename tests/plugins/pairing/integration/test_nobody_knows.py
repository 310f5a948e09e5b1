"""When nobody seems to know: a clarifying question, the fallback, or a skill for that."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from prolocutor.plugins.almond.door.door import Almond
from prolocutor.testing.channel_kit import Door, Gate, running
from prolocutor.web.listener import Listener
from tests.plugins.almond.integration.wire import kinds, opened
from tests.plugins.pairing.integration.agents import Agent, assistant_of, record, turn

ASKED = "Can you help me with my card?"
CLARIFY = (
    "skill_selector: {router: cards, budget: {policy: all}}\n"
    "response_selector: {ranker: unsupervised, unsure: {below: 1, then: clarify, choices: 2}}\n"
)


def agents() -> dict[str, Agent]:
    return {
        "bank": Agent("It is blocked.", card={"description": "Knows your bank card. Pays bills."}),
        "library_desk": Agent("Renewed.", card={"description": "Renews your library card."}),
        "weather": Agent("Sunny.", card={"description": "Tells the weather."}),
    }


async def test_the_likeliest_agents_are_choices_described_by_their_cards(tmp_path: Path) -> None:
    async with assistant_of(tmp_path, agents(), CLARIFY) as assistant:
        reply = (await turn(assistant, ASKED)).reply

    text, *choices = reply.attributes["messages"]
    assert text["text"] == "I am not sure whom to ask about that. Who should answer?"
    assert reply.attributes["ask"] == "choice"
    assert {one["title"]: one["text"] for one in choices} == {
        "Bank": "Knows your bank card.",
        "Library desk": "Renews your library card.",
    }
    assert reply.attributes["pairing"]["reason"] == "no answer is likely to be right"
    assert "forward" not in json.dumps(reply.attributes)


@pytest.mark.parametrize("answer", ["Library desk", "library desk", "the library one"])
async def test_the_chosen_agent_gets_the_original_utterance(tmp_path: Path, answer: str) -> None:
    three = agents()
    async with assistant_of(tmp_path, three, CLARIFY) as assistant:
        await turn(assistant, ASKED)
        result = await turn(assistant, answer)
        dialog = await assistant.store.dialog(result.dialog_id)

    assert result.reply.text == "Renewed."
    assert result.reply.active_skill == "library_desk"
    assert three["library_desk"].asked == [ASKED, ASKED]
    assert len(three["bank"].asked) == 1
    assert dialog is not None
    assert [one.text for one in dialog.utterances][::2] == [ASKED, answer]


async def test_after_a_choice_nothing_is_asked_any_more(tmp_path: Path) -> None:
    async with assistant_of(tmp_path, agents(), CLARIFY) as assistant:
        await turn(assistant, ASKED)
        await turn(assistant, "Bank")

        assert await assistant.archive.waiting("ann") is None


async def test_a_choice_is_pressed_on_a_client_of_almond(tmp_path: Path) -> None:
    three = agents()
    async with assistant_of(tmp_path, three, CLARIFY) as assistant:
        app = Listener(assistant, [Almond(assistant)])
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            door = Door(url, http, assistant, app, Gate())
            async with opened(door) as ann:
                asked = await ann.say(ASKED)
                place = next(
                    frame["idx"] for frame in asked if frame.get("title") == "Library desk"
                )
                code = ["bookkeeping", "choice", str(place)]
                await ann.send(type="parsed", json={"code": code, "entities": {}})
                answered = await ann.until_asked()

    assert kinds(asked) == ["command", "text", "choice", "choice", "askSpecial"]
    assert asked[-1]["ask"] == "choice"
    assert "forward" not in json.dumps(asked)
    assert _text(answered) == "Renewed."
    assert answered[-1]["ask"] is None
    assert three["library_desk"].asked == [ASKED, ASKED]


async def test_without_a_likely_answer_the_assistant_says_that_it_has_none(tmp_path: Path) -> None:
    yaml = CLARIFY.replace("then: clarify", "then: fallback") + "fallback: Nobody here knows.\n"
    async with assistant_of(tmp_path, agents(), yaml) as assistant:
        result = await turn(assistant, ASKED)

    assert result.reply.text == "Nobody here knows."
    assert record(result).by == "fallback"


async def test_a_skill_that_speaks_when_nobody_knows_is_asked_only_then(tmp_path: Path) -> None:
    sure = "The weather in Rome: sunny."
    skills: Mapping[str, Any] = {
        "weather": Agent(sure, card={"description": "Tells the weather in Rome and elsewhere."}),
        "bank": Agent("Sorry, I do not know.", card={"description": "Pays bills."}),
        "guide": Agent("Ask me about the weather.", card={"description": "Guides."}),
    }
    yaml = (
        "skill_selector: {router: cards, budget: {policy: sure, start: 1}}\n"
        "response_selector: {ranker: unsupervised, unsure: {below: 0.25, then: guide}}\n"
    )
    async with assistant_of(tmp_path, skills, yaml) as assistant:
        known = await turn(assistant, "How is the weather in Rome?")
        skills["weather"].says = None
        unknown = await turn(assistant, "Who painted the ceiling?", user="bob")

    assert known.reply.text == sure
    assert len(skills["guide"].asked) == 1
    assert unknown.reply.text == skills["guide"].says
    assert ["guide"] in [one["asked"] for one in record(unknown).reasons]
    assert unknown.reply.attributes["pairing"]["reason"] == "no answer is likely to be right"


def _text(frames: list[dict[str, Any]]) -> str | None:
    return next((frame["text"] for frame in frames if frame["type"] == "text"), None)
