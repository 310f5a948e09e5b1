"""What steers a dialog, in the spellings of both generations."""

import json
from contextlib import suppress
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.asks.intents import ControlName, Intent, read_parsed
from prolocutor.errors import BadInput
from prolocutor.plugins.almond.bookkeeping import intent_of_source, intent_of_tokens, read_typed

ENTITIES: dict[str, Any] = {
    "QUOTED_STRING_0": "hello there",
    "NUMBER_0": 5,
    "DATE_0": {"year": 2026, "month": 12, "day": 24},
    "DATE_1": {"year": -1, "month": 12, "day": 24, "hour": 5},
    "DATE_2": "2026-12-24",
    "TIME_0": {"hour": 7, "minute": 5, "second": 0},
    "MEASURE_km_0": {"value": 5, "unit": "km"},
    "DURATION_0": {"value": 30, "unit": "min"},
    "CURRENCY_0": {"value": 20, "unit": "usd"},
    "LOCATION_0": {"latitude": 48.1, "longitude": 11.5, "display": "Munich"},
    "LOCATION_1": {"latitude": 48.1, "longitude": 11.5},
    "PHONE_NUMBER_0": "+4930123456",
    "EMAIL_ADDRESS_0": "ann@example.org",
    "PICTURE_0": "https://example.org/a.png",
    "HASHTAG_0": "cats",
    "URL_0": "https://example.org",
    "GENERIC_ENTITY_tt:contact_0": {"value": "phone:+4930123456", "display": "Ann"},
    "GENERIC_ENTITY_tt:iso_lang_code_0": {"value": None, "display": "German"},
}
HOME = {"latitude": None, "longitude": None, "display": "home"}
MUNICH = {"latitude": 48.1, "longitude": 11.5, "display": "Munich"}
ANSWERS: dict[str, tuple[Any, str]] = {
    '" hello there "': ("hello there", "raw_string"),
    '" "': ("", "raw_string"),
    "QUOTED_STRING_0": ("hello there", "raw_string"),
    "NUMBER_0": (5, "number"),
    "-3.5": (-3.5, "number"),
    "20 unit:C": ({"value": 20, "unit": "C"}, "generic"),
    "NUMBER_0 unit:km": ({"value": 5, "unit": "km"}, "generic"),
    "5km": ({"value": 5, "unit": "km"}, "generic"),
    "50$usd": ({"value": 50, "unit": "usd"}, "generic"),
    "MEASURE_km_0": ({"value": 5, "unit": "km"}, "generic"),
    "DURATION_0": ({"value": 30, "unit": "min"}, "generic"),
    "CURRENCY_0": ({"value": 20, "unit": "usd"}, "generic"),
    "true": (True, "yesno"),
    "DATE_0": ("2026-12-24", "date"),
    "DATE_1": ({"month": 12, "day": 24}, "date"),
    "DATE_2": ("2026-12-24", "date"),
    "$now": ({}, "date"),
    "new Date ( 2026 , 12 , 24 )": ("2026-12-24", "date"),
    "new Date ( )": ({}, "date"),
    'new Date ( " 2026-12-24 " )': ("2026-12-24", "date"),
    "TIME_0": ("07:05:00", "time"),
    "time:7:5:0": ("07:05:00", "time"),
    "new Time ( 7 , 5 )": ("07:05:00", "time"),
    "LOCATION_0": (MUNICH, "location"),
    "LOCATION_1": ({**MUNICH, "display": "48.1, 11.5"}, "location"),
    "location:home": (HOME, "location"),
    "location:current_location": ({**HOME, "display": "here"}, "location"),
    "$location . home": (HOME, "location"),
    "$context.location.home": (HOME, "location"),
    'new Location ( 48.1 , 11.5 , " Munich " )': (MUNICH, "location"),
    "PHONE_NUMBER_0": ("+4930123456", "phone_number"),
    "EMAIL_ADDRESS_0": ("ann@example.org", "email_address"),
    "PICTURE_0": ("https://example.org/a.png", "picture"),
    "HASHTAG_0": ("cats", "raw_string"),
    "URL_0": ("https://example.org", "raw_string"),
    "GENERIC_ENTITY_tt:contact_0": ("phone:+4930123456", "contact"),
    "GENERIC_ENTITY_tt:iso_lang_code_0": ("German", "raw_string"),
    '" bob " ^^tt:username': ("bob", "raw_string"),
    '" +4930123456 " ^^tt:phone_number': ("+4930123456", "phone_number"),
    'null ^^tt:contact ( " Ann " )': ("Ann", "contact"),
    "enum:on": ("on", "raw_string"),
    "enum ( on )": ("on", "raw_string"),
}


