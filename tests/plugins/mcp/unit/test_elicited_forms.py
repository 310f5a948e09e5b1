"""What servers want to know is asked for field by field, and goes back as the form wants it."""

from typing import Any

import msgspec
import pytest

from prolocutor.plugins.mcp.connector.elicited import Form

ENUM = {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]}
TITLED = {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]}
SEVERAL = {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b"}]}}


def form(required: list[str] | None = None, **properties: Any) -> Form:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required is not None:
        schema["required"] = required
    return Form.read_form({"message": "Please:", "requestedSchema": schema})


def filled(one: Form, *values: Any) -> tuple[list[str], dict[str, Any]]:
    """Answer what is asked; return the kinds of asks, and the answer for the server."""
    asked = []
    for value in values:
        question = one.question()
        assert question is not None
        asked.append(question["ask"])
        one.take({"value": value})
    assert one.question() is None
    return asked, one.result()


@pytest.mark.parametrize(
    ("field", "ask", "value", "expected"),
    [
        ({"type": "string"}, "raw_string", "x", "x"),
        ({"type": "string", "format": "date"}, "date", "2026-12-24", "2026-12-24"),
        ({"type": "string", "format": "email"}, "email_address", "a@b.org", "a@b.org"),
        ({"type": "boolean"}, "yesno", False, False),
        ({"type": "number"}, "number", 2.5, 2.5),
        ({"type": "integer"}, "number", 2.0, 2),
        (ENUM, "choice", {"idx": 1, "title": "Large"}, "l"),
        (TITLED, "choice", {"idx": 0, "title": "Small"}, "s"),
        (SEVERAL, "choice", {"idx": 1, "title": "b"}, ["b"]),
    ],
)
def test_a_field_is_an_ask_of_its_kind(field: Any, ask: str, value: Any, expected: Any) -> None:
    asked, result = filled(form(it=field), value)

    assert asked == [ask]
    assert result == {"action": "accept", "content": {"it": expected}}


def test_only_required_fields_are_asked_for_and_defaults_go_along() -> None:
    one = form(["b"], a={"type": "string", "default": "x"}, b={"type": "number"}, c={})

    assert filled(one, 1)[1] == {"action": "accept", "content": {"a": "x", "b": 1}}


def test_a_form_of_defaults_alone_is_agreed_to_or_not() -> None:
    usual = {"type": "string", "default": "x"}

    assert filled(form(a=usual), True) == (["yesno"], {"action": "accept", "content": {"a": "x"}})
    assert filled(form(a=usual), False)[1] == {"action": "decline"}


def test_an_address_is_a_link_to_agree_to() -> None:
    one = Form.read_form({"mode": "url", "message": "Sign in", "url": "https://example.org"})
    question = one.question()

    assert question is not None
    assert question["messages"][1]["url"] == "https://example.org"
    assert filled(one, True)[1] == {"action": "accept", "content": {}}


@pytest.mark.parametrize("params", [{"message": 3}, {"requestedSchema": []}])
def test_an_invalid_form_is_refused(params: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        Form.read_form(params)
