import logging
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lark")

import lark

from prolocutor.errors import MissingExtra, ThingTalkError
from prolocutor.plugins.almond.thingtalk import parsing
from prolocutor.plugins.almond.thingtalk.building import ProgramBuilder
from prolocutor.plugins.almond.thingtalk.grammars import Grammar
from prolocutor.plugins.almond.thingtalk.nodes import MAX_STATEMENTS
from prolocutor.plugins.almond.thingtalk.old_building import OldProgramBuilder
from prolocutor.plugins.almond.thingtalk.parsing import parse, parse_classes, parse_tokens
from prolocutor.plugins.almond.thingtalk.tree import Control, Filter, Monitor, Program, Source
from prolocutor.plugins.almond.thingtalk.values import (
    DateValue,
    EntityValue,
    Instant,
    Now,
    NumberValue,
    UndefinedValue,
    WeekDay,
)
from tests.plugins.almond.unit.thingtalk.devices import CLASSES, LISTED, REFUSED

GRAMMARS = Path(parsing.__file__).parent


def program(source: str) -> Program:
    tree = parse(source)
    assert isinstance(tree, Program)
    return tree


def refusal(source: str) -> ThingTalkError:
    with pytest.raises(ThingTalkError) as refused:
        parse(source)
    return refused.value


def value_of(text: str) -> Any:
    call: Any = program(f"@a.b(x={text});").statements[0].chain[0]
    return call.arguments[0].value


@pytest.mark.parametrize("source", LISTED)
def test_every_listed_program_is_read(source: str) -> None:
    assert isinstance(parse(source), Program | Control)


@pytest.mark.parametrize("source", REFUSED)
def test_an_unsupported_construct_is_refused_by_its_name_and_place(source: str) -> None:
    name, column = REFUSED[source]

    error = refusal(source)

    assert name in error.what
    assert error.line == 1
    assert error.column == column
    assert error.do


@pytest.mark.parametrize(
    ("source", "line", "column", "what"),
    [
        ('now =>"lol");', 1, 7, '"lol" is not expected'),
        ("@a.b()", 1, 7, "ends too early"),
        ("@a.b();\n  @c.d(x=);", 2, 10, "')' is not expected"),
        ('@a.b(x="abc);', 1, 8, "the string has no end"),
        ("@a.b(x=5parsec);", 1, 9, "parsec is not a unit"),
        ("@a.b(x=new Date(2026, 2, 30));", 1, 8, "no such date"),
        ("@a.b(x=new Time(25, 0));", 1, 8, "25 is no hour"),
        ("@a.b(x=new Location(91, 0));", 1, 8, "not on earth"),
        ("@a.b(x=1, x=2);", 1, 11, "given twice"),
        ("@a.b(x=1 + 2);", 1, 10, "arithmetic"),
        ("@a.b(x=1e999);", 1, 8, "too large"),
        (f"@a.b(x={'1' * 1001});", 1, 8, "too long a number"),
        ("@a.b() /* never", 1, 8, "the comment has no end"),
        ("@a.b(x=$context.y);", 1, 17, "lacks its type"),
        ("macro();", 1, 1, "no function macro"),
        ("bookkeeping(dance);", 1, 13, "no control command dance"),
        ("$choice(1.5);", 1, 9, "a choice is a whole number"),
        ("@a(color=1).b();", 1, 4, "not chosen by color"),
        ("", 1, 1, "empty"),
        ("// nothing", 1, 1, "empty"),
        ("monitor(@a.b() => @c.d());", 1, 16, "a chain within an expression"),
        ("@a.b() filter count(x) >= 1;", 1, 15, "a computation (count(...))"),
        ("[x >= 1] of @a.b();", 1, 4, "a computed projection"),
        ("@a.b() as c;", 1, 8, "an alias"),
        ("@a.b(x=area(1));", 1, 8, "a function of values"),
        ('#[name="x"] @a.b();', 1, 1, "an annotation of a program"),
        ("@a.b() join @c.d();", 1, 8, "a join"),
        ("@a.b(), @c.d() { x == 1 };", 1, 9, "a subquery"),
        ("class @a.b { query c(in req x : Strong); }", 1, 33, "Strong is not a type"),
    ],
)
def test_an_error_has_its_reason_and_place(source: str, line: int, column: int, what: str) -> None:
    error = refusal(source)

    assert what in str(error)
    assert error.line == line
    assert error.column == column


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("monitor(@a.b());", "monitor @a.b() => notify;"),
        ("monitor(@a.b()) filter x == 1;", "monitor @a.b(), x == 1 => notify;"),
        ("monitor(@a.b() filter x == 1);", "monitor (@a.b(), x == 1) => notify;"),
        ("count(@a.b());", "now => aggregate count of @a.b() => notify;"),
        ("count(@a.b()) filter count >= 1;", "now => aggregate count of @a.b(), count >= 1;"),
        ("sort(x desc of @a.b())[1];", "now => (sort x desc of @a.b())[1] => notify;"),
        ("@a.b(x=new Time(1, 2), y=$now);", "{ now => @a.b(x=makeTime(1,2), y=makeDate()); }"),
        ("@a.b(x=$location.home);", "now => @a.b(x=$context.location.home);"),
        ("@a.b(x=$start_of(day));", "now => @a.b(x=start_of(day));"),
        ("@a.b(x=$?);", "now => @a.b(x=$undefined);"),
        ('@a.b() filter "x" == y;', 'now => @a.b(), ("x") == y => notify;'),
        ("@a.b() filter x == 1;", "now => @a.b(), ((x) == 1) => notify;"),
        ("@a.b() => @c.d();", "now => @a.b() => @c.d();"),
    ],
)
def test_both_syntaxes_make_the_same_tree(new: str, old: str) -> None:
    assert parse(new) == parse(old)


