"""The assistant as an agent that observes and acts, driven from plain code."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.errors import BadInput
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.evaluation.assistant_agent import (
    AssistantAgent,
    AssistantPartner,
    FileAgent,
)
from prolocutor.plugins.evaluation.parlai.batch_world import BatchWorld
from prolocutor.plugins.evaluation.parlai.shared_teacher import SharedTeacher
from prolocutor.plugins.evaluation.parlai.worlds import DialogPartnerWorld, SelfChatWorld


async def count(request: dict[str, Any]) -> dict[str, Any]:
    number = request["human"]["attributes"].get("number", 0) + 1
    text = f"{number}: {request['human_utterances'][-1]['text']}"
    return {"text": text, "confidence": 1.0, "human_attributes": {"number": number}}


def assistant() -> Assistant:
    return Assistant(Pipeline(skills=[Service("count", count)]), store="memory:")


@pytest.fixture
def agent() -> Iterator[AssistantAgent]:
    agent = AssistantAgent.of(assistant())
    yield agent
    agent.shutdown()


def said(agent: AssistantAgent, text: str, *, last: bool = False) -> str:
    agent.observe({"text": text, "episode_done": last})
    return str(agent.act()["text"])


def test_it_acts_on_what_it_observed(agent: AssistantAgent) -> None:
    agent.observe({"text": "a", "labels": ["b"], "episode_done": False})

    assert agent.act() == {
        "id": "assistant",
        "text": "1: a",
        "confidence": 1.0,
        "text_candidates": ["1: a"],
        "episode_done": False,
    }


def test_a_dialog_goes_on_until_the_episode_is_done(agent: AssistantAgent) -> None:
    assert [said(agent, "a"), said(agent, "b", last=True), said(agent, "c")] == [
        "1: a",
        "2: b",
        "1: c",
    ]


def test_clones_have_dialogs_of_their_own(agent: AssistantAgent) -> None:
    clones = [agent.clone(), agent.clone()]

    assert [said(one, "a") for one in (clones[0], clones[1], clones[0])] == ["1: a", "1: a", "2: a"]


def test_reset_begins_a_new_dialog(agent: AssistantAgent) -> None:
    said(agent, "a")
    agent.reset()

    assert said(agent, "b") == "1: b"


def test_a_batch_is_answered_each_in_its_own_dialog(agent: AssistantAgent) -> None:
    clones = [agent.clone(), agent.clone()]
    said(clones[1], "before")

    observed = [clone.observe({"text": "a"}) for clone in clones]

    assert [act["text"] for act in agent.batch_act(observed)] == ["1: a", "2: a"]


def test_padding_in_a_batch_gets_an_act_without_text(agent: AssistantAgent) -> None:
    padding = agent.clone().observe({"batch_padding": True, "episode_done": True})
    strange = {"text": "from nobody"}

    acts = agent.batch_act([padding, strange])

    assert [act.get("text") for act in acts] == [None, "1: from nobody"]


def test_what_it_hears_before_it_acts_is_put_together(agent: AssistantAgent) -> None:
    agent.observe({"text": "a"})

    assert said(agent, "b") == "1: a\nb"


def test_it_begins_where_nobody_else_does(agent: AssistantAgent) -> None:
    assert agent.act()["text"] == "1: Hi!"


def test_it_responds_without_leaving_a_trace(agent: AssistantAgent) -> None:
    said(agent, "a")

    assert agent.respond("b") == "1: b"
    assert agent.batch_respond([{"text": "c"}, {"text": "d"}]) == ["1: c", "1: d"]
    assert said(agent, "e") == "2: e"


def test_the_first_agents_shutdown_ends_its_thread_and_a_clones_does_not(
    agent: AssistantAgent,
) -> None:
    clone = agent.clone()
    clone.shutdown()
    assert said(clone, "a") == "1: a"

    agent.shutdown()
    agent.shutdown()

    with pytest.raises(RuntimeError, match="was shut down"):
        said(clone, "b")
    assert "assistant" not in [thread.name for thread in threading.enumerate()]


def test_an_input_that_cannot_be_taken_is_raised(agent: AssistantAgent) -> None:
    with pytest.raises(BadInput, match="at most"):
        said(agent, "x" * 100_001)


async def test_an_async_partner_needs_no_thread() -> None:
    async with assistant() as running:
        partner = AssistantPartner(running)
        partner.observe({"text": "a"})

        assert (await partner.act())["text"] == "1: a"


def test_a_file_is_an_agent_that_parlai_can_make(tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(f"skills:\n  count: {{call: '{__name__}:count'}}\n")
    agent = FileAgent({"assistant_file": str(file)})

    text = said(agent.clone(), "a")
    agent.shutdown()

    assert text == "1: a"


def test_a_file_agent_without_a_file_says_what_it_needs() -> None:
    with pytest.raises(BadInput, match="--assistant-file"):
        FileAgent({})


@pytest.mark.parametrize("size", [1, 2, 3])
def test_it_runs_in_our_batches(agent: AssistantAgent, size: int) -> None:
    data = [
        {"text": "a", "labels": ["1: a"]},
        {"text": "b", "labels": ["2: b"], "episode_done": True},
        {"text": "c", "labels": ["1: c"], "episode_done": True},
        {"text": "d", "labels": ["wrong"], "episode_done": True},
    ]
    opt = {"batchsize": size}
    world = BatchWorld(opt, DialogPartnerWorld(opt, [SharedTeacher(data), agent]))

    while not world.epoch_done():
        world.parley()

    assert world.report()["exs"].value() == 4
    assert world.report()["accuracy"].value() == 0.75


def test_two_assistants_talk_to_each_other(agent: AssistantAgent) -> None:
    world = SelfChatWorld({}, [agent, agent.clone()])

    world.parley()
    world.parley()

    assert [act and act["text"] for act in world.acts] == ["1: 1: Hi!", "2: 1: 1: Hi!"]
