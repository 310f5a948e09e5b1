"""Asking: agents see a question as they would in a turn, and whatever they do is on record."""

import asyncio
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline, Service
from prolocutor.contracts.pairing import UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plan.pipeline import Breaker
from prolocutor.plugins.pairing.measuring.agent_asker import (
    AgentAsker,
    AgentReplies,
    AskedAgents,
    check_question,
    pipeline_to_ask,
    seconds_to_ask,
)

State = dict[str, Any]


def echo(request: State) -> State:
    return {"text": request["human_utterances"][-1]["text"], "confidence": 0.5}


def nobody(request: State) -> list[State]:
    return []


def broken(request: State) -> State:
    raise ValueError("no luck")


async def hanging(request: State) -> State:
    await asyncio.Event().wait()
    return {}


def asked(
    pipeline: Pipeline, *questions: str | UserQuestion, agents: Any = None
) -> list[AgentReplies]:
    """Ask all agents, or those that are named, one question after the other."""
    names = agents or [skill.name for skill in pipeline.skills]
    wanted = AskedAgents()

    async def ask() -> list[AgentReplies]:
        made = pipeline_to_ask(pipeline, wanted)
        deadline = seconds_to_ask(pipeline)
        async with Assistant(made, store="memory:", deadline=deadline) as assistant:
            asker = AgentAsker(assistant, wanted, {"echo": 0.25, "broken": 0.5})
            each = [UserQuestion(text=one) if isinstance(one, str) else one for one in questions]
            found = [await asker.ask(one, names) for one in each]
            assert [one async for one in assistant.store.export()] == []
            return found

    return asyncio.run(ask())


def test_everybody_is_asked_whatever_the_selector_would_say() -> None:
    pipeline = Pipeline(
        skill_selector=Service("chooser", nobody),
        skills=[Service("echo", echo), Service("quiet", nobody), Service("broken", broken)],
        response_selector=Service("judge", broken),
    )

    (found,) = asked(pipeline, "hello")

    assert found.answers == {"echo": "hello"}
    assert set(found.calls) == {"echo", "quiet", "broken"}
    echoed, quiet, failed = found.calls["echo"], found.calls["quiet"], found.calls["broken"]
    assert echoed.confidence == 0.5
    assert echoed.price == 0.25
    assert echoed.error is None
    assert quiet.confidence is None
    assert quiet.price is None
    assert quiet.error is None
    assert failed.error is not None
    assert "no luck" in failed.error
    assert failed.price == 0.5


def test_those_alone_are_asked_that_are_wanted() -> None:
    pipeline = Pipeline(skills=[Service("echo", echo), Service("broken", broken)])

    (found,) = asked(pipeline, "hello", agents=["echo"])

    assert set(found.calls) == {"echo"}


def test_a_slow_agent_has_its_own_time_out_and_holds_up_nobody() -> None:
    skills = [Service("echo", echo), Service("slow", hanging, timeout=0.05)]

    (found,) = asked(Pipeline(skills=skills), "hello")

    late = found.calls["slow"]
    assert late.error is not None
    assert 0.05 <= late.seconds < 60
    assert found.answers == {"echo": "hello"}


def test_an_agent_that_is_left_alone_is_neither_called_nor_paid() -> None:
    skills = [
        Service("broken", broken, breaker=Breaker(failures=1, cooldown=100)),
        Service("echo", echo),
    ]

    _, found = asked(Pipeline(skills=skills), "one", "two")

    left = found.calls["broken"]
    assert left.seconds == 0.0
    assert left.price == 0.0
    assert left.error is not None
    assert "left alone" in left.error


def test_of_several_hypotheses_the_surest_is_the_answer() -> None:
    def unsure(request: State) -> list[State]:
        return [{"text": "perhaps", "confidence": 0.2}, {"text": "surely", "confidence": 0.9}]

    (found,) = asked(Pipeline(skills=[Service("unsure", unsure)]), "well?")

    assert found.answers == {"unsure": "surely"}
    assert found.calls["unsure"].confidence == 0.9


def test_agents_find_the_turn_before_and_who_spoke_in_it() -> None:
    seen: list[State] = []

    def curious(request: State) -> list[State]:
        seen.append(request)
        return []

    own = Service("mine", curious, context="own")
    others = Service("other", curious, context="own")
    question = UserQuestion(
        text="and Oslo?", said_before="rain?", answered_before="No.", agent_before="mine"
    )

    asked(Pipeline(skills=[own]), question)
    asked(Pipeline(skills=[others]), question)
    asked(Pipeline(skills=[Service("all", curious)]), question, "fresh")

    texts = [[one["text"] for one in request["utterances"]] for request in seen]
    assert texts == [
        ["rain?", "No.", "and Oslo?"], ["and Oslo?"], ["rain?", "No.", "and Oslo?"], ["fresh"],
    ]  # fmt: skip
    assert seen[0]["bot_utterances"][0]["active_skill"] == "mine"


def test_annotators_come_first_and_what_waited_for_the_selector_still_runs() -> None:
    def told(request: State) -> State:
        return {"text": str(request["human_utterances"][-1]["annotations"]), "confidence": 1.0}

    pipeline = Pipeline(
        annotators=[Service("loud", lambda request: "HELLO")],
        skill_selector=Service("chooser", nobody),
        skills=[
            Service("told", told),
            Service("after", told, after=["chooser"], requires=["chooser"]),
        ],
    )

    (found,) = asked(pipeline, "hello")

    assert found.answers == dict.fromkeys(["told", "after"], "{'loud': 'HELLO'}")


@pytest.mark.parametrize("word", ["help", "stop", "yes", "\\t now => notify;"])
def test_words_that_mean_something_to_an_assistant_are_asked_as_they_are(word: str) -> None:
    (found,) = asked(Pipeline(skills=[Service("echo", echo)]), word)

    assert found.answers == {"echo": word}


def test_what_cannot_be_said_is_refused_before_anybody_is_asked() -> None:
    with pytest.raises(BadInput):
        check_question(UserQuestion(text="x" * 200_000))
    with pytest.raises(BadInput):
        check_question(UserQuestion(text="fine", said_before="\ud800"))
