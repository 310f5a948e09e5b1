"""The selectors ask whom DREAM's own asked in recorded dialogs, where those are at hand."""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from prolocutor.plugins.deeppavlov.formatters.formatter_catalog import FORMATTERS
from prolocutor.plugins.deeppavlov.python_connectors.built_in_connectors import (
    DescriptionBasedSelector,
    RuleBasedSelector,
)
from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment
from tests.plugins.deeppavlov.unit.formatters.agent_states import State, dialog

DREAM = Path(__file__).parents[6] / "shared" / "data" / "dream"

if not DREAM.exists():
    pytest.skip("DREAM recordings (../shared/data/dream is absent)", allow_module_level=True)


@pytest.fixture(scope="module")
def longest() -> dict[str, str]:
    """Return of each pipeline the vector with the most text, which has a long dialog."""
    found: dict[str, str] = {}
    with gzip.open(DREAM / "golden" / "formatters.jsonl.gz", "rt") as lines:
        for line in lines:
            pipeline = line.rpartition('"pipeline": "')[2].partition('"')[0]
            if len(line) > len(found.get(pipeline, "")):
                found[pipeline] = line
    return found


@pytest.mark.parametrize(
    "pipeline",
    [
        "action_stories_ru_assistant",
        "dream",
        "dream_bot_kg_prompted",
        "dream_emotion",
        "dream_persona_openai_prompted",
        "dream_ranking_and_sf_based_dm",
        "multiskill_ai_assistant",
        "multiskill_ru_assistant",
        "universal_ru_prompted_assistant",
    ],
)
def test_descriptions_select_the_recorded_skills(pipeline: str) -> None:
    assert selected(pipeline, DescriptionBasedSelector) == recorded(pipeline)


@pytest.mark.parametrize(
    "pipeline",
    [
        "dream_kg",
        "dream_mini",
        "dream_mini_persona_based",
        "dream_multilingual",
        "dream_multimodal",
        "universal_prompted_assistant",
    ],
)
def test_rules_select_the_recorded_skills(pipeline: str) -> None:
    assert selected(pipeline, RuleBasedSelector) == recorded(pipeline)


@pytest.mark.parametrize(
    "pipeline",
    "dream_alexa dream_script_based dream_sfc dream_light dream_russian dream_russian_persona_based"
    " dream_embodied dream_voice".split(),
)
def test_rules_select_the_skills_whose_hypotheses_are_in_recorded_states(
    pipeline: str, longest: dict[str, str]
) -> None:
    state = json.loads(longest[pipeline])["in"]
    labels = state["attributes"]["pipeline"]
    skills = {name.removeprefix("skills.") for name in labels if name.startswith("skills.")}
    select = RuleBasedSelector(DreamEnvironment())
    for at, utterance in enumerate(state["utterances"][:-1]):
        heard = {hypothesis["skill_name"] for hypothesis in utterance.get("hypotheses", ())}
        if heard:
            [task] = FORMATTERS["base_skill_selector_formatter_dialog"].format(until(state, at))
            asked = skills & set(select(task)) or skills
            assert heard <= asked
            assert all(may_be_empty(skill, utterance) for skill in asked - heard)


def may_be_empty(skill: str, utterance: State) -> bool:
    """Return whether the tool that played the skills may have let this one say nothing."""
    found = utterance["annotations"]
    texts = [utterance["text"], found.get("spelling_preprocessing")]
    texts += [found.get("sentseg", {}).get("punct_sent")]
    texts += found.get("sentrewrite", {}).get("modified_sents", [])[-1:]
    return any(zlib.crc32(f"{skill}|{text}|drop".encode()) % 9 == 0 for text in texts)


def until(state: State, at: int) -> State:
    """Return a dialog as it was with the utterance at `at` as the newest."""
    said = dialog(*state["utterances"][: at + 1])
    return {**state, **{key: said[key] for key in LISTS}}


def rows(pipeline: str) -> list[Any]:
    with gzip.open(DREAM / "golden" / f"{pipeline}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def remote_skills(pipeline: str) -> set[str]:
    """Return the skills that are called over HTTP, and so recorded."""
    skills = json.loads((DREAM / f"{pipeline}.json").read_text())["services"]["skills"]
    return {
        label
        for label, service in skills.items()
        if isinstance(service["connector"], str) or service["connector"]["protocol"] == "http"
    }


def recorded(pipeline: str) -> list[set[str]]:
    """Return the skills that were called in each turn."""
    found = rows(pipeline)
    called: list[set[str]] = [set() for row in found if row["kind"] == "turn"]
    for row in found:
        if row["kind"] == "call" and row["service"].startswith("skills."):
            called[row["turn"] - 1].add(row["service"].removeprefix("skills."))
    return called


def selected(pipeline: str, selector: Any) -> list[set[str]]:
    """Return the skills that a selector asks in each turn of the recorded dialog."""
    found, remote = rows(pipeline), remote_skills(pipeline)
    variables = {name: str(value) for name, value in found[0]["env"].items()}
    select = selector(DreamEnvironment.read(variables))
    [row] = [row for row in found if row["kind"] == "state"]
    state: State = row.get("dialog") or row.get("state") or row
    asked = []
    for at, utterance in enumerate(state["utterances"]):
        if utterance["user"]["user_type"] == "human":
            [task] = FORMATTERS["base_skill_selector_formatter_dialog"].format(until(state, at))
            labels = select(task)
            asked.append(remote & set(labels) if labels else remote)
    return asked


LISTS = ("utterances", "human_utterances", "bot_utterances")