@pytest.mark.parametrize("name", [*get_args(ControlName), "cancel"])
def test_each_special_is_read_in_every_spelling(name: str) -> None:
    expected = Intent("nevermind" if name == "cancel" else name)  # type: ignore[arg-type]
    assert intent_of_tokens(["bookkeeping", "special", f"special:{name}"], {}) == expected
    assert intent_of_tokens([f"${name}", ";"], {}) == expected
    assert intent_of_tokens(["$" + name], {}) == expected
    assert intent_of_source(f"bookkeeping({name});") == expected
    assert intent_of_source(f" ${name};\n") == expected


@pytest.mark.parametrize(
    "code",
    [
        ["bookkeeping", "choice", "2"],
        ["bookkeeping", "choice", 2],
        ["bookkeeping", "choice", "NUMBER_0"],
        ["bookkeeping", "choice", '"', "2", '"'],
        ["$choice", "(", "2", ")", ";"],
        ["bookkeeping", "(", "choice", "(", "2", ")", ")", ";"],
    ],
)
def test_a_choice_is_its_place_in_the_row(code: list[Any]) -> None:
    assert intent_of_tokens(code, {"NUMBER_0": 2}) == Intent("choice", 2, "choice")


@pytest.mark.parametrize("written", ANSWERS)
def test_an_answer_has_a_value_and_a_kind(written: str) -> None:
    value, kind = ANSWERS[written]
    expected = Intent("answer", value, kind)  # type: ignore[arg-type]
    assert intent_of_tokens(["bookkeeping", "answer", *written.split()], ENTITIES) == expected
    assert intent_of_tokens(["$answer", "(", *written.split(), ")", ";"], ENTITIES) == expected


@pytest.mark.parametrize(
    ("written", "value", "kind"),
    [
        ('location: " seattle "', {**HOME, "display": "seattle"}, "location"),
        ('location: " new york "', {**HOME, "display": "new york"}, "location"),
        ("now", {}, "date"),
        ("start_of unit:week", {"edge": "start_of", "unit": "week"}, "date"),
        ("end_of unit:mon", {"edge": "end_of", "unit": "mon"}, "date"),
        ("$end_of ( week )", {"edge": "end_of", "unit": "week"}, "date"),
    ],
)
def test_tokens_of_both_generations_name_places_and_times(
    written: str, value: Any, kind: Any
) -> None:
    for code in (
        ["bookkeeping", "answer", *written.split()],
        ["$answer", "(", *written.split(), ")", ";"],
    ):
        assert intent_of_tokens(code, {}) == Intent("answer", value, kind)


@pytest.mark.parametrize("written", ["end_of unit:parsec", "location:", 'location: " "'])
def test_an_unknown_span_or_a_place_without_a_name_is_refused(written: str) -> None:
    with pytest.raises(BadInput):
        intent_of_tokens(["bookkeeping", "answer", *written.split()], {})


@pytest.mark.parametrize(
    ("source", "intent"),
    [
        ('$answer("hello");', Intent("answer", "hello", "raw_string")),
        (r'$answer("say \"hi\"");', Intent("answer", 'say "hi"', "raw_string")),
        ("bookkeeping(choice(1));", Intent("choice", 1, "choice")),
        ("$choice(1);", Intent("choice", 1, "choice")),
        ('bookkeeping(answer("x y"));', Intent("answer", "x y", "raw_string")),
        ("bookkeeping(answer(makeTime(12, 30)));", Intent("answer", "12:30:00", "time")),
        ("$answer(new Date(2026, 12, 24));", Intent("answer", "2026-12-24", "date")),
        ("$answer(70.5F);", Intent("answer", {"value": 70.5, "unit": "F"}, "generic")),
        ('$answer("a@b.co"^^tt:email_address);', Intent("answer", "a@b.co", "email_address")),
        ("$answer($location.home);", Intent("answer", HOME, "location")),
        ("$answer(enum(on));", Intent("answer", "on", "raw_string")),
    ],
)
def test_source_is_read_as_tokens_are(source: str, intent: Intent) -> None:
    assert intent_of_source(source) == intent


def test_a_category_a_list_of_commands_and_a_filter_are_told_apart() -> None:
    assert intent_of_tokens(["bookkeeping", "category", "media"], {}) == Intent("category", "media")
    assert intent_of_tokens(["bookkeeping", "commands", "media", "device:com.xkcd"], {}) == Intent(
        "commands", {"category": "media", "device": "com.xkcd"}
    )
    assert intent_of_tokens(
        ["bookkeeping", "filter", "not", "param:number:Number", ">=", "5"], {}
    ) == Intent(
        "filter",
        {"param": "number", "type": "Number", "op": ">=", "value": 5, "negated": True},
        "number",
    )


