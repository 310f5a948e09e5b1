"""Phone numbers, e-mail addresses, contacts, locations and pictures."""

from typing import Any

import msgspec
import pytest

from prolocutor.asks import kinds
from prolocutor.asks.answers import Ambiguous, Contact, NotUnderstood, Understood, UnknownPlace
from prolocutor.asks.kinds import take_value
from prolocutor.dialog.rounds import Ask
from prolocutor.reading import libraries
from tests.unit.asks.contexts import BERLIN, hint, value

KNOWN = msgspec.structs.replace(
    BERLIN,
    contacts=[
        Contact("Ann Smith", "+4930123456"),
        Contact("Ann Jones", "ann@example.org"),
        Contact("Bob", "+4930999999"),
    ],
    here={"latitude": 52.5, "longitude": 13.4, "display": "Berlin"},
)
NOWHERE = {"latitude": None, "longitude": None}

UNDERSTOOD: dict[Ask, dict[str, Any]] = {
    "phone_number": {
        "+49 30 123456": "+4930123456",
        "+1 (415) 555-2671": "+14155552671",
        "0049 30 123456": "+4930123456",
        "030 123456": "+4930123456",
        "tel:+4930123456": "+4930123456",
        "my number is 030/123456": "+4930123456",
        "call me at +49 30 123456, please": "+4930123456",
        "plus four nine three zero one two three four five six": "+4930123456",
        "oh three oh double one two three four five": "+4930112345",
    },
    "email_address": {
        "ann@example.org": "ann@example.org",
        "Ann.B+x@Example.ORG.": "Ann.B+x@example.org",
        "ann at example dot org": "ann@example.org",
        "it's ann dot b at example dot co dot uk": "ann.b@example.co.uk",
        "ann underscore b at example dot org": "ann_b@example.org",
        "my email is ann@example.org": "ann@example.org",
        "Ann <ann@example.org>": "ann@example.org",
        "mailto:ann@example.org": "ann@example.org",
        "ann (at) example (dot) org": "ann@example.org",
    },
    "contact": {
        "Bob": "+4930999999",
        "to bob, please": "+4930999999",
        "ann smith": "+4930123456",
        "Jones": "ann@example.org",
        "Charlie Brown": "Charlie Brown",
        "May": "May",
        "Will, please": "Will",
        "my boss": "my boss",
        "dan@example.org": "dan@example.org",
        "+49 30 123456": "+4930123456",
    },
    "location": {
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
    },
    "picture": {
        "https://example.org/a.png": "https://example.org/a.png",
        " <http://example.org:8080/a?b=c#d> ": "http://example.org:8080/a?b=c#d",
        "/uploads/ab12.png": "/uploads/ab12.png",
    },
}
REFUSED: dict[Ask, str] = {
    "phone_number": "hello|12|110|+|1234567890123456789|ann@example.org|what's your number?|"
    "5 people",
    "email_address": "zoe|ann@|@example.org|meet me at home|at|a..b@c.org|.a@c.org|a b@c.org|a@b|"
    "what is it?|at dot at dot com",
    "contact": "what time is it|play jazz|set a timer|yes|hello|5|who|when|"
    "whoever you like to send it to",
    "location": "what's the weather|91, 0|0, 181|play some jazz|why?|hi|stop|what about Texas|5 km",
    "picture": "data:image/png;base64,AAAA|javascript:alert(1)|file:///etc/passwd|/etc/passwd|"
    "/uploads/../a.png|/uploads/|http://[|https://|//example.org/a|https://u:p@example.org/|cat|"
    'https://example.org/"onload="x|https://example.org/a b',
}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [(kind, text, said) for kind, table in UNDERSTOOD.items() for text, said in table.items()],
)
def test_it_is_understood(kind: Ask, text: str, expected: object) -> None:
    pytest.importorskip("phonenumbers")
    assert value(kind, text, KNOWN) == expected


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, table in REFUSED.items() for text in table.split("|")]
)
def test_it_is_refused(kind: Ask, text: str) -> None:
    assert value(kind, text, KNOWN) is None


def test_a_name_that_several_bear_leaves_a_choice() -> None:
    outcome = kinds.read("contact", "Ann", KNOWN)
    assert isinstance(outcome, Ambiguous)
    assert sorted(outcome.titles) == ["Ann Jones (ann@example.org)", "Ann Smith (+4930123456)"]
    assert sorted(outcome.values) == ["+4930123456", "ann@example.org"]


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ("phone_number", "Bob", "+4930999999"),
        ("phone_number", "Ann", "+4930123456"),
        ("email_address", "ann", "ann@example.org"),
    ],
)
def test_a_contact_answers_for_a_number_or_an_address(kind: Ask, said: str, expected: str) -> None:
    assert value(kind, said, KNOWN) == expected


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


def test_a_number_without_a_country_needs_a_region() -> None:
    pytest.importorskip("phonenumbers")
    assert "country code" in hint(
        "phone_number", "030 123456", msgspec.structs.replace(BERLIN, region=None)
    )


def test_without_the_extra_international_numbers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "phonenumbers", lambda: None)
    assert value("phone_number", "+49 30 123456") == "+4930123456"
    assert value("phone_number", "0049 (30) 123456") == "+4930123456"
    assert "pip install 'prolocutor[asks]'" in hint("phone_number", "030 123456")


PARSED: list[tuple[Ask, Ask, Any, Any]] = [
    ("phone_number", "phone_number", "+4930123456", "+4930123456"),
    ("phone_number", "raw_string", "+49 30 123456", "+4930123456"),
    ("email_address", "email_address", "ann@example.org", "ann@example.org"),
    ("email_address", "raw_string", "ann@example.org", "ann@example.org"),
    ("contact", "contact", "phone:+4930123456", "+4930123456"),
    ("contact", "contact", "email:ann@example.org", "ann@example.org"),
    ("contact", "phone_number", "+4930123456", "+4930123456"),
    ("picture", "picture", "https://example.org/a.png", "https://example.org/a.png"),
    (
        "location",
        "location",
        {"latitude": 1, "longitude": 2, "display": "x"},
        {"latitude": 1, "longitude": 2, "display": "x"},
    ),
    (
        "location",
        "location",
        {"latitude": None, "longitude": None, "display": "Oslo"},
        {**NOWHERE, "display": "Oslo"},
    ),
    ("location", "location", {"display": "here"}, KNOWN.here),
    ("location", "raw_string", "Paris", {**NOWHERE, "display": "Paris"}),
]


@pytest.mark.parametrize(("kind", "of", "given_value", "expected"), PARSED)
def test_a_parsed_value_is_taken(kind: Ask, of: str, given_value: object, expected: object) -> None:
    assert take_value(kind, of, given_value, KNOWN) == Understood(expected)


@pytest.mark.parametrize("kind", UNDERSTOOD)
@pytest.mark.parametrize("given_value", [None, 5, True, [], {}, {"latitude": 91, "longitude": 0}])
def test_other_parsed_values_are_refused(kind: Ask, given_value: object) -> None:
    for of in (kind, "number"):
        assert isinstance(take_value(kind, of, given_value, KNOWN), NotUnderstood)
