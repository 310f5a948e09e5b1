"""Locations: coordinates, places by name, and places of the person."""

from typing import Any

import msgspec
import pytest

from prolocutor.asks import kinds
from prolocutor.asks.answers import NotUnderstood, Understood, UnknownPlace
from prolocutor.asks.kinds import take_value
from tests.unit.asks.contexts import BERLIN, KNOWN, hint, value

NOWHERE = {"latitude": None, "longitude": None}

UNDERSTOOD: dict[str, Any] = {
    "48.1, 11.5": {"latitude": 48.1, "longitude": 11.5, "display": "48.1, 11.5"},
    "48.1 S 11.5 W": {"latitude": -48.1, "longitude": -11.5, "display": "-48.1, -11.5"},
    "N 48.1 E 11.5": {"latitude": 48.1, "longitude": 11.5, "display": "48.1, 11.5"},
    "48,1 11,5": {"latitude": 48.1, "longitude": 11.5, "display": "48.1, 11.5"},
    "here": KNOWN.here,
    "near me": KNOWN.here,
    "Paris": {**NOWHERE, "display": "Paris"},
    "in New York, please": {**NOWHERE, "display": "New York"},
    "I live in São Paulo": {**NOWHERE, "display": "São Paulo"},
    "10 Downing Street": {**NOWHERE, "display": "10 Downing Street"},
    "北京": {**NOWHERE, "display": "北京"},
}
REFUSED = "what's the weather|91, 0|0, 181|play some jazz|why?|hi|stop|what about Texas|5 km"


@pytest.mark.parametrize(("text", "expected"), UNDERSTOOD.items())
def test_it_is_understood(text: str, expected: object) -> None:
    assert value("location", text, KNOWN) == expected


@pytest.mark.parametrize("text", REFUSED.split("|"))
def test_it_is_refused(text: str) -> None:
    assert value("location", text, KNOWN) is None


def test_home_is_the_persons_own_and_asked_for_where_it_is_unknown() -> None:
    place = {"latitude": 1.0, "longitude": 2.0, "display": "Elm Street"}
    at_home = msgspec.structs.replace(KNOWN, places={"home": place})
    sent = {"latitude": None, "longitude": None, "display": "home"}
    for outcome in (
        kinds.read("location", "at home", at_home),
        kinds.take_value("location", "location", sent, at_home),
    ):
        assert outcome == Understood(place)
    assert kinds.read("location", "home", KNOWN) == UnknownPlace("home")
    assert kinds.take_value("location", "location", sent, KNOWN) == UnknownPlace("home")


def test_where_a_person_is_has_to_be_known() -> None:
    assert "where you are" in hint("location", "here", BERLIN)


PARSED: list[tuple[str, Any, Any]] = [
    (
        "location",
        {"latitude": 1, "longitude": 2, "display": "x"},
        {"latitude": 1, "longitude": 2, "display": "x"},
    ),
    (
        "location",
        {"latitude": None, "longitude": None, "display": "Oslo"},
        {**NOWHERE, "display": "Oslo"},
    ),
    ("location", {"display": "here"}, KNOWN.here),
    ("raw_string", "Paris", {**NOWHERE, "display": "Paris"}),
]


@pytest.mark.parametrize(("of", "given_value", "expected"), PARSED)
def test_a_parsed_value_is_taken(of: str, given_value: object, expected: object) -> None:
    assert take_value("location", of, given_value, KNOWN) == Understood(expected)


@pytest.mark.parametrize("of", ["location", "number"])
@pytest.mark.parametrize("given_value", [None, 5, True, [], {}, {"latitude": 91, "longitude": 0}])
def test_other_parsed_values_are_refused(of: str, given_value: object) -> None:
    assert isinstance(take_value("location", of, given_value, KNOWN), NotUnderstood)