def test_a_filter_within_a_monitor_is_not_one_on_its_events() -> None:
    within = program("monitor(@a.b() filter x == 1);").statements[0].chain[0]
    on_events = program("monitor(@a.b()) filter x == 1;").statements[0].chain[0]

    assert isinstance(within, Monitor)
    assert isinstance(on_events, Filter)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("new Date()", Now()),
        ("new Date(2026, 5, 31)", DateValue(2026, 5, 31)),
        ("new Date(99, 1, 1)", DateValue(1999, 1, 1)),
        ("new Date(, 5, )", DateValue(None, 5, None)),
        ('new Date("2026-05-31")', DateValue(2026, 5, 31)),
        ("new Date(enum(monday))", WeekDay("monday")),
        ("makeDate(monday)", WeekDay("monday")),
        ("-0x10", NumberValue(-16)),
        ("'it\\'s \\u00e4'", None),
        ('"a"^^tt:url("A")', EntityValue("a", "tt:url", "A")),
        ("@com.xkcd", EntityValue("com.xkcd", "tt:device")),
    ],
)
def test_a_value_is_read(text: str, value: Any) -> None:
    read = value_of(text)

    assert read == value or (value is None and read.value == "it's ä")


def test_a_moment_with_an_offset_is_the_same_everywhere() -> None:
    first, second = (
        value_of('new Date("2026-05-31T12:00:00+02:00")'),
        value_of("new Date(1780221600000)"),
    )

    assert isinstance(first, Instant)
    assert first == second


OLD_CODE = "now => @com.xkcd.get_comic param:number:Number = NUMBER_0 => notify"


