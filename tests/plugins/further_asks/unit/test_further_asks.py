"""Phone numbers, e-mail addresses, contacts, pictures, any typed value."""

from typing import Any

import msgspec
import pytest

from prolocutor.asks import kinds
from prolocutor.asks.answers import Ambiguous, NotUnderstood, Understood
from prolocutor.asks.kinds import take_value
from prolocutor.dialog.rounds import Ask
from prolocutor.reading import libraries
from tests.unit.asks.contexts import BERLIN, KNOWN, hint, value

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
]


@pytest.mark.parametrize(("kind", "of", "given_value", "expected"), PARSED)
def test_a_parsed_value_is_taken(kind: Ask, of: str, given_value: object, expected: object) -> None:
    assert take_value(kind, of, given_value, KNOWN) == Understood(expected)


@pytest.mark.parametrize("kind", UNDERSTOOD)
@pytest.mark.parametrize("given_value", [None, 5, True, [], {}, {"latitude": 91, "longitude": 0}])
def test_other_parsed_values_are_refused(kind: Ask, given_value: object) -> None:
    for of in (kind, "number"):
        assert isinstance(take_value(kind, of, given_value, KNOWN), NotUnderstood)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 km", {"value": 5, "unit": "km"}),
        ("5km", {"value": 5, "unit": "km"}),
        ("30 minutes", {"value": 30, "unit": "min"}),
        ("half an hour", {"value": 0.5, "unit": "h"}),
        ("two and a half hours", {"value": 2.5, "unit": "h"}),
        ("-5 °C", {"value": -5, "unit": "C"}),
        ("five degrees celsius", {"value": 5, "unit": "C"}),
        ("100 km/h", {"value": 100, "unit": "kmph"}),
        ("$20", {"value": 20, "unit": "usd"}),
        ("20 euros", {"value": 20, "unit": "eur"}),
        ("a kilo", {"value": 1, "unit": "kg"}),
        ("5", 5),
        ("yes", True),
        ("tomorrow", "2026-11-21"),
        ("half past seven", "07:30:00"),
        ("ann@example.org", "ann@example.org"),
        ("+49 30 123456", "+4930123456"),
        ("https://example.org/a.png", "https://example.org/a.png"),
        ("48.1, 11.5", {"latitude": 48.1, "longitude": 11.5, "display": "48.1, 11.5"}),
        ('"any words"', "any words"),
    ],
)
def test_a_generic_ask_takes_any_typed_value(text: str, expected: object) -> None:
    assert value("generic", text) == expected


@pytest.mark.parametrize("text", ["hello there", "red", "what about Texas?", "a", "5 5", "km"])
def test_a_generic_ask_takes_no_untyped_words(text: str) -> None:
    assert value("generic", text) is None


def test_any_parsed_value_answers_a_generic_ask() -> None:
    measure = {"value": 5, "unit": "km"}
    assert take_value("generic", "generic", measure, BERLIN) == Understood(measure)
