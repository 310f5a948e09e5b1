from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from prolocutor.errors import ThingTalkError
from prolocutor.plugins.almond.thingtalk.parsing import parse, parse_classes, parse_tokens
from prolocutor.plugins.almond.thingtalk.printing import show, show_class, show_tokens
from prolocutor.plugins.almond.thingtalk.tree import Program
from tests.plugins.almond.unit.thingtalk.devices import CLASSES, LISTED, NEW, OLD
from tests.plugins.almond.unit.thingtalk.programs import controls, programs

pytest.importorskip("lark")

LONG = "more than the"
generated = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(programs)
@generated
def test_every_program_is_read_back_as_it_was_printed(program: Program) -> None:
    text = show(program)
    if len(text.encode()) > 8000:
        return

    assert parse(text) == program
    assert show(parse(text)) == text


@given(programs)
@generated
def test_every_program_in_tokens_is_read_back_as_it_was_printed(program: Program) -> None:
    code, entities = show_tokens(program)
    if sum(len(token) + 1 for token in code) > 8000:
        return

    assert parse_tokens(code, entities) == program


@given(controls)
@settings(max_examples=30, deadline=None)
def test_every_control_command_is_read_back_as_it_was_printed(control: Any) -> None:
    assert parse(show(control)) == control
    assert parse_tokens(*show_tokens(control)) == control


@pytest.mark.parametrize("source", LISTED)
def test_printing_a_printed_program_changes_nothing_in_either_syntax(source: str) -> None:
    printed = show(parse(source))

    assert show(parse(printed)) == printed
    assert parse(printed) == parse(source)


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        (NEW[11], "@security-camera.set_power(power=enum on);"),
        (OLD[1].replace("com.youtube", "a"), None),
        (OLD[3], "attimer(time=[new Time(12, 30)]);"),
        (OLD[5], "$choice(1);"),
        (
            "now => aggregate max x of (@a.b(), x >= 1) => notify;",
            "max(x of @a.b() filter x >= 1);",
        ),
        (
            "monitor @a.b() on new [x, y] => @c.d(z=$event);",
            "monitor(x, y of @a.b()) => @c.d(z=$result);",
        ),
        ("now => sort x asc of @a.b() => notify;", "sort(x asc of @a.b());"),
        ("[x] of (@a.b() filter x == 1);", "[x] of @a.b() filter x == 1;"),
        ("@a.b(t=makeDate(2020,,), u=makeCurrency(5,usd));", None),
        ('@a(id="i").b(x=5 km);', '@a(id="i"^^tt:device_id).b(x=5km);'),
        ("@a.b() filter !(x == 1) && (true || y == 2);", None),
    ],
)
def test_a_program_prints_in_the_new_syntax(source: str, printed: str | None) -> None:
    shown = show(parse(source))

    assert parse(shown) == parse(source)
    assert printed is None or shown == printed


def test_manifests_are_read_back_as_they_were_printed() -> None:
    classes = parse_classes(CLASSES)
    printed = "\n".join(map(show_class, classes))

    assert parse_classes(printed) == classes


def test_the_same_text_is_one_entity() -> None:
    code, entities = show_tokens(parse('@a.b(x="hi", y="hi", z="ho");'))

    assert entities == {"QUOTED_STRING_0": "hi", "QUOTED_STRING_1": "ho"}
    assert code[4:7] == ["QUOTED_STRING_0", ",", "y"]


def test_a_printed_program_beyond_the_limit_is_refused_when_read() -> None:
    with pytest.raises(ThingTalkError, match=LONG):
        parse(show(parse('@a.b(x="a");')).replace('"a"', '"' + "a" * 9000 + '"'))