@pytest.mark.parametrize(
    ("code", "entities", "source"),
    [
        (OLD_CODE, {"NUMBER_0": 1234}, "@com.xkcd.get_comic(number=1234);"),
        ("@a . b ( x = NUMBER_0 F ) ;", {"NUMBER_0": 70}, "@a.b(x=70F);"),
        ("@a . b ( x = SLOT_0 ) ;", {}, "@a.b(x=$?);"),
        ("@a . b ( x = SLOT_0 ) ;", {"SLOT_0": "hi"}, '@a.b(x="hi");'),
        ('now => @a.b param:x:String = " hello world "', {}, '@a.b(x="hello world");'),
        (
            "monitor ( ( @t.t ) filter param:v:Measure(C) >= NUMBER_0 unit:F ) => notify",
            {"NUMBER_0": 70},
            "monitor(@t.t() filter v >= 70F);",
        ),
        (
            "now => ( @a.b ) join ( @c.d ) on param:x:Number = param:y:Number => notify",
            {},
            "@a.b() => @c.d(x=y);",
        ),
        (
            (
                "now => ( @a.b ) filter param:x:Number == 1 or param:y:Number == 2 and not "
                "param:z:String =~ USERNAME_0 => @c.d attribute:id:String = QUOTED_STRING_0 on "
                "param:s:String = event"
            ),
            {"USERNAME_0": "bob", "QUOTED_STRING_0": "d-1"},
            (
                '@a.b() filter (x == 1 || y == 2) && !(z =~ "bob"^^tt:username) '
                '=> @c(id="d-1").d(s=$result);'
            ),
        ),
        (
            "attimer time = [ TIME_0 , time:12:0:0 ] => @a.b param:d:Date = DATE_0",
            {"TIME_0": {"hour": 9, "minute": 30}, "DATE_0": {"year": 2026, "month": 5, "day": 1}},
            "attimer(time=[new Time(9, 30), new Time(12, 0)]) => @a.b(d=new Date(2026, 5, 1));",
        ),
        (
            "now => @a.b param:l:Location = LOCATION_0 param:k:X = GENERIC_ENTITY_com.a:b_0",
            {
                "LOCATION_0": {"latitude": 1, "longitude": 2, "display": "L"},
                "GENERIC_ENTITY_com.a:b_0": {"value": None, "display": "K"},
            },
            '@a.b(l=new Location(1, 2, "L"), k=null^^com.a:b("K"));',
        ),
        (
            "now => @a.b param:p:Currency = CURRENCY_0 param:m:Measure(ms) = DURATION_0",
            {"CURRENCY_0": {"value": 5, "unit": "USD"}, "DURATION_0": {"value": 2, "unit": "h"}},
            "@a.b(p=5$usd, m=2h);",
        ),
    ],
)
def test_tokens_of_both_generations_are_read(
    code: str, entities: dict[str, Any], source: str
) -> None:
    assert parse_tokens(code.split(" "), entities) == parse(source)


@pytest.mark.parametrize(
    ("code", "entities", "what"),
    [
        (OLD_CODE, {}, "NUMBER_0 has no value"),
        (OLD_CODE, {"NUMBER_0": "x"}, "NUMBER_0 is not of its kind"),
        ("now => @a.b param:d:Date = DATE_0", {"DATE_0": {"month": 13}}, "no such date"),
        ("@a . b ( x = LOCATION_0 ) ;", {"LOCATION_0": {}}, "not of its kind"),
        ('@a . b ( x = " no end ) ;', {}, "the string has no end"),
        ("policy true : now => @a.b", {}, "a permission rule"),
        ("now => ( @a.b ) filter @c.d { param:x:X == 1 } => notify", {}, "a subquery"),
        ("now => @ab", {}, "names no function"),
        ("", {}, "empty"),
    ],
)
def test_wrong_tokens_are_refused(code: str, entities: dict[str, Any], what: str) -> None:
    with pytest.raises(ThingTalkError, match="line 1, column") as refused:
        parse_tokens(code.split(" "), entities)

    assert what in str(refused.value)


def test_tokens_that_are_no_texts_are_refused() -> None:
    odd: list[Any] = [None, {"a": 1}]
    with pytest.raises(ThingTalkError, match="a token is a string"):
        parse_tokens(odd)
    with pytest.raises(ThingTalkError, match="not JSON"):
        parse_tokens(["$yes", ";"], {"a": object()})


def test_a_slot_has_the_place_at_which_it_is_written() -> None:
    value = value_of("$?")

    assert isinstance(value, UndefinedValue)
    assert value.position.line == 1
    assert value.position.column == 8


@pytest.mark.parametrize(
    "source",
    [
        "@a.b(x=" + "[" * 3000 + "]" * 3000 + ");",
        "@a.b()" + " filter x == 1" * 500 + ";",
        "[x] of " * 900 + "@a.b();",
        "@a.b() filter " + "!(" * 2000 + "true" + ")" * 2000 + ";",
        "monitor " * 900 + "@a.b();",
        "@a.b();" * (MAX_STATEMENTS + 1),
        "@a.b(x=" + "1" * 9000 + ");",
        "@a.b(x=0x" + "f" * 8000 + ");",
        "=> " * 2000,
        '"' * 8001,
        "/*" * 4000,
        "@a." * 2500,
        "x~" * 4000,
    ],
    ids=lambda source: source[:12],
)
def test_a_program_too_large_or_too_deep_is_refused_soon(source: str) -> None:
    began = time.process_time()

    error = refusal(source)

    assert error.line >= 1
    assert error.column >= 1
    assert time.process_time() - began < 8