@pytest.mark.parametrize(
    "code", [[], ["now", "=>", "@a.b", "=>", "notify"], ["@a.b", "(", ")", ";"], ["$dialogue"], [1]]
)
def test_other_tokens_are_a_program(code: list[Any]) -> None:
    assert intent_of_tokens(code, {}) is None


@pytest.mark.parametrize(
    "source", ["now => @a.b();", "@a.b();", "", "bookkeepings", "$dialogue @a;"]
)
def test_other_source_is_a_program(source: str) -> None:
    assert intent_of_source(source) is None


@pytest.mark.parametrize(
    ("code", "named"),
    [
        (["bookkeeping"], "ends"),
        (["bookkeeping", "nonsense"], "nonsense"),
        (["bookkeeping", "special"], "ends"),
        (["bookkeeping", "special", "special:nonsense"], "nonsense"),
        (["bookkeeping", "special", 5], "5"),
        (["bookkeeping", []], "[]"),
        (["bookkeeping", "special", "special:yes", "more"], "more"),
        (["bookkeeping", "choice"], "ends"),
        (["bookkeeping", "choice", "first"], "first"),
        (["bookkeeping", "choice", "1.5"], "1.5"),
        (["bookkeeping", "choice", "NUMBER_7"], "NUMBER_7"),
        (["bookkeeping", "answer", '"', "no", "end"], "quote"),
        (["bookkeeping", "answer", "QUOTED_STRING_9"], "QUOTED_STRING_9"),
        (["bookkeeping", "answer", "DATE_9"], "DATE_9"),
        (["bookkeeping", "answer", "Paris"], "Paris"),
        (["bookkeeping", "answer", "time:25:0:0"], "time:25:0:0"),
        (["bookkeeping", "answer", "1e999"], "1e999"),
        (["bookkeeping", "answer", []], "[]"),
        (["$answer", "(", "5", ";"], ";"),
        (["$choice", "(", "1", ")", ";", "@a.b"], "@a.b"),
        (["bookkeeping", "answer", "new", "House"], "House"),
        (["bookkeeping", "answer", "new", []], "[]"),
        (["bookkeeping", "answer", "new", "Date", "(", "2026", ",", "13", ",", "1", ")"], "date"),
        (["bookkeeping", "answer", *["new", "Time", "("] * 600], "nested"),
        (["bookkeeping", "commands", "media"], "ends"),
        (["bookkeeping", "filter", "param:x:Number", "=="], "ends"),
    ],
)
def test_a_malformed_code_is_refused_by_naming_the_token(code: list[Any], named: str) -> None:
    with pytest.raises(BadInput) as refused:
        intent_of_tokens(code, {"DATE_9": {"year": 2026, "month": 13, "day": 1}})
    assert named in str(refused.value)
    assert refused.value.field in {"code", "entities"}


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        ("NUMBER_0", "five"),
        ("QUOTED_STRING_0", 5),
        ("TIME_0", "noon"),
        ("MEASURE_km_0", 5),
        ("MEASURE_km_0", {"value": "5"}),
        ("LOCATION_0", {"latitude": 91, "longitude": 0}),
        ("DATE_0", [2026]),
        ("DATE_0", {"year": [], "month": 1, "day": 1}),
        ("DATE_0", {"year": 2026, "month": 13, "day": 1}),
        ("GENERIC_ENTITY_tt:contact_0", "Ann"),
        ("SLOT_0", "x"),
    ],
)
def test_an_entity_of_another_type_is_refused_by_its_name(name: str, entity: Any) -> None:
    with pytest.raises(BadInput, match=name) as refused:
        intent_of_tokens(["bookkeeping", "answer", name], {name: entity})
    assert refused.value.field == "entities"


YES = {"code": ["bookkeeping", "special", "special:yes"], "entities": {}}


@pytest.mark.parametrize(
    "given_command",
    [
        YES,
        json.dumps(YES),
        json.dumps(json.dumps(YES)),
        {"code": YES["code"]},
        {"code": "bookkeeping special special:yes"},
        {"type": "parsed", "json": YES},
        {"type": "parsed", "json": json.dumps(YES)},
        {"type": "parsed", **YES},
        {"type": "button", "title": "Yes", "json": json.dumps(YES)},
    ],
)
def test_a_parsed_command_comes_in_many_wrappings(given_command: Any) -> None:
    read = read_parsed(given_command)
    assert read["code"] == YES["code"]
    assert read["entities"] == {}


