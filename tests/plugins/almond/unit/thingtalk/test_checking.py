import pytest

pytest.importorskip("lark")

from prolocutor.errors import ThingTalkError
from prolocutor.plugins.almond.thingtalk.checked import Checked, count_slots, fill, find_ask
from prolocutor.plugins.almond.thingtalk.checking import check
from prolocutor.plugins.almond.thingtalk.parsing import parse
from prolocutor.plugins.almond.thingtalk.printing import show
from prolocutor.plugins.almond.thingtalk.tree import Monitor, Program
from prolocutor.plugins.almond.thingtalk.types import STRING, Type, array, entity
from prolocutor.plugins.almond.thingtalk.values import LocationValue, StringValue
from tests.plugins.almond.unit.thingtalk.devices import LISTED, manifests


def checked(source: str) -> Checked:
    tree = parse(source)
    assert isinstance(tree, Program)
    return check(tree, manifests())


@pytest.mark.parametrize("source", [each for each in LISTED if each[:5] not in ("$answ", "bookk")])
def test_every_listed_program_is_right(source: str) -> None:
    found = checked(source)

    assert [each.type.name for each in found.slots] == (["String"] if "post()" in source else [])


@pytest.mark.parametrize(
    ("source", "column", "what", "do"),
    [
        ("@com.twiter.post();", 1, "@com.twiter is not known", "'com.twitter'?"),
        ("@com.twitter.pst();", 1, "no function pst", "did you mean 'post'?"),
        ('@com.twitter.post(stats="a");', 19, "not a parameter of", "did you mean 'status'?"),
        ("@com.twitter.post(status=5);", 26, "Number does not fit", 'as "text"'),
        ("@com.twitter.post(status=title);", 26, "nothing comes before it", '"title"'),
        ('@com.twitter.home_timeline(text="a");', 28, "is an output", "no parameters"),
        ('@com.twitter.home_timeline() filter txt == "a";', 37, "no field txt", "'text'?"),
        ('@com.twitter.home_timeline() filter text >= "a";', 37, "does not compare String", ""),
        ('@com.twitter.home_timeline() filter likes =~ "a";', 37, "does not compare Number", ""),
        ("@com.twitter.home_timeline() filter contains(text, 1);", 37, "does not compare", ""),
        ("@com.twitter.home_timeline() filter likes == true;", 46, "Boolean does not fit", ""),
        ("@com.twitter.home_timeline() filter true(likees);", 42, "no field likees", "'likes'?"),
        ("@security-camera.set_power(power=enum(red));", 39, "red is not a choice", "off, on"),
        ("@thermostat.set_target_temperature(value=5km);", 43, "Measure(m) does not", ""),
        ("@com.xkcd.get_comic(number=[1]);", 21, "Array does not fit", ""),
        ("sum(title of @com.xkcd.get_comic());", 1, "title is String", ""),
        ("max(foo of @com.xkcd.get_comic());", 1, "no field foo", ""),
        ("[foo] of @com.xkcd.get_comic();", 1, "no field foo", "fields:"),
        ("sort(foo asc of @com.xkcd.get_comic());", 1, "no field foo", ""),
        ('@com.xkcd.get_comic()["a"];', 23, "String does not fit", ""),
        ("monitor(@com.uber.price_estimate());", 1, "cannot be monitored", ""),
        ("monitor(foo of @com.xkcd.get_comic());", 1, "no field foo", ""),
        ("monitor(@com.twitter.post());", 1, "an action gives no results", "query"),
        ("count(monitor(@com.xkcd.get_comic()));", 1, "a stream never ends", "query"),
        ('@com.twitter.post(status="a") => @com.xkcd.get_comic();', 1, "only end a chain", ""),
        ("@com.xkcd.get_comic() => monitor(@com.xkcd.get_comic());", 26, "only begin", ""),
        ("timer(base=5, interval=1h);", 12, "Number does not fit", "new Date"),
        ("timer(base=$now, interval=1km);", 28, "Measure(m) does not fit", ""),
        ("@com.xkcd.get_comic() filter {a=$?} == 1;", 37, "a part of an object", ""),
        ("attimer(time=[5]);", 15, "Number does not fit", "new Time"),
        ("@com.xkcd.get_comic() => @com.twitter.post(status=number);", 51, "which is Number", ""),
        ("class @a.b {} @com.xkcd.get_comic();", 7, "declares no classes", "manifest"),
        ("@org.prolocutor.todo.items() filter weight.nett >= 5;", 37, "weight.nett", ""),
    ],
)
def test_an_error_in_a_program_says_its_place_and_its_remedy(
    source: str, column: int, what: str, do: str
) -> None:
    with pytest.raises(ThingTalkError) as refused:
        checked(source)

    assert refused.value.line == 1
    assert refused.value.column == column
    assert what in refused.value.what
    assert do in refused.value.do


def test_a_missing_value_is_a_slot_with_its_question() -> None:
    found = checked("@com.uber.price_estimate() => @com.twitter.post();")

    assert [(each.name, each.ask) for each in found.slots] == [
        ("start", "location"),
        ("end", "location"),
        ("status", "raw_string"),
    ]
    assert found.slots[0].prompt == "What is the start?"
    assert found.slots[2].prompt == "What do you want to tweet?"
    assert found.slots[2].function == "@com.twitter.post"
    assert show(found.program) == (
        "@com.uber.price_estimate(start=$?, end=$?) => @com.twitter.post(status=$?);"
    )


