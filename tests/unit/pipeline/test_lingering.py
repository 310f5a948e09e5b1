"""A service that could start gives annotators of the previous reply a little time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prolocutor.contracts.selection import Effects
from prolocutor.errors import ConfigError
from prolocutor.plan.graph import compile_graph
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeService
from tests.unit.pipeline.talk import (
    PATIENCE,
    Gate,
    Stubborn,
    Talk,
    asked,
    hypothesis,
    outcomes,
    says,
    settle_down,
    skill,
)


class Previous:
    """A response formatter that annotates the reply before, and says so."""

    annotates = "previous"

    def __call__(self, reply: Any) -> Effects:
        return Effects(previous=reply)


def note(name: str, target: Any, after: Any = ()) -> Service:
    return Service(name, target, timeout=PATIENCE, after=after, response_formatter=Previous())


def notes_shown_to(service: Service) -> list[str]:
    return sorted(asked(service)[-1]["bot_utterances"][-1]["annotations"])


async def test_a_service_that_lingers_is_shown_what_annotators_of_the_last_reply_say() -> None:
    slow, slower = Gate("polite"), Gate("short")
    chat = says("chat", [hypothesis()], lingers=PATIENCE, after=["quick"])
    hasty = says("hasty", [hypothesis()], after=["quick"])
    annotators = [says("quick", 1), note("tone", slow), note("length", slower)]
    talk = Talk(Pipeline(annotators=annotators, skills=[chat, hasty]))
    slow.opened.set()
    slower.opened.set()
    await talk.turn()
    slow.opened.clear()
    slower.opened.clear()

    turn = asyncio.create_task(talk.turn())
    await settle_down()
    before = len(asked(chat)), len(asked(hasty))
    slow.opened.set()
    await settle_down()
    between = len(asked(chat))
    slower.opened.set()
    await turn

    assert before == (1, 2)
    assert between == 1
    assert notes_shown_to(chat) == ["length", "tone"]
    assert notes_shown_to(hasty) == []


async def test_it_starts_when_its_time_is_over() -> None:
    with Stubborn() as hung:
        chat = says("chat", [hypothesis("here I am")], lingers=0.01, after=[])
        choosing = Gate()
        chooser = Service("selector", choosing)
        talk = Talk(
            Pipeline(annotators=[note("tone", hung)], skills=[chat], response_selector=chooser)
        )
        chosen = asyncio.create_task(talk.turn())
        async with asyncio.timeout(PATIENCE):
            await choosing.started.wait()
        chosen.cancel()


async def test_it_lingers_for_nothing_that_waits_for_itself_or_for_which_it_waits() -> None:
    first = says("first", [hypothesis()], lingers=PATIENCE, after=["before"])
    before = note("before", FakeService(1))
    behind = note("behind", FakeService(1), ["first"])
    turn = await Talk(Pipeline(annotators=[before, behind], skills=[first])).turn()

    assert set(outcomes(turn).values()) == {"done"}


async def test_where_nothing_runs_it_starts() -> None:
    held = says("held", [hypothesis()], lingers=PATIENCE)
    waiting = note("waiting", FakeService(1), ["never"])
    pipeline = Pipeline(
        annotators=[waiting],
        skill_selector=says("select", ["held"], after=[]),
        skills=[held, skill("never")],
    )

    assert await Talk(pipeline).say() == "hello"


def test_it_cannot_linger_a_negative_time() -> None:
    with pytest.raises(ConfigError) as caught:
        compile_graph(Pipeline(skills=[says("chat", [], lingers=-1.0)]))
    assert caught.value.key == "skills.chat.lingers"
