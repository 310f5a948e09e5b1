"""The JSON form of a message is JSON whatever stands in the message."""

import base64
import dataclasses
import datetime
import enum
import io
import json
import math
import uuid
from array import array
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.metrics import AverageMetric
from prolocutor.plugins.evaluation.parlai.payload import encode, to_json


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int


class Row(msgspec.Struct):
    y: bytes


class Tensor:
    """Something with rows of numbers, as arrays and tensors have."""

    def tolist(self) -> list[list[float]]:
        return [[1.0, math.nan]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"\x00\xff", base64.b64encode(b"\x00\xff").decode()),
        (memoryview(b"ab"), "YWI="),
        (memoryview(b"a-b-")[::2], "YWI="),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({2, 1}), [1, 2]),
        ((1, (2,)), [1, [2]]),
        (range(3), [0, 1, 2]),
        (array("d", [1.5]), [1.5]),
        (Tensor(), [[1.0, "NaN"]]),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (datetime.date(2026, 11, 20), "2026-11-20"),
        (PurePosixPath("a/b"), "a/b"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.10"), "1.10"),
        (Colour.RED, "red"),
        (Point(1), {"x": 1}),
        (Row(b"y"), {"y": "eQ=="}),
        (AverageMetric(1, 2), 0.5),
        ({1: "a", None: "b", False: "c"}, {"1": "a", "null": "b", "false": "c"}),
        ("\ud800x", "\ufffdx"),
    ],
)
def test_what_json_cannot_say_becomes_its_nearest_neighbour(value: Any, expected: Any) -> None:
    assert to_json(Message(text="t", x=value)) == {"text": "t", "x": expected}


def test_an_image_becomes_the_data_url_of_a_png() -> None:
    image = pytest.importorskip("PIL.Image", reason="images (Pillow is not installed)")
    picture = image.new("RGB", (2, 1), (255, 0, 0))

    url = to_json(Message(image=picture))["image"]

    head, _, data = url.partition(",")
    again = image.open(io.BytesIO(base64.b64decode(data)))
    assert head == "data:image/png;base64"
    assert again.size == (2, 1)
    assert again.getpixel((1, 0)) == (255, 0, 0)


def test_an_image_of_sixteen_bits_keeps_them() -> None:
    image = pytest.importorskip("PIL.Image", reason="images (Pillow is not installed)")
    picture = image.new("I;16", (1, 1), 300)

    url = to_json(Message(image=picture))["image"]

    again = image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    assert again.getpixel((0, 0)) == 300


def test_the_message_itself_is_not_changed() -> None:
    message = Message(metrics={"f1": AverageMetric(1)}, labels=("a",))

    to_json(message)

    assert message["labels"] == ("a",)
    assert isinstance(message["metrics"]["f1"], AverageMetric)


def test_what_has_no_json_form_is_named_with_its_path() -> None:
    with pytest.raises(BadData, match=r"more\.list\[1\]: a object has no JSON form"):
        to_json(Message(more={"list": [1, object()]}))


def test_a_form_can_be_given_to_the_unknown() -> None:
    assert to_json(Message(x=object()), unknown=lambda one: type(one).__name__) == {"x": "object"}


def test_keys_that_are_equal_in_json_are_refused() -> None:
    with pytest.raises(BadData, match="two keys are '1' in JSON"):
        to_json(Message(x={1: "a", "1": "b"}))


def test_a_cycle_is_refused() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)

    with pytest.raises(BadData, match="nested deeper than 64 levels"):
        encode(Message(x=cycle))


ANYTHING = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.dates(),
        st.characters(categories=["Cs"]), st.sets(st.one_of(st.integers(), st.text())),
        st.decimals(), st.uuids(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner),
        st.dictionaries(st.text(), inner, max_size=3),
    ),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text(), ANYTHING))
def test_the_encoded_form_is_json_for_any_reader(fields: dict[str, Any]) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    try:
        encoded = encode(Message(fields))
    except BadData as fault:
        assert "two keys" in str(fault)  # noqa: PT017
        return

    assert json.loads(encoded.decode(), parse_constant=refuse).keys() == to_json(fields).keys()