@pytest.mark.parametrize(
    "source",
    [
        "@a.b() filter " + " && ".join(["x == 1"] * 780) + ";",
        "(" * 3000 + "@a.b()" + ")" * 3000 + ";",
        "@a.b(x=[" + "1," * 4000 + "1]);",
    ],
    ids=["conditions", "parentheses", "list"],
)
def test_the_largest_program_is_read_soon(source: str) -> None:
    began = time.process_time()

    parse(source)

    assert time.process_time() - began < 8


def mutants(count: int) -> list[str]:
    chance = random.Random(7)
    alphabet = ' ()[]{}@.,;=>"\\$~!&|^:#_-09azé\n\ud800\u2028\x00'
    found = []
    for _ in range(count):
        text = chance.choice([*LISTED, *REFUSED, CLASSES[:900]])
        for _ in range(chance.randint(1, 4)):
            at, size = chance.randrange(len(text)), chance.choice([0, 1, 1, 5])
            put = chance.choice(["", chance.choice(alphabet), chance.choice(LISTED)[:7]])
            text = text[:at] + put + text[at + size :]
        found.append(text)
    return found


def test_every_mutant_is_read_or_refused_with_its_place() -> None:
    outcomes = [outcome(mutant) for mutant in mutants(400)]

    refused = [each for each in outcomes if isinstance(each, ThingTalkError)]
    assert len(refused) > 200
    assert [str(each) for each in refused if each.line < 1 or each.column < 1] == []


def outcome(source: str) -> Source | ThingTalkError:
    try:
        return parse(source)
    except ThingTalkError as error:
        return error


def test_mutants_of_tokens_are_read_or_refused_with_their_place() -> None:
    chance = random.Random(3)
    entities = {"NUMBER_0": 1, "QUOTED_STRING_0": "x", "TIME_0": {"hour": 1}, "DATE_0": [1]}
    pool = [*OLD_CODE.split(), *'@a . b ( x = TIME_0 DATE_0 ) ; " unit:C enum:x ^^ $ :'.split()]
    refused = []
    for _ in range(200):
        code = OLD_CODE.split()
        for _ in range(chance.randint(1, 3)):
            code[chance.randrange(len(code))] = chance.choice(pool)
        try:
            parse_tokens(code, entities)
        except ThingTalkError as error:
            refused.append(error)

    assert len(refused) > 100
    assert [str(each) for each in refused if each.line != 1 or each.column < 1] == []


def test_no_text_means_two_things(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger=lark.logger.name)
    for file in ("grammar.lark", "old_tokens.lark"):
        text = (GRAMMARS / file).read_text("utf-8")
        lark.Lark(text, parser="lalr", start="source", lexer=_NoLexer, debug=True)

    assert [each.message for each in caplog.records if "conflict" in each.message] == []


class _NoLexer(lark.lexer.Lexer):
    def __init__(self, lexer_conf: object) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: object = None) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("file", "builder"),
    [("grammar.lark", ProgramBuilder()), ("old_tokens.lark", OldProgramBuilder())],
)
def test_every_rule_is_built(file: str, builder: ProgramBuilder) -> None:
    rules = Grammar(file, builder).lark.rules
    named = {str(rule.alias or rule.origin.name) for rule in rules if not rule.options.expand1}
    aliases = {str(rule.alias) for rule in rules if rule.alias}
    wanted = {name for name in named | aliases if not name.startswith("_")}

    assert {name for name in wanted if not hasattr(builder, name)} <= {"source"}


def test_manifests_hold_classes_only() -> None:
    with pytest.raises(ThingTalkError, match="this is not a manifest"):
        parse_classes("@a.b();")
    with pytest.raises(ThingTalkError, match="this is not a manifest"):
        parse_classes("$yes;")


def test_the_grammars_are_loaded_when_first_needed() -> None:
    code = (
        "import sys, prolocutor.plugins.almond.thingtalk.parsing as p; print('lark' in sys.modules)"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "False"


def test_without_lark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lark", None)
    monkeypatch.delitem(sys.modules, "prolocutor.plugins.almond.thingtalk.grammars")
    parsing._grammars.cache_clear()

    with pytest.raises(MissingExtra, match=r"prolocutor\[almond\]"):
        parse("$yes;")

    parsing._grammars.cache_clear()
