"""DREAM's Python connectors, found by their class names."""

import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.errors import ConfigError
from prolocutor.plugins.deeppavlov.formatters.replies import RESPONSE_FORMATTERS
from prolocutor.plugins.deeppavlov.python_connectors.built_in_connectors import (
    BuiltInConnector,
    make_built_in,
)
from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment
from prolocutor.plugins.deeppavlov.python_connectors.fixed_skills import TEXTS
from tests.plugins.deeppavlov.unit.formatters.agent_states import bot, dialog, human, hypothesis


def connector(class_name: str, **arguments: Any) -> BuiltInConnector:
    found = make_built_in(class_name, arguments, DreamEnvironment())
    assert found is not None
    return found


def test_an_unknown_class_is_not_built_in() -> None:
    assert make_built_in("my.module:MyConnector", {}, DreamEnvironment()) is None


def test_a_predefined_text_comes_with_its_annotations() -> None:
    say = connector("PredefinedTextConnector", response_text="Sorry", annotations={"ner": []})
    assert say({}) == {"text": "Sorry", "annotations": {"ner": []}}
    assert connector("PredefinedTextConnector", response_text="Sorry")({})["annotations"] == {}


def test_the_most_confident_hypothesis_is_chosen() -> None:
    said = [hypothesis("a", "no"), hypothesis("b", "yes") | {"confidence": 0.9}]
    choose = connector("ConfidenceResponseSelectorConnector")
    assert choose(dialog(human("hi", hypotheses=said))) == said[1]


def test_a_predefined_output_is_the_reply() -> None:
    assert connector("PredefinedOutputConnector", output=[1])({}) == [1]


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(KeyError, match="response_text"):
        connector("PredefinedTextConnector", connector_name="noise")


def test_response_annotators_that_have_not_annotated_the_last_reply_are_asked() -> None:
    select = connector("PostAnnotatorSelectorConnector", annotator_names=["ner", "sentseg"])
    state = dialog(human("hi"), bot("Hi", sentseg={}), human("ok"))
    assert select(state) == ["ner"]
    assert select(dialog(human("hi"))) == []


def test_the_dummy_skill_says_a_text_of_the_language() -> None:
    reply = connector("DummySkillConnector")({})
    [hypothesis] = RESPONSE_FORMATTERS["skill_with_attributes_formatter_service"](reply)
    assert hypothesis.pop("text") in TEXTS["EN"]
    assert hypothesis == {
        "confidence": 0.5,
        "human_attributes": {"type": "dummy"},
        "bot_attributes": {},
    }


def test_the_dummy_skill_reads_the_texts_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "fallbacks.json"
    file.write_text(json.dumps(["Tea?"]))
    environment = DreamEnvironment.read({"FALLBACK_FILE": str(file)})
    say = make_built_in("DummySkillConnector", {}, environment)
    assert say is not None
    assert say({})[0] == ["Tea?"]


def test_the_file_may_lie_where_dream_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "common" / "fallbacks"
    folder.mkdir(parents=True)
    (folder / "mine.json").write_text('["Cake?"]')
    monkeypatch.chdir(tmp_path)
    say = make_built_in("DummySkillConnector", {}, DreamEnvironment(fallback_file="mine.json"))
    assert say is not None
    assert say({})[0] == ["Cake?"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "fallbacks.json"
    file.write_text("[")
    with pytest.raises(ConfigError, match=r"fallbacks\.json is not a JSON list of texts"):
        make_built_in("DummySkillConnector", {}, DreamEnvironment(fallback_file=str(file)))


def test_without_the_file_the_dummy_skill_has_texts_of_the_language() -> None:
    environment = DreamEnvironment.read({"FALLBACK_FILE": "missing.json", "LANGUAGE": "RU"})
    say = make_built_in("DummySkillConnector", {}, environment)
    assert say is not None
    assert say({})[0][0] in TEXTS["RU"]


def test_a_command_of_an_alexa_device_is_acknowledged() -> None:
    answer = connector("AlexaHandlerConnector")
    assert answer({"sentences": ["/alexa_stop"]}) == [
        ["alexa handler: command logged"],
        [1.0],
        [{}],
    ]
    assert answer({"dialogs": [dialog(human("/alexa_stop"))]})[1] == [1.0]
    with pytest.raises(ValueError, match="/alexa_"):
        answer({"sentences": ["stop"]})


def test_switches_are_read_as_numbers_and_default_as_in_dream() -> None:
    assert DreamEnvironment.read({}) == DreamEnvironment()
    read = DreamEnvironment.read(
        {"HIGH_PRIORITY_INTENTS": "0", "ALWAYS_TURN_ON_ALL_SKILLS": "1", "LANGUAGE": "RU"}
    )
    assert read == DreamEnvironment(high_priority_intents=False, all_skills=True, language="RU")
