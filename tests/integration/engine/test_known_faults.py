"""Faults under which DeepPavlov Agent was seen to fail, beside those of the engine's own tests."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline, Service
from prolocutor.contracts.connector import Replies, Request
from prolocutor.contracts.selection import Selection
from prolocutor.contracts.store import DialogQuery
from prolocutor.dialog.plain import Plain, PlainItems
from prolocutor.errors import ServiceError
from prolocutor.testing.fake_service import FakeService
from tests.model_store import ModelStore
from tests.unit.pipeline.talk import FALLBACK, hypothesis

DEADLINE = 1.0
SLACK = 20.0
"""What a busy machine may take on top; far less than the time-outs of services that hang."""

BROKEN = ValueError("no")


def says(name: str, *replies: Any, **options: Any) -> Service:
    return Service(name, FakeService(*replies), **options)


def skill(name: str = "fine", **more: Any) -> Service:
    return says(name, hypothesis(name, **more))


async def say(pipeline: Pipeline, **options: Any) -> str:
    """Take one turn, which is over by the deadline."""
    loop = asyncio.get_running_loop()
    options = {"store": "memory:", "deadline": DEADLINE, "fallback": FALLBACK, **options}
    async with Assistant(pipeline, **options) as assistant:
        start = loop.time()
        text = (await assistant.reply("hi", user="ann")).text
        assert loop.time() - start < options["deadline"] + SLACK
        return text


async def test_the_response_selector_fails_and_the_most_confident_hypothesis_is_taken() -> None:
    skills = [says("low", hypothesis("low", 0.1)), says("high", hypothesis("high", 0.9))]
    assert await say(Pipeline(skills=skills, response_selector=says("s", BROKEN))) == "high"


async def test_by_deeppavlovs_wire_an_empty_selection_means_all() -> None:
    pipeline = Pipeline(skill_selector=says("selector", [], wire="deeppavlov"), skills=[skill()])
    assert await say(pipeline) == "fine"


class Unreadable(Exception):
    """An exception whose text cannot be had."""

    def __str__(self) -> str:
        raise SystemExit(3)


def raises_unreadable(*given: Any) -> Any:
    raise Unreadable


@pytest.mark.parametrize("key", ["formatter", "response_formatter"])
async def test_a_formatter_whose_error_cannot_be_read_is_its_services_failure(key: str) -> None:
    broken = says("broken", hypothesis("odd", 1.0), **{key: raises_unreadable})
    assert await say(Pipeline(skills=[broken, skill()])) == "fine"


async def test_choosing_more_skills_fails_alone_where_its_error_cannot_be_read() -> None:
    selecting = says("s", Selection(["fine"], raises_unreadable))
    assert await say(Pipeline(skill_selector=selecting, skills=[skill()])) == "fine"


async def test_a_formatter_that_exits_is_the_failure_of_a_call_outside_a_turn() -> None:
    broken = says("broken", hypothesis(), formatter=lambda state: sys.exit(3))
    async with Assistant(Pipeline(skills=[broken]), store="memory:") as assistant:
        with pytest.raises(ServiceError):
            await assistant.engine.call("broken", {}, timeout=DEADLINE, formatted=True)


class Lying:
    """A connector of a plug-in whose items are not what their bytes say."""

    answer = None

    async def send(self, requests: Sequence[Request]) -> Replies:
        lie = Plain({"text": "odd", "confidence": 0.1}, b"no JSON")
        return [PlainItems([lie.value], b"no JSON", [lie])]

    async def aclose(self) -> None:
        """Hold nothing."""


@pytest.mark.parametrize("place", ["skills", "annotators", "candidate_annotators"])
async def test_a_connector_whose_items_lie_spoils_no_dialog(place: str) -> None:
    store = ModelStore()
    lying = Service("lying", Lying(), together=place == "candidate_annotators")
    services = {"skills": [skill()], place: [lying, *([skill()] if place == "skills" else [])]}
    async with Assistant(Pipeline(**services), store=store) as assistant:
        result = await assistant.turn("hi", user="ann")
        dialog = await store.dialog(result.dialog_id)
    assert dialog is not None
    assert [utterance.text for utterance in dialog.utterances] == ["hi", "fine"]


async def test_two_messages_at_once_of_a_new_user_make_one_person_and_one_dialog() -> None:
    store = ModelStore()
    async with Assistant(Pipeline(skills=[skill()]), store=store) as assistant:
        one, two = await asyncio.gather(
            assistant.turn("a", user="ann"), assistant.turn("b", user="ann")
        )
        dialogs = await store.dialog_ids(DialogQuery(user="ann"))
    assert one.dialog_id == two.dialog_id
    assert dialogs == [one.dialog_id]
