"""Pipeline files of DeepPavlov Agent: where their faults are, and the same assistant as YAML."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from prolocutor.config.file_check import check
from prolocutor.config.loading import load
from prolocutor.plugins.deeppavlov.convert import write_yaml
from prolocutor.plugins.deeppavlov.dream import SEVERAL
from prolocutor.plugins.deeppavlov.formatters.formatter_catalog import FORMATTERS, MODULE
from prolocutor.plugins.deeppavlov.formatters.replies import RESPONSE_FORMATTERS
from prolocutor.plugins.deeppavlov.pipeline_entries import STAGES

Services = dict[str, Any]


def http(name: str, **more: Any) -> dict[str, Any]:
    return {"protocol": "http", "url": f"http://{name}:80/respond", "timeout": 1, **more}


def services() -> Services:
    """Return the services of a small pipeline, by group."""
    words = {"protocol": "python", "class_name": "PredefinedTextConnector", "response_text": "Oh"}
    seg = {"connector": http("seg"), "state_manager_method": "add_annotation"}
    chat = {
        "connector": http("chat"),
        "dialog_formatter": f"{MODULE}:dff_food_skill_formatter",
        "state_manager_method": "add_hypothesis",
        "previous_services": ["annotators.seg"],
    }
    return {
        "last_chance_service": {"connector": words, "tags": ["last_chance"]},
        "annotators": {"seg": seg},
        "skills": {"chat": chat},
    }


def changed(path: str, **keys: Any) -> Callable[[Services], None]:
    def change(content: Services) -> None:
        for step in path.split("."):
            content = content[step]
        content.update(keys)

    return change


CHAT = "services.skills.chat"


@pytest.mark.parametrize(
    ("change", "key", "what"),
    [
        (changed("annotators.seg", previous_services=["skills"]), "annotators.seg", "a circle"),
        (changed("annotators.seg", previous_services=["annotators"]), "annotators.seg", "itself"),
        (changed("skills.chat.connector", url="http:///x"), f"{CHAT}.connector.url", "no host"),
        (changed("skills.chat.connector", url="http://h:99999"), f"{CHAT}.connector.url", "Port"),
        (changed("skills.chat.connector", url="chat:80/x"), f"{CHAT}.connector.url", "http"),
        (changed("skills.chat", connector="connectors.gone"), f"{CHAT}.connector", "gone"),
        (changed("skills.chat.connector", protocol="AMQP"), f"{CHAT}.connector", "AMQP"),
        (changed("skills.chat", dialog_formatter={"x": 1}), f"{CHAT}.dialog_formatter", "name"),
        (
            changed(
                "skills.chat",
                dialog_formatter={"name": f"{MODULE}:dff_prompted_skill_formatter", "skil": "x"},
            ),
            f"{CHAT}.dialog_formatter",
            "unexpected keyword argument 'skil'",
        ),
        (changed("skills.chat", state_manager_method="add"), f"{CHAT}.state_manager", "unknown"),
        (changed("last_chance_service.connector", response_text=1), None, ""),
        (
            changed(
                "last_chance_service",
                connector={"protocol": "python", "class_name": "PredefinedTextConnector"},
            ),
            "services.last_chance_service.connector",
            "response_text",
        ),
        (changed("skills", **{"a/b": services()["skills"]["chat"]}), "services.skills", "a name"),
    ],
)
@pytest.mark.parametrize("indent", [1, "\t"])
def test_a_fault_has_its_line_and_its_key(
    change: Callable[[Services], None],
    key: str | None,
    what: str,
    indent: int | str,
    tmp_path: Path,
) -> None:
    content, file = services(), tmp_path / "pipeline_conf.json"
    change(content)
    file.write_text(json.dumps({"services": content}, indent=indent))

    report = check(file, environ={})

    assert report.ok is (key is None)
    if key is not None:
        assert any(key in line and what in line for line in report.lines())
        assert all(":1:" not in line and ".json:" in line for line in report.lines())


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        (changed("skills.chat.connector", timeout="2"), "expected more than 0 s, found '2'"),
        (changed("skills.chat.connector", timeout=None), "has no timeout: it is 5 s here"),
        (
            changed("annotators.seg", tags=["last_chance"]),
            "is never called: last_chance_service is tagged last_chance, too",
        ),
        (
            changed("annotators.seg", tags=["timeout"]),
            "is never called: of a time-out service only the response_text counts here",
        ),
    ],
)
def test_what_may_surprise_is_a_warning(
    change: Callable[[Services], None], warning: str, tmp_path: Path
) -> None:
    content, file = services(), tmp_path / "pipeline_conf.json"
    change(content)
    file.write_text(json.dumps({"services": content}, indent=1))

    report = check(file, environ={})

    assert report.ok, report.lines()
    assert any(warning in line for line in report.lines())


def test_a_pipeline_file_may_be_yaml(tmp_path: Path) -> None:
    file, other = tmp_path / "pipeline_conf.yml", tmp_path / "pipeline_conf.json"
    file.write_text("services:\n" + indent(yaml.safe_dump(services()), "  "))
    other.write_text(json.dumps({"services": services()}))

    assert load(file).pipeline == load(other).pipeline


def test_a_name_that_is_there_twice_is_a_warning(tmp_path: Path) -> None:
    file, written = tmp_path / "pipeline_conf.json", json.dumps(services())
    file.write_text(f'{{"metadata": {{"x": 1,\n"x": 2}},\n"services": {written}}}')

    report = check(file, environ={})

    what = "metadata.x: this key is here twice, first in line 1; the last one counts"
    assert report.ok
    assert any(f":2: {what}" in line for line in report.lines())


def any_pipeline(seed: int) -> dict[str, Any]:
    """Return a pipeline with methods, formatters, tags and predecessors drawn by chance."""
    draw = random.Random(seed)
    content, names = services(), ["annotators.seg", "nothing.at_all"]
    for number in range(draw.randint(5, 20)):
        method = draw.choice([*STAGES, None])
        group, label = draw.choice(["annotators", "skills", "ranks", "actors"]), f"s{number}"
        python = {"protocol": "python", "class_name": "x:BatchConnector", "url": "http://b/x"}
        service = {
            "connector": draw.choice(
                [http(label), http(label, timeout=0.5), "connectors.shared", python]
            ),
            "dialog_formatter": draw.choice(
                [None, *(f"{MODULE}:{formatter}" for formatter in FORMATTERS)]
            ),
            "response_formatter": draw.choice([None, *RESPONSE_FORMATTERS]),
            "state_manager_method": method,
            "previous_services": draw.sample(names, k=min(len(names), draw.randint(0, 2))),
            "required_previous_services": draw.sample(names[2:], k=len(names) > 2 and number % 2),
            "tags": draw.choice([None, [], ["selector"]]),
            "is_enabled": draw.choice([True, False]),
            "source": {"component": f"components/{label}.yml", "port": number},
        }
        if draw.random() < 0.3:
            name = f"{MODULE}:dff_prompted_skill_formatter"
            service["dialog_formatter"] = {"name": name, "skill_name": label}
        if any(one in str(service["dialog_formatter"]) for one in SEVERAL):
            service["state_manager_method"] = "add_hypothesis_annotation_batch"
        content.setdefault(group, {})[label] = service
        names.append(f"{group}.{label}")
    shared = {"shared": {"protocol": "http", "url": "http://shared:1/${x}", "timeout": 2}}
    return {"services": content, "connectors": shared, "metadata": {"display_name": f"No {seed}"}}


@pytest.mark.parametrize("seed", range(12))
def test_any_pipeline_file_and_its_yaml_come_to_the_same_services(
    seed: int, tmp_path: Path
) -> None:
    file, written = tmp_path / "pipeline_conf.json", tmp_path / "assistant.yaml"
    content = any_pipeline(seed)
    file.write_text(json.dumps(content))
    lines = check(file, environ={}).lines()
    if not any("circle" in line for line in lines):  # a method may belong to an earlier stage
        before = load(file)
        written.write_text(write_yaml(before))
        after = load(written, environ={})

        assert [*after.pipeline.services()] == [*before.pipeline.services()]
        assert after.pipeline.last_chance == before.pipeline.last_chance
        assert after.pipeline.user_snapshot == "current"
        assert after.pipeline.own_words is False
        assert after.name == before.name
        assert after.deadline == before.deadline
        assert after.fallback == before.fallback
        assert check(written, environ={}).ok
