"""What programs can call of the demo's agents, as their manifests declare it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import prolocutor_demo
from prolocutor.config.loading import load
from prolocutor.plugins.almond.programs.device_classes import DeviceClasses
from prolocutor.plugins.almond.thingtalk.manifests import OURS
from prolocutor_demo import clock, countries, holidays, todo
from prolocutor_demo.clock.clock_functions import FUNCTIONS as CLOCK
from prolocutor_demo.countries.country_functions import FUNCTIONS as COUNTRIES
from prolocutor_demo.holidays.holiday_functions import FUNCTIONS as HOLIDAYS
from prolocutor_demo.todo.todo_functions import FUNCTIONS as TODO
from prolocutor_demo.todo.todo_items import MOST_ITEMS

FILE = Path(prolocutor_demo.__file__).parent / "assistant" / "assistant.yaml"
NOW = "2026-11-20 12:00:00.000000"
TABLES = {"clock": CLOCK, "countries": COUNTRIES, "holidays": HOLIDAYS, "todo": TODO}


def called(agent: Any, name: str, attributes: Any = None, **parameters: Any) -> Any:
    """Call a function of an agent for somebody in Berlin."""
    known = {"timezone": "Europe/Berlin", **(attributes or {})}
    return agent.answer(
        {
            "human": {"attributes": known},
            "human_utterances": [{"text": "", "date_time": NOW}],
            "function": {"name": name, "parameters": parameters},
        }
    )


def test_the_demos_manifests_declare_what_its_agents_do() -> None:
    manifests = DeviceClasses(load(FILE).pipeline.skills).manifests
    for name, functions in TABLES.items():
        declared = {each.name for each in manifests.functions(OURS + name)}
        assert declared == {"ask", *functions}


def test_a_country_has_facts() -> None:
    facts = called(countries, "facts", country="japan")
    assert facts["name"] == "Japan"
    assert facts["capital"] == "Tokyo"
    assert facts["continent"] == "Asia"
    assert facts["population"] > 100_000_000


def test_the_states_of_a_continent_are_listed() -> None:
    everywhere = {one["name"] for one in called(countries, "world")}
    europe = {one["name"] for one in called(countries, "world", continent="europe")}
    assert {"France", "Iceland"} <= europe < everywhere
    assert "Japan" in everywhere - europe


def test_the_holidays_that_come_are_listed_in_order() -> None:
    days = [one["day"] for one in called(holidays, "coming", country="Germany")]
    assert days[0] == "2026-12-25"
    assert days == sorted(days)
    assert all(re.fullmatch(r"202[67]-\d\d-\d\d", day) for day in days)


def test_the_clock_tells_the_time_here_and_elsewhere() -> None:
    here, there = called(clock, "current"), called(clock, "current", place="Tokyo")
    assert here["time"] == "13:00:00"
    assert here["zone"] == "Europe/Berlin"
    assert there["where"] == "Tokyo"
    assert there["time"] == "21:00:00"
    assert there["day"] == "2026-11-20"


def test_an_item_is_put_on_the_list_and_read_again() -> None:
    kept = called(todo, "add", item=" milk ")["human_attributes"]
    items = called(todo, "items", kept)
    assert items == [{"item": "milk", "list": "todo", "done": False, "due": None}]


def test_an_item_with_a_time_rings() -> None:
    reply = called(todo, "add", item="tea", due="2026-11-20T17:00:00")
    [line] = reply["schedule"]
    assert line["key"] == "1"
    assert line["at"] == "2026-11-20T17:00:00+01:00"


def test_a_full_list_takes_no_more() -> None:
    kept: dict[str, Any] = {}
    for number in range(MOST_ITEMS):
        kept = called(todo, "add", kept, item=f"item {number}")["human_attributes"]
    assert "which is the most" in called(todo, "add", kept, item="one more")["error"]


@pytest.mark.parametrize(
    ("agent", "name", "parameters"),
    [
        (countries, "facts", {"country": "Atlantis"}),
        (holidays, "coming", {"country": "Atlantis"}),
        (clock, "current", {"place": "Atlantis by the sea"}),
        (todo, "add", {"item": " "}),
        (clock, "nothing", {}),
    ],
)
def test_what_cannot_be_done_is_said(agent: Any, name: str, parameters: dict[str, Any]) -> None:
    assert list(called(agent, name, **parameters)) == ["error"]
