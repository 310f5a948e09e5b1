"""What JSON can say passes unchanged; what it cannot is refused with the path of the value."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.dialog import plain
from prolocutor.dialog.dialog import Hypothesis, ScheduledMessage, SelectorReply
from prolocutor.dialog.messages import Button, Text
from prolocutor.dialog.plain import PlainItems
from prolocutor.errors import BadReply

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
finite = scalars.filter(lambda one: not isinstance(one, float) or math.isfinite(one))
plain_values = st.recursive(
    finite, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30
)


def nested(levels: int, leaf: Any = None) -> Any:
    """Nest lists, so many levels; the leaf is inside the last."""
    value: Any = [] if leaf is None else [leaf]
    for _ in range(levels - 1):
        value = [value]
    return value


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {"text": "hi"}
    value["again"] = [value]
    return value


class Liar:
    """Equal to everything, and nothing that JSON could say."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@given(plain_values)
def test_plain_values_pass_unchanged(value: Any) -> None:
    assert plain.check(value).value == value


@given(plain_values)
def test_a_checked_value_is_a_copy_decoded_from_the_kept_bytes(value: Any) -> None:
    checked = plain.check(value)
    assert plain.parse(checked.encoded).value == checked.value


@given(st.characters(exclude_categories=("Cs",)))
def test_every_unicode_scalar_value_passes(character: str) -> None:
    assert plain.check({character: character}).value == {character: character}


def test_a_change_to_a_checked_value_does_not_reach_the_services_own() -> None:
    kept = {"list": [1]}
    plain.check(kept).value["list"].append(2)
    assert kept == {"list": [1]}


def test_tuples_become_lists() -> None:
    assert plain.check(("a", ("b",))).value == ["a", ["b"]]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [0.5, math.nan]}, "$.a[1]"),
        ([math.inf], "$[0]"),
        ({"a": {"b": -math.inf}}, "$.a.b"),
        ({"a": [{1: "one", "1": "one"}]}, "$.a[0]"),
        ({"a": {None: 0}}, "$.a"),
        ({"a": {(1, 2): 0}}, "$.a"),
        (["fine", "\ud800"], "$[1]"),
        ({"a": {"\udfff": 0}}, "$.a"),
        ({"a": b"bytes"}, "$.a"),
        ({"a": {1, 2}}, "$.a"),
        ([datetime.now(UTC)], "$[0]"),
        ([Decimal("0.5")], "$[0]"),
        ({"a": object()}, "$.a"),
        ([Liar()], "$[0]"),
        ([lambda: None], "$[0]"),
        ({"n": 10**5000}, "$.n"),
    ],
)
def test_a_value_outside_of_json_is_named_by_its_path(value: Any, path: str) -> None:
    with pytest.raises(BadReply) as refused:
        plain.check(value)
    assert refused.value.path == path


@pytest.mark.parametrize("value", [cyclic(), nested(65), nested(900), nested(5000)])
def test_the_path_of_a_cycle_or_a_too_deep_value_is_named(value: Any) -> None:
    with pytest.raises(BadReply, match="deeper than 64 levels") as refused:
        plain.check(value)
    assert len(refused.value.path) > 64


@pytest.mark.parametrize("leaf", [None, "]]", '[["[\\"', {}])
def test_brackets_in_texts_do_not_count_as_levels(leaf: Any) -> None:
    levels = 63 if leaf == {} else 64
    value = nested(levels, leaf)
    assert plain.check(value).value == value
    with pytest.raises(BadReply):
        plain.check([value])


def test_many_shallow_objects_are_not_deep() -> None:
    value = [{"a": ["[[[["]} for _ in range(1000)]
    assert plain.check(value).value == value


def test_a_value_of_more_than_a_megabyte_is_refused() -> None:
    with pytest.raises(BadReply, match="1,000,001 bytes"):
        plain.check("x" * 999_999)


