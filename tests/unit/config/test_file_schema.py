"""The JSON Schema of a file says what the file's reader says."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from prolocutor.config.file_keys import file_schema
from prolocutor.config.loading import demo_file

DATA = Path(__file__).parents[2] / "data"
SEEN_BY_A_SCHEMA = ("doors", "many", "out_of_range", "unknown_key", "wrong_type")


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = file_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(
    "file", [demo_file(), DATA / "config" / "full.yaml", DATA / "config" / "minimal.yaml"]
)
def test_a_right_file_is_accepted(validator: Any, file: Path) -> None:
    found = [error.message for error in validator.iter_errors(yaml.safe_load(file.read_text()))]

    assert found == []


@pytest.mark.parametrize("name", SEEN_BY_A_SCHEMA)
def test_a_faulty_file_is_refused(validator: Any, name: str) -> None:
    content = yaml.safe_load((DATA / "faulty" / f"{name}.yaml").read_text())

    assert not validator.is_valid(content)


@pytest.mark.parametrize(
    ("service", "fits"),
    [
        ({"call": {"url": "http://x/v1", "model": "m"}, "connector": "openai_chat"}, True),
        ({"call": {"url": "http://x/v1", "modell": "m"}, "connector": "openai_chat"}, False),
        ({"call": {"url": "http://x/v1", "model": "m"}}, False),
        ({"call": {"url": "http://x/v1", "model": "m"}, "connector": "rasa"}, False),
        ({"call": ["echo", "hi"], "connector": "command"}, True),
    ],
)
def test_the_options_of_a_call_are_those_of_its_connector(
    validator: Any, service: dict[str, Any], fits: bool
) -> None:
    assert validator.is_valid({"skills": {"a": service}}) is fits


def test_a_selector_may_ask_a_model(validator: Any) -> None:
    call = {"url": "http://x/v1", "model": "m"}
    selector = {"router": "learned", "connector": "openai_embeddings", "call": call}

    assert validator.is_valid({"skills": {"a": "b:c"}, "skill_selector": selector})


def test_every_key_of_a_file_is_described() -> None:
    schema = file_schema()

    assert list(_undescribed(schema, "")) == []


def _undescribed(schema: Any, path: str) -> Any:
    if isinstance(schema, list):
        for number, one in enumerate(schema):
            yield from _undescribed(one, f"{path}[{number}]")
    if not isinstance(schema, dict):
        return
    for key, one in schema.get("properties", {}).items():
        if "description" not in one and "$ref" not in one:
            yield f"{path}.{key}"
    for key, one in schema.items():
        yield from _undescribed(one, f"{path}.{key}")
