"""What a file says of its skills, inline or in a file of their own."""

import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.config.agent_cards import MAX_BYTES, add_prices, read_card
from prolocutor.contracts.pairing import Card
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline, Service, Stage

A2A = {
    "name": "Weather",
    "description": "Knows the weather.",
    "url": "https://weather.example",
    "skills": [
        {"id": "rain", "description": "Tells rain.", "examples": ["will it rain?"]},
        {"id": "snow", "description": "Tells snow."},
    ],
}


def test_a_card_has_what_pairing_knows_and_leaves_the_rest_to_others(tmp_path: Path) -> None:
    written = {"description": "Knows.", "price": 1, "manifest": "x.tt", "quota": None}

    assert read_card("a", written, tmp_path) == Card(name="a", description="Knows.", price=1.0)


def test_a_file_is_a_card_and_keys_beside_it_count_more(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("description: Old.\nexamples: [how]\nlatency: 2\n")

    card = read_card("a", {"file": "a.yaml", "description": "New."}, tmp_path)

    assert card == Card(name="a", description="New.", examples=["how"], latency=2.0)


def test_an_agent_card_of_a2a_tells_its_skills(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(A2A))

    assert read_card("a", {"file": "a.json"}, tmp_path) == Card(
        name="a",
        description="Knows the weather.\nTells rain.\nTells snow.",
        examples=["will it rain?"],
    )


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ({"price": "dear"}, "the card of 'a': Expected `float | null`"),
        ({"file": 7}, "expected the name of a file"),
        ({"file": "gone.yaml"}, "the card gone.yaml cannot be read: No such file"),
        ({"file": "list.yaml"}, "is not a map of at most 1 MB"),
        ({"file": "long.yaml"}, "is not a map of at most 1 MB"),
        ({"file": "bad.yaml"}, "the card bad.yaml cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, written: dict[str, Any], what: str) -> None:
    (tmp_path / "list.yaml").write_text("[1]")
    (tmp_path / "long.yaml").write_text(f"description: {'x' * MAX_BYTES}")
    (tmp_path / "bad.yaml").write_text("{")

    with pytest.raises(ConfigError, match=what.replace("|", r"\|")):
        read_card("a", written, tmp_path)


def test_prices_in_files_are_those_of_the_services(tmp_path: Path) -> None:
    (tmp_path / "dear.yaml").write_text("description: Dear.\nprice: 0.5")
    cards = [{"file": "dear.yaml"}, {"file": "dear.yaml", "price": 2.0}, {"price": 3.0}, None]
    skills = [Service(f"s{n}", print, card=card) for n, card in enumerate(cards)]

    priced = add_prices(Pipeline(skills=skills), tmp_path).services_at(Stage.SKILL)

    assert [one.card_members.get("price") for one in priced] == [0.5, 2.0, 3.0, None]
