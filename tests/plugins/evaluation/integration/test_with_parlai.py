"""Both directions with ParlAI itself: our assistant in its worlds, its agents among our skills."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("parlai") is None:
    pytest.skip("ParlAI (make test-parlai installs it)", allow_module_level=True)

from parlai.agents.repeat_query.repeat_query import RepeatQueryAgent
from parlai.core.params import ParlaiParser
from parlai.core.worlds import BatchWorld, DialogPartnerWorld
from parlai.tasks.fromfile.agents import ParlaiformatTeacher

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.evaluation.assistant_agent import AssistantAgent, FileAgent

TASK = """\
text:one\tlabels:1: one
text:two\tlabels:2: two\tepisode_done:True
text:three\tlabels:1: three\tepisode_done:True
text:four\tlabels:wrong\tepisode_done:True
"""


async def count(request: dict[str, Any]) -> dict[str, Any]:
    number = request["human"]["attributes"].get("number", 0) + 1
    text = f"{number}: {request['human_utterances'][-1]['text']}"
    return {"text": text, "confidence": 1.0, "human_attributes": {"number": number}}


@pytest.fixture
def opt(tmp_path: Path) -> Any:
    task = tmp_path / "task.txt"
    task.write_text(TASK)
    args = ["-t", "fromfile:parlaiformat", "--fromfile-datapath", str(task), "-dt", "valid"]
    args += ["--datapath", str(tmp_path)]
    return ParlaiParser(True, True).parse_args(args)


@pytest.fixture
def agent() -> Iterator[AssistantAgent]:
    pipeline = Pipeline(skills=[Service("count", count)])
    agent = AssistantAgent.of(Assistant(pipeline, store="memory:"))
    yield agent
    agent.shutdown()


def test_the_assistant_runs_in_parlais_world(opt: Any, agent: AssistantAgent) -> None:
    world = DialogPartnerWorld(opt, [ParlaiformatTeacher(opt), agent])

    while not world.epoch_done():
        world.parley()

    report = world.report()
    assert report["exs"].value() == 4
    assert report["accuracy"].value() == 0.75


def test_the_assistant_runs_in_parlais_batches(opt: Any, agent: AssistantAgent) -> None:
    opt["batchsize"] = 3
    world = BatchWorld(opt, DialogPartnerWorld(opt, [ParlaiformatTeacher(opt), agent]))

    while not world.epoch_done():
        world.parley()

    report = world.report()
    assert report["exs"].value() == 4
    assert report["accuracy"].value() == 0.75


def test_parlai_makes_the_assistant_of_a_file(opt: Any, tmp_path: Path) -> None:
    from parlai.scripts.eval_model import EvalModel

    file = tmp_path / "assistant.yaml"
    file.write_text(f"skills:\n  count: {{call: '{__name__}:count'}}\n")
    report = EvalModel.main(
        task=opt["task"],
        fromfile_datapath=opt["fromfile_datapath"],
        datapath=opt["datapath"],
        model=f"{FileAgent.__module__}:FileAgent",
        assistant_file=str(file),
        verbose=False,
    )

    assert report["accuracy"].value() == 0.75


async def test_parlais_agent_is_a_skill_of_ours() -> None:
    name = f"{RepeatQueryAgent.__module__}:RepeatQueryAgent"
    pipeline = Pipeline(skills=[Service("parrot", name, connector="parlai")])

    async with Assistant(pipeline, store="memory:") as assistant:
        replies = [(await assistant.reply(text, user="ann")).text for text in ("hello", "again")]

    assert replies == ["hello", "again"]


async def test_parlais_factory_makes_a_skill_of_ours() -> None:
    name = "parlai.core.agents:create_agent?model=fixed_response&fixed_response=Well."
    pipeline = Pipeline(skills=[Service("fixed", name, connector="parlai")])

    async with Assistant(pipeline, store="memory:") as assistant:
        reply = await assistant.reply("hello", user="ann")

    assert reply.text == "Well."