def test_a_value_of_a_megabyte_passes() -> None:
    assert len(plain.check("x" * 999_998).encoded) == 1_000_000


def test_the_path_of_a_deep_value_stays_short_whatever_its_keys() -> None:
    wide = {"k" * 100_000: [0] * 1000 + [math.nan]}
    with pytest.raises(BadReply) as refused:
        plain.check(wide)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[1,]",
        b"NaN",
        b"[Infinity]",
        b"1e999",
        b'"\\ud800"',
        b'"\xff"',
        b"\xff\xfe",
        b"{1:2}",
        b"9" * 5000,
        b"[" * 100_000,
        b'{"a":1} {"b":2}',
    ],
)
def test_a_value_outside_of_json_is_refused(data: bytes) -> None:
    with pytest.raises(BadReply):
        plain.parse(data)


def test_json_over_the_limit_is_refused_unread() -> None:
    with pytest.raises(BadReply, match="11 bytes, more than the 10 allowed"):
        plain.parse(b"not json at", max_bytes=10)


@given(st.binary(max_size=40))
def test_whatever_comes_over_a_wire_is_read_or_refused(data: bytes) -> None:
    try:
        parsed = plain.parse(data)
    except BadReply:
        return
    assert plain.decode(parsed.encoded) == parsed.value


class Found(msgspec.Struct):
    """What an annotator may return: a type of its own."""

    score: float
    inner: Any = None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Hypothesis("hi", 0.5), {"text": "hi", "confidence": 0.5}),
        (
            [Hypothesis("hi", 0.5, can_continue=True, extra={"own": 1})],
            [{"text": "hi", "confidence": 0.5, "can_continue": True, "own": 1}],
        ),
        (
            Hypothesis("", 0.5, messages=[Text("a"), {"type": "text", "text": "b"}], ask="yesno"),
            {
                "confidence": 0.5,
                "messages": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                "ask": "yesno",
            },
        ),
        (
            {"text": "a", "confidence": 1.0, "messages": [Button("a", {"n": 1})]},
            {
                "text": "a",
                "confidence": 1.0,
                "messages": [{"type": "button", "title": "a", "json": {"n": 1}}],
            },
        ),
        (
            Hypothesis("a", 1, schedule=[ScheduledMessage(key="k", in_=5, messages=[Text("b")])]),
            {
                "text": "a",
                "confidence": 1,
                "schedule": [{"key": "k", "in": 5, "messages": [{"type": "text", "text": "b"}]}],
            },
        ),
        (
            SelectorReply("chat", "a", 0.5, hypotheses=("chat.0", "chat.1")),
            {
                "skill_name": "chat",
                "text": "a",
                "confidence": 0.5,
                "hypotheses": ["chat.0", "chat.1"],
            },
        ),
        ([Found(0.5, Found(1.0))], [{"score": 0.5, "inner": {"score": 1.0, "inner": None}}]),
    ],
)
def test_a_struct_stands_for_its_object(value: Any, expected: Any) -> None:
    assert plain.check(value).value == expected


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Hypothesis("hi", math.nan), "$.confidence"),
        ([Hypothesis("hi", 0.5, attributes={"at": datetime.now(UTC)})], "$[0].attributes.at"),
        (Found(0.5, object()), "$.inner"),
        (Found(0.5, Found(0.5, {1: "one"})), "$.inner.inner"),
        (Hypothesis("hi", 0.5, messages=[Text("\ud800")]), "$.messages[0].text"),
    ],
)
def test_the_path_within_a_struct_is_named(value: Any, path: str) -> None:
    with pytest.raises(BadReply) as refused:
        plain.check(value)
    assert refused.value.path == path


def test_a_struct_that_holds_itself_is_refused() -> None:
    found = Found(0.5)
    found.inner = [found]
    with pytest.raises(BadReply):
        plain.check(found)


