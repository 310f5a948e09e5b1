"""The plan of an assistant over HTTP: stages, edges, states, times, hints with file and line."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.building import build_assistant
from prolocutor.config.check_warnings import told_hints
from prolocutor.config.loading import load
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.console.channel import Console
from prolocutor.testing.channel_kit import running
from prolocutor.web.door_context import DoorContext, ServedFile
from prolocutor.web.listener import Listener
from tests.unit.pipeline.talk import hypothesis, says

FILE = """\
name: kitchen
store: 'memory:'
deadline: 2.0
auth:
  keys: ["${SECRET_KEY}"]
annotators:
  lonely: {call: "json:dumps", timeout: 1.5}
skills:
  chat: {call: "http://me:s3cret-word@127.0.0.1:9/ask?key=s3cret-word", timeout: 1.0, after: []}
  far: {call: "json:dumps", timeout: 1.0, requires: [lonely]}
"""


async def plan_of(it: Assistant, file: ServedFile | None = None) -> Any:
    async with (
        running(Listener(it, [Console(DoorContext(it, file=file))])) as url,
        aiohttp.ClientSession(url) as http,
    ):
        await it.turn("hi", user="ann")
        async with http.get("/api/console/plan") as response:
            assert response.status == 200
            return await response.json()


async def test_the_plan_has_nodes_edges_and_two_longest_chains() -> None:
    note, other = says("note", {"n": 1}, timeout=0.5), says("other", 1, timeout=5.0)
    needy = Service("needy", says("x", hypothesis()).target, after=["note"], requires=["note"])
    chat = says("chat", hypothesis("hello", 0.9), after=["note", "other"])
    pipeline = Pipeline(
        annotators=[note, other],
        skills=[needy, chat],
        response_annotators=[says("chat", 1)],
        last_chance=says("sorry", "Sorry."),
    )
    async with Assistant(pipeline, store="memory:", deadline=60.0) as it:
        await it.switches.switch(it.engine.find_step("needy"), on=False, by="eve")
        plan = await plan_of(it)

    nodes = {one["id"]: one for one in plan["nodes"]}
    assert list(nodes) == [
        "note",
        "other",
        "needy",
        "skills.chat",
        "response_annotators.chat",
        "sorry",
    ]
    assert [one["level"] for one in plan["nodes"]] == [1, 1, 2, 2, 3, 4]
    assert nodes["needy"]["state"] == "off"
    assert nodes["note"]["state"] == "well"
    assert nodes["needy"]["p50"] is None
    assert nodes["note"]["asked"] == 1
    assert nodes["note"]["p50"] is not None
    assert ["note", "needy", "requires"] in plan["edges"]
    assert ["other", "skills.chat", "after"] in plan["edges"]
    assert plan["critical"] == ["other", "skills.chat", "response_annotators.chat"]
    assert plan["longest"][1:] == ["skills.chat", "response_annotators.chat"]
    assert plan["file"] is None
    assert plan["hints"] == []
    assert plan["deadline"] == 60.0
    assert plan["reserve"] == 1.0


def test_the_same_hint_about_several_services_is_one(tmp_path: Path) -> None:
    skills = "".join(f"  s{n}: {{call: 'builtins:len'}}\n" for n in range(5))
    path = tmp_path / "kitchen.yaml"
    path.write_text(f"skills:\n{skills}")

    (found,) = [one for one in told_hints(path) if "plain function" in one[0]]

    assert found[0].startswith("skills.s0, skills.s1, skills.s2 and 2 more: a plain function")
    assert found[1] == "kitchen.yaml:2"


async def test_hints_have_file_and_line_and_nothing_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "s3cret-word")
    path = tmp_path / "kitchen.yaml"
    path.write_text(FILE)
    os.utime(path, (0, 0))
    settings = load(path)
    file = ServedFile(path, partial(told_hints, path))
    async with build_assistant(settings) as it:
        plan = await plan_of(it, file)
        changed = plan["file"], [one["what"] for one in plan["hints"]]
        os.utime(path, (4e9, 4e9))
        later = await plan_of(it, file)

    found = {one["what"]: one["where"] for one in plan["hints"]}
    assert changed[0] == "kitchen.yaml"
    (sum_,) = [one for one in found if "time-outs on the critical path add up to 2.5 s" in one]
    assert found[sum_] == "kitchen.yaml:3"
    threaded = [one for one in found if "a plain function runs" in one]
    assert ["skills.far" in one for one in threaded] == [True]
    assert later["hints"][0]["what"] == "it was changed since it was read: a restart takes it"
    assert "s3cret" not in str(plan)