def test_slots_are_filled_one_by_one() -> None:
    program = checked("@com.uber.price_estimate(end=$?) => @com.twitter.post();").program

    program = fill(program, 1, LocationValue(1, 2))
    found = check(program, manifests())

    assert [each.name for each in found.slots] == ["end", "status"]
    assert count_slots(fill(fill(found.program, 1, StringValue("hi")), 0, LocationValue(3, 4))) == 0


def test_a_value_asked_for_in_a_filter_is_a_slot_of_the_field() -> None:
    found = checked("@com.twitter.home_timeline() filter author == $? && in_array(text, [$?]);")

    assert [(each.name, each.type) for each in found.slots] == [
        ("author", entity("tt:username")),
        ("text", STRING),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "@com.uber.price_estimate(end=$?) filter low_estimate >= $? => @com.twitter.post();",
        "attimer(time=[$?, new Time(1, 2), $?], expiration_date=$?) => @com.xkcd.get_comic();",
        "timer(base=$?, interval=$?, frequency=$?) => @com.xkcd.get_comic()[$? : $?];",
        "@com.twitter.home_timeline() filter !(likes >= $?) || in_array(text, [$?, $?]);",
    ],
)
def test_each_missing_value_of_a_checked_program_is_a_slot(source: str) -> None:
    found = checked(source)

    assert len(found.slots) == count_slots(found.program)


def test_there_is_no_slot_beyond_the_last() -> None:
    with pytest.raises(IndexError, match="no slot 1 among 1"):
        fill(checked("@com.twitter.post();").program, 1, StringValue("x"))


def test_a_chain_is_told_apart() -> None:
    [found] = checked(
        "monitor(@com.xkcd.get_comic()) => @com.twitter.home_timeline() filter text =~ title "
        "=> @com.twitter.post(status=text);"
    ).statements

    assert isinstance(found.stream, Monitor)
    assert len(found.queries) == 1
    assert found.action is not None
    assert found.action.function.name == "post"
    assert found.confirm
    assert [each.function.name for each in found.calls] == ["get_comic", "home_timeline", "post"]


def test_a_chain_without_an_action_shows_its_results() -> None:
    found = checked("[text] of @com.twitter.home_timeline();")

    assert found.statements[0].action is None
    assert found.statements[0].outputs == {"text": STRING}
    assert found.kind == "now"


def test_a_timer_goes_on() -> None:
    assert checked("timer(base=$now, interval=1h) => @com.xkcd.get_comic();").kind == "stream"


def test_the_name_of_a_skill_is_in_its_class() -> None:
    found = checked('@org.prolocutor.todo.add(item="milk");').statements[0]

    assert found.action is not None
    assert found.action.owner.skill == "todo"


def test_functions_of_the_classes_that_are_extended_are_known() -> None:
    found = checked("@org.prolocutor.todo.items() filter weight.net >= 5 && done == false;")

    assert found.statements[0].outputs["weight"].name == "Compound"


@pytest.mark.parametrize(
    "source",
    [
        '@org.prolocutor.todo.add(item="x", who="+1"^^tt:phone_number);',
        "@org.prolocutor.todo.items() => @org.prolocutor.todo.add(item=item);",
        "@com.xkcd.get_comic() => @com.twitter.post(status=$result);",
        "@com.xkcd.get_comic() => @com.twitter.post(status=picture_url);",
        '@org.prolocutor.todo.add(item="x", due=$now, who="Bob");',
        (
            "@com.uber.price_estimate(start=$location.home, end=$location.work) "
            "filter low_estimate >= 5;"
        ),
        "@com.twitter.post(status=$context.selection : String);",
        'timer(base=$now, interval=1h, frequency=3) => @com.twitter.post(status="x");',
        (
            "attimer(time=[$time.morning], expiration_date=new Date(2030, 1, 1)) => "
            '@com.twitter.post(status="x");'
        ),
        "@com.xkcd.get_comic()[2 : 3];",
        '@com.twitter.home_timeline() filter contains(hashtags, "x"^^tt:hashtag);',
        '@com.twitter.home_timeline() filter contains~(hashtags, "x") || starts_with(text, "y");',
        "avg(likes of @com.twitter.home_timeline()) filter likes >= 3;",
    ],
)
def test_a_fitting_value_is_taken(source: str) -> None:
    assert checked(source).slots == ()


@pytest.mark.parametrize(
    ("kind", "ask"),
    [
        (Type("Boolean"), "yesno"),
        (Type("Enum", choices=("a",)), "choice"),
        (Type("Measure", of="C"), "generic"),
        (entity("tt:contact"), "contact"),
        (entity("tt:picture"), "picture"),
        (entity("com.spotify:song"), "raw_string"),
        (array(Type("Date")), "date"),
    ],
)
def test_a_type_is_asked_for_in_its_way(kind: Type, ask: str) -> None:
    assert find_ask(kind) == ask
