"""What Almond clients send, read liberally."""

import json
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prolocutor.dialog.inputs import TurnInput
from prolocutor.errors import BadInput
from prolocutor.plugins.almond.door import commands
from prolocutor.plugins.almond.door.commands import MAX_BYTES, is_blank, read_frame
from prolocutor.plugins.almond.door.speakers import Speaker

ANN = Speaker("ann", "main", "main")
HELP = {"code": ["bookkeeping", "special", "special:help"], "entities": {}}
ECHO = '\\r {"code":["bookkeeping","special","special:help"],"entities":{}}'

read = partial(commands.read_command, speaker=ANN)
said = partial(commands.make_input, ANN)

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda one: st.lists(one) | st.dictionaries(st.text(), one), max_leaves=6
)
KEYS = ("text", "code", "tt", "json", "title", "entities", "slots", "slotTypes", "example_id")


def test_words_are_words() -> None:
    assert read({"type": "command", "text": " hi "}) == said(" hi ")


@pytest.mark.parametrize(
    "command",
    [
        {"json": HELP},
        {"json": json.dumps(HELP)},
        {"json": {"code": "bookkeeping special special:help", "entities": {}}},
        dict(HELP),
    ],
)
def test_a_parsed_command_may_be_written_in_several_ways(command: dict[str, Any]) -> None:
    assert read({"type": "parsed", **command}) == said(ECHO, parsed=HELP)


def test_a_title_is_the_echo() -> None:
    assert read({"type": "parsed", "title": "Help", "json": HELP}).text == "Help"


def test_all_parts_of_a_parsed_command_are_kept() -> None:
    parts = {"example_id": 7, "slots": ["size"], "slotTypes": {"size": "Number"}}

    assert read({"type": "parsed", "json": {**HELP, **parts}}).parsed == {**HELP, **parts}


def test_whatever_a_skill_put_into_its_button_comes_back() -> None:
    button = {"order": 5, "what": ["tea"]}

    assert read({"type": "parsed", "json": button}).parsed == button


def test_a_parsed_command_may_be_a_program() -> None:
    was = read({"type": "parsed", "json": {"program": "@a.b();"}})

    assert was == said('\\r {"program":"@a.b();"}', parsed={"program": "@a.b();"})


@pytest.mark.parametrize("keys", [{"code": "@a.b();"}, {"tt": "@a.b();"}])
def test_a_program_comes_as_code_or_as_in_the_descriptions_own_sample(keys: Any) -> None:
    assert read({"type": "tt", **keys}) == said("\\t @a.b();", program="@a.b();")


def test_code_is_read_before_tt() -> None:
    assert read({"type": "tt", "code": "a", "tt": "b"}).program == "a"


@pytest.mark.parametrize("place", [{}, {"platformData": None}])
def test_who_is_heard_is_an_attribute(place: Any) -> None:
    data = {"from": "phone:+1555", "contacts": [{"value": "a", "principal": "b", "display": "C"}]}
    given = {"platformData": data} if place else data

    was = read({"type": "command", "text": "hi", **given})

    assert was.attributes == {"platformData": data}


@pytest.mark.parametrize(
    ("command", "field"),
    [
        ({"type": "dance"}, "type"),
        ({}, "type"),
        ({"type": "command"}, "text"),
        ({"type": "command", "text": 5}, "text"),
        ({"type": "tt"}, "code"),
        ({"type": "parsed"}, "json"),
        ({"type": "parsed", "json": []}, "json"),
        ({"type": "parsed", "json": {"code": [[]]}}, "code"),
        ({"type": "parsed", "json": {**HELP, "entities": 1}}, "entities"),
        ({"type": "parsed", "json": {**HELP, "example_id": True}}, "example_id"),
        ({"type": "parsed", "json": {**HELP, "slots": [[]]}}, "slots"),
        ({"type": "parsed", "json": {**HELP, "slotTypes": []}}, "slotTypes"),
    ],
)
def test_an_unreadable_command_is_named(command: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(command)

    assert refused.value.field == field


def test_an_unknown_type_is_named() -> None:
    with pytest.raises(BadInput, match="'dance'; there are command, parsed, tt"):
        read({"type": "dance"})


@pytest.mark.parametrize("frame", ["{", "[]", "5", b"\xff", "x" * (MAX_BYTES + 1)])
def test_a_frame_is_one_json_object_within_bounds(frame: str | bytes) -> None:
    with pytest.raises(BadInput):
        read_frame(frame)


@pytest.mark.parametrize(
    ("input", "blank"),
    [
        (said(" \t\n"), True),
        (said("hi"), False),
        (said("", program="@a.b();"), False),
        (said("", parsed=HELP), False),
    ],
)
def test_an_input_without_words_or_program_is_blank(input: TurnInput, blank: bool) -> None:
    assert is_blank(input) is blank


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["command", "parsed", "tt"])},
        optional=dict.fromkeys(KEYS, VALUES),
    )
)
def test_whatever_comes_is_an_input_or_refused(command: dict[str, Any]) -> None:
    with suppress(BadInput):
        assert isinstance(read(command).text, str)
