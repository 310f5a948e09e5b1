import pytest

pytest.importorskip("lark")

from prolocutor.plugins.almond.thingtalk.manifests import Function, Manifests
from prolocutor.plugins.almond.thingtalk.parsing import parse_classes
from tests.plugins.almond.unit.thingtalk.devices import manifests


def function(kind: str, name: str) -> Function:
    found = manifests().function(kind, name)
    assert found is not None
    return found


def test_annotations_are_json() -> None:
    timeline = function("com.twitter", "home_timeline")

    assert timeline.text("confirmation") == "tweets"
    assert timeline.text("formatted") == [{"type": "text", "text": "${author}: ${text}"}]
    assert timeline.setting("poll_interval") == 600_000
    assert timeline.setting("confirm", False) is False
    assert function("com.twitter", "post").setting("confirm") is True


def test_a_text_and_a_setting_of_one_name_are_two_things() -> None:
    [each] = parse_classes('class @a.b { query c(out x : String) #_[result="t"] #[result=1]; }')

    assert each.functions[0].text("result") == "t"
    assert each.functions[0].setting("result") == 1


def test_words_of_a_function_are_kept() -> None:
    timeline = function("com.twitter", "home_timeline")

    assert timeline.is_list is True
    assert timeline.is_monitorable is True
    assert timeline.kind == "query"
    assert [each.name for each in timeline.outputs] == ["text", "author", "hashtags", "likes"]


def test_loaders_are_accepted() -> None:
    twitter = manifests().find("com.twitter")

    assert twitter is not None
    assert [each.facets for each in twitter.imports] == [("loader",), ("config",)]


def test_a_parameter_is_called_by_its_canonical_name_else_by_its_own() -> None:
    [each] = parse_classes(
        'class @a.b { action c(in req song_name : String, in opt x : Number #_[canonical="size"]);}'
    )

    assert [parameter.canonical for parameter in each.functions[0].parameters] == [
        "song name",
        "size",
    ]


def test_a_class_that_extends_itself_is_no_trap() -> None:
    known = Manifests(parse_classes("class @a.b extends @a.c {} class @a.c extends @a.b {}"))

    assert known.function("a.b", "x") is None
    assert known.functions("a.b") == []


def test_types_of_old_manifests_are_known() -> None:
    [each] = parse_classes(
        "class @a.b { action c(in req x : Entity(tt:url), in req y : PhoneNumber, "
        "in req z : Measure(F), in opt w : Array(Enum(on, off))); }"
    )

    assert [str(parameter.type) for parameter in each.functions[0].parameters] == [
        "Entity(^^tt:url)",
        "Entity(^^tt:phone_number)",
        "Measure(C)",
        "Array(Enum(on, off))",
    ]
