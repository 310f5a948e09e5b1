"""JSON and parameters read by Structs, and the errors for what does not fit them."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from prolocutor.errors import BadInput
from prolocutor.web.authentication import OPERATOR
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.operations import JsonReader, OpenStruct, ParamsReader, parse_object
from prolocutor.web.requests import AsgiRequest


class Part(msgspec.Struct):
    n: Annotated[int, Meta(ge=1)] = 1
    size: Literal["s", "l"] = "s"
    tags: list[str] = []


class Whole(msgspec.Struct):
    text: str
    kind: Literal["a", "b"] = "a"
    mark: Annotated[float, Meta(extra={"error": "a mark is a number"})] = 1.0
    part: Part | None = None
    parts: list[Part] = []
    either: str | int | None = None

    def __post_init__(self) -> None:
        if self.text == "no":
            raise ValueError("text should be a yes")


class Open(OpenStruct):
    text: str = ""


class Params(msgspec.Struct, frozen=True):
    id: str
    limit: Annotated[int, Meta(ge=1, le=9)] = 5
    on: bool | None = None
    key: Annotated[str | None, Meta(extra={"in": "header"})] = msgspec.field(
        default=None, name="X-Key"
    )


def request(query: bytes = b"", path_id: str = "7", **headers: str) -> AsgiRequest:
    scope = {
        "method": "GET",
        "path": "/",
        "query_string": query,
        "headers": [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()],
    }

    async def receive() -> Any:
        raise AssertionError("parameters are not in the body")

    return AsgiRequest(scope, receive, {"id": path_id}, ListenerLimits(), OPERATOR)


@pytest.mark.parametrize(
    ("body", "field", "text"),
    [
        (b"{}", "text", "text is needed"),
        (b'{"text": 1}', "text", "text should be a text"),
        (b'{"text": null}', "text", "text should be a text"),
        (b'{"text": "", "kind": "c"}', "kind", "kind should be a or b, not 'c'"),
        (b'{"text": "", "mark": "1"}', "mark", "a mark is a number"),
        (
            b'{"text": "", "parts": [{}, {"size": "m"}]}',
            "parts[1].size",
            "parts[1].size should be s or l, not 'm'",
        ),
        (b'{"text": "", "part": 1}', "part", "part should be an object"),
        (b'{"text": "", "part": {"n": 0}}', "part.n", "part.n should be a whole number >= 1"),
        (b'{"text": "", "part": {"tags": [1]}}', "part.tags[0]", "part.tags[0] should be a text"),
        (
            b'{"text": "", "either": []}',
            "either",
            "either should be a whole number or a text",
        ),
        (b'{"text": "no"}', "text", "text should be a yes"),
        (b"[]", None, "this should be a JSON object, {...}"),
    ],
)
def test_an_error_names_the_field(body: bytes, field: str | None, text: str) -> None:
    with pytest.raises(BadInput) as refused:
        JsonReader(Whole).read(body)

    assert refused.value.field == field
    assert str(refused.value) == text


def test_an_open_struct_keeps_the_other_keys() -> None:
    read = JsonReader(Open).read(b'{"text": "a", "b": [1], "": 2, "extra": {}}')

    assert read.text == "a"
    assert read.extra == {"b": [1], "": 2, "extra": {}}


@pytest.mark.parametrize("body", [b"[]", b"1", b'{"text": 1}', b"{"])
def test_an_open_struct_is_checked(body: bytes) -> None:
    with pytest.raises(BadInput):
        JsonReader(Open).read(body)


@pytest.mark.parametrize(
    ("found", "params"),
    [
        (request(), Params("7")),
        (request(b"limit=3&on=1&id=8"), Params("7", 3, True)),
        (request(b"limit=&on="), Params("7")),
        (request(x_key="k"), Params("7", key="k")),
        (request(b"X-Key=k"), Params("7")),
        (request(path_id="null"), Params("null")),
    ],
)
def test_parameters_come_from_path_query_and_headers(found: AsgiRequest, params: Params) -> None:
    assert ParamsReader(Params).read(found) == params


@pytest.mark.parametrize(
    ("query", "field"), [(b"limit=x", "limit"), (b"limit=0", "limit"), (b"on=maybe", "on")]
)
def test_a_parameter_that_does_not_fit_is_named(query: bytes, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        ParamsReader(Params).read(request(query))

    assert refused.value.field == field


@pytest.mark.parametrize(
    "body",
    [
        rb'{"text": "\ud800"}',
        rb'{"text": "\ud800 and more"}',
        rb'{"text": "\udc00"}',
        rb'{"\ud83d": 1}',
        b'{"text": "\xed\xa0\x80"}',
    ],
)
def test_half_of_a_character_is_named_as_such(body: bytes) -> None:
    with pytest.raises(BadInput, match=r"^a lone surrogate is not Unicode text$"):
        parse_object(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no JSON",
        rb'{"text": "\ud800',
        rb'{"text": "\\ud800"',
        b'{"a": NaN}',
        b'{"a": "\xff"}',
    ],
)
def test_invalid_json_is_named_as_such(body: bytes) -> None:
    with pytest.raises(BadInput, match=r"^this is not JSON"):
        parse_object(body)


def test_a_character_of_two_halves_is_text() -> None:
    assert parse_object(rb'{"text": "\ud83d\ude00"}') == {"text": "\N{GRINNING FACE}"}
