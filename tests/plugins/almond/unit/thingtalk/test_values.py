import pytest

pytest.importorskip("lark")

from typing import Any

from prolocutor.asks.intents import Intent
from prolocutor.errors import BadInput, ThingTalkError
from prolocutor.plugins.almond.bookkeeping import intent_of_source
from prolocutor.plugins.almond.thingtalk import units
from prolocutor.plugins.almond.thingtalk.json_values import is_constant, plain, read_json_value
from prolocutor.plugins.almond.thingtalk.parsing import parse
from prolocutor.plugins.almond.thingtalk.types import NUMBER, STRING, Type, array, entity


def value_of(text: str) -> Any:
    tree: Any = parse(f"@a.b(x={text});")
    return tree.statements[0].chain[0].arguments[0].value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"hi"', "hi"),
        ("5", 5),
        ("-2.5", -2.5),
        ("true", True),
        ("enum(on)", "on"),
        ("1h", 3_600_000),
        ("5km", 5000),
        ("5$usd", {"value": 5, "code": "usd"}),
        ("new Time(7, 5)", "07:05:00"),
        ("new Date(2026, 5, 1)", "2026-05-01"),
        ("new Date(2026, 5, 1, new Time(7, 5))", "2026-05-01T07:05:00"),
        ('new Date("2026-05-31T12:00:00+02:00")', "2026-05-31T10:00:00Z"),
        ('new Location(1, 2, "L")', {"latitude": 1, "longitude": 2, "display": "L"}),
        ('"a"^^tt:url("A")', "a"),
        ('null^^tt:contact("Bob")', "Bob"),
        ('[1, "a"]', [1, "a"]),
        ('{a=1, b=["x"]}', {"a": 1, "b": ["x"]}),
    ],
)
def test_a_constant_is_json(text: str, expected: Any) -> None:
    assert plain(value_of(text)) == expected
    assert is_constant(value_of(text))


@pytest.mark.parametrize("text", ["$?", "$now", "$location.home", "title", "[$?]", "{a=title}"])
def test_a_value_that_depends_on_person_or_moment_is_no_constant(text: str) -> None:
    assert not is_constant(value_of(text))


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [(70, "F", 21.1), (0, "C", 0), (0, "K", -273.15), (1, "h", 3.6e6), (1, "mi", 1609.344)],
)
def test_a_measure_has_a_base_unit(value: float, unit: str, expected: float) -> None:
    assert units.to_base(value, unit) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    ("source", "intent"),
    [
        ("$yes;", Intent("yes")),
        ("bookkeeping(cancel);", Intent("nevermind")),
        ("$choice(1);", Intent("choice", 1, "choice")),
        ("bookkeeping(choice(0));", Intent("choice", 0, "choice")),
        ('bookkeeping(answer("x"));', Intent("answer", "x", "raw_string")),
        ("$answer(true);", Intent("answer", True, "yesno")),
        ("$answer(5);", Intent("answer", 5, "number")),
        ("$answer(70F);", Intent("answer", {"value": 70, "unit": "F"}, "generic")),
        ("$answer(5$usd);", Intent("answer", {"value": 5, "unit": "usd"}, "generic")),
        ("$answer(new Date(2026, 5, 1));", Intent("answer", "2026-05-01", "date")),
        ("$answer(new Time(7, 5));", Intent("answer", "07:05:00", "time")),
        ('$answer("+1"^^tt:phone_number);', Intent("answer", "+1", "phone_number")),
        ('$answer("a"^^tt:url);', Intent("answer", "a", "raw_string")),
        ("$answer(enum(on));", Intent("answer", "on", "raw_string")),
    ],
)
def test_a_control_command_is_an_intent(source: str, intent: Intent) -> None:
    assert intent_of_source(source) == intent


def test_an_answer_without_a_value_is_none() -> None:
    with pytest.raises(BadInput, match=r"expected a value, not '\$'"):
        intent_of_source("$answer($?);")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('"hi"', STRING),
        ("5", NUMBER),
        ("true", Type("Boolean")),
        ("enum(on)", Type("Enum", choices=("on", "off"))),
        ("5m", Type("Measure", of="m")),
        ("5$usd", Type("Currency")),
        ("new Date(2026, 5, 1)", Type("Date")),
        ("new Date(2026, 5, 1, new Time(7, 5))", Type("Date")),
        ('new Date("2026-05-31T10:00:00Z")', Type("Date")),
        ("new Time(7, 5)", Type("Time")),
        ('new Location(1, 2, "L")', Type("Location")),
        ('"a"^^tt:url', entity("tt:url")),
        ('["a", "b"]', array(STRING)),
    ],
)
def test_a_value_comes_back_from_json(text: str, kind: Type) -> None:
    assert read_json_value(plain(value_of(text)), kind) == value_of(text)


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        ({"value": 70, "unit": "F"}, Type("Measure", of="C"), "70F"),
        ({"value": 5, "unit": "USD"}, Type("Currency"), "5$usd"),
        ({"month": 5}, Type("Date"), "new Date(, 5, )"),
        (
            {"latitude": None, "longitude": None, "display": "Berlin"},
            Type("Location"),
            'new Location("Berlin")',
        ),
    ],
)
def test_an_answer_becomes_a_value(answer: Any, kind: Type, text: str) -> None:
    assert read_json_value(answer, kind) == value_of(text)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (5, STRING),
        (True, NUMBER),
        ("red", Type("Enum", choices=("on",))),
        ({"value": 5, "unit": "km"}, Type("Measure", of="C")),
        ("noon", Type("Time")),
        ("soon", Type("Date")),
        ({}, Type("Location")),
        (None, Type("Currency")),
        ([5], array(STRING)),
        ({"a": 1}, Type("Object")),
    ],
)
def test_a_value_of_another_type_is_refused(answer: Any, kind: Type) -> None:
    with pytest.raises(ThingTalkError):
        read_json_value(answer, kind)