@pytest.mark.parametrize(
    "given_command",
    [
        {"program": "@a.b();"},
        '{"program": "@a.b();"}',
        {"type": "parsed", "json": {"program": "@a.b();"}},
        {"type": "tt", "code": "@a.b();"},
        {"type": "tt", "tt": "@a.b();"},
        {"type": "tt", "tt": "@c.d();", "code": "@a.b();"},
    ],
)
def test_a_program_comes_in_many_wrappings(given_command: Any) -> None:
    assert read_parsed(given_command)["program"] == "@a.b();"


def test_additional_fields_are_kept() -> None:
    given_command = {**YES, "example_id": 5, "slots": ["x"], "slotTypes": {"x": "Number"}}
    assert read_parsed(given_command) == given_command


@pytest.mark.parametrize(
    "given_command",
    [
        None,
        5,
        [],
        {},
        "{",
        "words",
        "[" * 100_000,
        {"code": []},
        {"code": 5},
        {"code": [None]},
        {"code": [["nested"]]},
        {"code": ["$yes"], "entities": []},
        {"program": 5},
        {"type": "tt"},
        {"type": "tt", "code": "  "},
        {"json": 5},
        {"code": ["x"] * 100_000},
    ],
)
def test_an_invalid_parsed_command_is_refused(given_command: Any) -> None:
    with pytest.raises(BadInput) as refused:
        read_parsed(given_command)
    assert refused.value.field in {"json", "code", "entities"}


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (
            r"\r bookkeeping special special:help",
            {"code": ["bookkeeping", "special", "special:help"], "entities": {}},
        ),
        (r'\r {"code": ["$yes", ";"]}', {"code": ["$yes", ";"], "entities": {}}),
        (
            r'\r bookkeeping answer "hello there"',
            {"code": ["bookkeeping", "answer", '"', "hello", "there", '"'], "entities": {}},
        ),
        (
            r'\r bookkeeping answer " hello there "',
            {"code": ["bookkeeping", "answer", '"', "hello", "there", '"'], "entities": {}},
        ),
        (r"\t @a.b();", {"program": "@a.b();"}),
    ],
)
def test_text_with_a_prefix_is_no_words(text: str, parsed: dict[str, Any]) -> None:
    assert read_typed(text) == parsed


@pytest.mark.parametrize("text", ["hello", "", r"\r", r"\t", r"\rx", r"say \r now", "\r x", "\t x"])
def test_other_text_is_words(text: str) -> None:
    assert read_typed(text) is None


@pytest.mark.parametrize("text", [r"\r {bad", "\\r  ", "\\t  "])
def test_a_prefix_with_nothing_readable_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_typed(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "unit", "year", "month", "hour", "latitude", "code", "json"]),
            inner,
        )
    ),
    max_leaves=6,
)
TOKENS = st.sampled_from(
    "bookkeeping special special:yes choice answer filter commands category ( ) ; , . new Date Time"
    ' Location enum null ^^tt:contact unit:C $answer $choice $yes $now $location " 5 -1 x not'
    " param:a:Number == QUOTED_STRING_0 NUMBER_0 DATE_0 TIME_0 LOCATION_0 MEASURE_C_0"
    " GENERIC_ENTITY_tt:contact_0".split(" ")
)
STARTS = st.sampled_from([["bookkeeping", "answer"], ["$answer", "("], ["bookkeeping"], []])


@given(STARTS, st.lists(TOKENS | JSON, max_size=9), st.dictionaries(TOKENS, JSON, max_size=4))
def test_any_code_is_an_intent_a_program_or_a_refusal(
    start: list[str], rest: list[Any], entities: dict[str, Any]
) -> None:
    with suppress(BadInput):
        intent = intent_of_tokens([*start, *rest], entities)
        assert intent is None or isinstance(intent, Intent)


@given(JSON | st.text())
def test_anything_is_a_parsed_command_or_a_refusal(given_command: Any) -> None:
    with suppress(BadInput):
        assert {"code", "program"} & set(read_parsed(given_command))


@given(st.text(st.characters(blacklist_characters='"', codec="utf-8"), max_size=30))
def test_a_text_comes_back_out_of_its_tokens_and_its_source(text: str) -> None:
    words = text.split()
    said = intent_of_tokens(["bookkeeping", "answer", '"', *words, '"'], {})
    assert said == Intent("answer", " ".join(words), "raw_string")
    source = f"$answer({json.dumps(text)});"
    assert intent_of_source(source) == Intent("answer", text, "raw_string")
