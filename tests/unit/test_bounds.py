"""What a setting may be is written in the type of its field, and checked from there."""

import math
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from prolocutor.bounds import check_bounds
from prolocutor.errors import ConfigError


class Lamp(msgspec.Struct):
    name: str = "lamp"
    watts: Annotated[float, Meta(gt=0, le=100)] = 5.0
    switches: Annotated[int, Meta(ge=1)] | Literal["all"] | None = 1
    colour: Literal["white", "red"] = "white"
    owner: Any = None


@pytest.mark.parametrize(
    "lamp", [Lamp(), Lamp(watts=100), Lamp(switches="all"), Lamp(switches=None, owner=object())]
)
def test_what_is_within_its_bounds_is_taken(lamp: Lamp) -> None:
    check_bounds(lamp)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("watts", 0, "a.watts: expected a number above 0, found 0"),
        ("watts", 101, "a.watts: expected a number of at most 100, found 101"),
        ("watts", math.nan, "a.watts: expected a number that is finite, found nan"),
        ("watts", True, "a.watts: expected a number, found True"),
        ("switches", 0, "a.switches: expected a whole number of at least 1, or all, found 0"),
        ("switches", 1.5, "a.switches: expected a whole number, or all, found 1.5"),
        ("switches", "none", "a.switches: expected a whole number, or all, found 'none'"),
        ("colour", "blue", "a.colour: expected white or red, found 'blue'"),
        ("name", None, "a.name: expected a text, found None"),
    ],
)
def test_what_is_out_of_its_bounds_is_refused_by_its_key(key: str, value: Any, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_bounds(Lamp(**{key: value}), path="a")
    assert str(refused.value) == told