def doubled(times: int) -> list[Any]:
    """Return a list that is small in memory and has 2 to the power of `times` parts as JSON."""
    value: list[Any] = []
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "make",
    [
        lambda: doubled(40),
        lambda: {"deep": {"down": doubled(40)}},
        lambda: [["x" * 1000] * 1000] * 1000,
        lambda: [{"x" * 100_000: 1}] * 100_000,
        lambda: [[[[0] * 100] * 100] * 100] * 100,
        lambda: [{} for _ in range(400_000)],
        lambda: {"all": [[[1], [2]] for _ in range(150_000)]},
    ],
)
def test_a_value_that_is_small_in_memory_and_endless_as_json_is_refused(
    make: Callable[[], Any],
) -> None:
    with pytest.raises(BadReply, match="more than the 1,000,000 allowed"):
        plain.check(make())


@pytest.mark.parametrize("together", [lambda a: [a, a], lambda a: {"a": a, "b": a}])
def test_a_doubling_value_is_measured_by_looking_at_each_part_once(
    together: Callable[[Any], Any],
) -> None:
    value: Any = ["x"]
    for _ in range(40):
        value = together(value)

    with pytest.raises(BadReply) as refused:
        plain.check(value)

    said = re.search(r"[0-9,]+", str(refused.value))
    assert said is not None
    assert int(said[0].replace(",", "")) > 2**40


def test_ever_so_many_small_parts_are_no_fault_below_the_limit() -> None:
    shared = ["x" * 10]
    value = [shared, shared, *([number] for number in range(100_000))]
    assert plain.check(value).value == value


@pytest.mark.parametrize("extra", [5, None, "abc", [("a", 1)]])
def test_a_wrong_extra_of_a_hypothesis_is_named(extra: Any) -> None:
    with pytest.raises(BadReply, match=r"\$\.extra: expected an object"):
        plain.check([Hypothesis("hi", 0.9, extra=extra)])


def test_a_byte_order_mark_before_json_means_nothing() -> None:
    parsed = plain.parse(b'\xef\xbb\xbf{"text":"hi"}')
    assert parsed.value == {"text": "hi"}
    assert parsed.encoded == b'{"text":"hi"}'


@pytest.mark.parametrize("value", [[0] * 3_000_000, [[0] * 500_000 for _ in range(6)]])
def test_a_value_of_millions_of_parts_is_refused_by_their_number_alone(value: Any) -> None:
    with pytest.raises(BadReply, match=r"^\$: (1|3),\d{3},\d{3} bytes or more"):
        plain.check(value)


class DoublingMembers(msgspec.Struct):
    """A Struct whose own JSON object is endless."""

    text: str = ""

    def json_members(self) -> dict[str, Any]:
        doubled: list[Any] = []
        for _ in range(60):
            doubled = [doubled, doubled]
        return {"text": self.text, "doubled": doubled}


def test_a_struct_whose_own_object_is_endless_is_refused() -> None:
    with pytest.raises(BadReply, match="bytes"):
        plain.check(DoublingMembers("hi"))


@pytest.mark.parametrize("wrong", [math.nan, {1: 2}, object(), "\ud800"])
def test_a_fault_deep_in_an_endless_value_is_found_at_once(wrong: Any) -> None:
    value: Any = [wrong]
    for _ in range(40):
        value = [value, value]
    with pytest.raises(BadReply):
        plain.check(value)


def test_a_small_value_may_occur_in_several_places() -> None:
    part = {"a": [1, 2.5, None]}
    assert plain.check([part, part, [part]]).value == [part, part, [part]]


def test_a_value_of_many_parts_passes() -> None:
    value = [{"n": n, "text": "one of many"} for n in range(15_000)]
    assert plain.check(value).value == value


def test_items_that_are_checked_one_by_one_keep_their_places() -> None:
    items = PlainItems.collect([plain.check({"a": 1}), BadReply("no"), plain.check("b")])
    assert items.value == [{"a": 1}, None, "b"]
    assert items.encoded == b'[{"a":1},null,"b"]'
