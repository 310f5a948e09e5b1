"""Every formatter gives what DREAM's own gives, where the recorded vectors are at hand."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.dialog.plain import encode
from prolocutor.plugins.deeppavlov.formatters.formatter_catalog import FORMATTERS
from prolocutor.plugins.deeppavlov.formatters.replies import RESPONSE_FORMATTERS

DREAM = Path(__file__).parents[6] / "shared" / "data" / "dream"
VECTORS = DREAM / "golden" / "formatters.jsonl.gz"

if not VECTORS.exists():
    pytest.skip("DREAM vectors (../shared/data/dream is absent)", allow_module_level=True)


def vectors() -> dict[str, list[Any]]:
    by_name: dict[str, list[Any]] = {}
    with gzip.open(VECTORS, "rt") as lines:
        for line in lines:
            vector = json.loads(line)
            by_name.setdefault(vector["formatter"], []).append(vector)
    return by_name


@pytest.fixture(scope="module")
def recorded() -> dict[str, list[Any]]:
    return vectors()


@pytest.mark.parametrize("name", sorted(FORMATTERS))
def test_a_dialog_formatter_asks_what_dream_asks_and_changes_no_dialog(
    name: str, recorded: dict[str, list[Any]]
) -> None:
    for vector in recorded.get(name, []):
        before = encode(vector["in"])
        if vector["error"]:
            with pytest.raises(ValueError, match="midas"):
                FORMATTERS[name].format(vector["in"], **vector["kwargs"])
        else:
            assert FORMATTERS[name].format(vector["in"], **vector["kwargs"]) == vector["out"]
        assert encode(vector["in"]) == before


@pytest.mark.parametrize("name", sorted(RESPONSE_FORMATTERS))
def test_a_response_formatter_gives_what_dream_stores(
    name: str, recorded: dict[str, list[Any]]
) -> None:
    for vector in recorded.get(name, []):
        if vector["error"]:
            with pytest.raises(ValueError, match="expected"):
                RESPONSE_FORMATTERS[name](vector["in"])
        else:
            assert RESPONSE_FORMATTERS[name](vector["in"]) == vector["out"]


def test_every_recorded_formatter_is_built_in(recorded: dict[str, list[Any]]) -> None:
    assert recorded.keys() <= FORMATTERS.keys() | RESPONSE_FORMATTERS.keys()


def test_every_formatter_that_a_pipeline_names_is_built_in() -> None:
    for path in DREAM.glob("*.json"):
        assert named(json.loads(path.read_text())["services"]) <= (
            FORMATTERS.keys() | RESPONSE_FORMATTERS.keys()
        ), path.name


def named(part: Any) -> set[str]:
    if not isinstance(part, dict):
        return set()
    found = [part.get("dialog_formatter"), part.get("response_formatter")]
    names = [one["name"] if isinstance(one, dict) else one for one in found if one]
    return {name.partition(":")[2] for name in names}.union(*map(named, part.values()))
