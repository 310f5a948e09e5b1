"""Messages that skills send, checked, and buttons that find their way back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from prolocutor.dialog.messages import ASK_KINDS, KINDS, add_owner, checked_ask, checked_messages
from prolocutor.errors import BadReply

GOOD: list[dict[str, Any]] = [
    {"type": "text", "text": ""},
    {"type": "picture", "url": "a", "alt": None},
    {"type": "audio", "url": "a"},
    {"type": "video", "url": "a", "alt": "b"},
    {"type": "rdl", "rdl": {"webCallback": "a", "displayTitle": "b"}},
    {"type": "result", "result": {}, "fallback": "a"},
    {"type": "sound", "name": "a", "exclusive": True},
    {"type": "choice", "idx": 0, "title": "a", "text": "b"},
    {"type": "button", "title": "a", "json": {}},
    {"type": "button", "title": "a", "json": "{}"},
    {"type": "link", "title": "a", "url": "b", "state": {}},
    {
        "type": "new-program",
        "uniqueId": "a",
        "name": "b",
        "code": "c",
        "results": [],
        "errors": [],
    },
]


@pytest.mark.parametrize("message", GOOD, ids=lambda one: one["type"])
def test_a_message_of_each_kind_is_taken_as_it_is(message: dict[str, Any]) -> None:
    assert checked_messages([{**message, "own": 1}]) == [{**message, "own": 1}]


@pytest.mark.parametrize("message", GOOD, ids=lambda one: one["type"])
def test_a_message_that_lacks_something_is_refused_by_its_path(message: dict[str, Any]) -> None:
    for field in msgspec.structs.fields(KINDS[message["type"]]):
        key = field.encode_name
        if not field.required:
            continue
        lacking = {name: value for name, value in message.items() if name != key}
        with pytest.raises(BadReply) as caught:
            checked_messages([lacking])
        assert caught.value.path == f"$.messages[0].{key}"


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"type": "picture", "url": 5}, "$.messages[1].url"),
        ({"type": "rdl", "rdl": {}}, "$.messages[1].rdl.webCallback"),
        ({"type": "choice", "title": "a", "idx": True}, "$.messages[1].idx"),
        ({"type": "smoke"}, "$.messages[1].type"),
        ({}, "$.messages[1].type"),
        ("hi", "$.messages[1]"),
    ],
)
def test_a_fault_in_a_message_is_named_by_its_path(message: Any, path: str) -> None:
    with pytest.raises(BadReply) as refused:
        checked_messages([{"type": "text", "text": "a"}, message])
    assert refused.value.path == path


def test_a_link_may_be_called_so() -> None:
    [link] = checked_messages([{"type": "link", "title": "a", "link": "b"}])
    assert link == {"type": "link", "title": "a", "url": "b"}


@pytest.mark.parametrize("ask", [*sorted(ASK_KINDS.names()), None])
def test_the_asks_are_known(ask: str | None) -> None:
    assert checked_ask(ask) == ask


@pytest.mark.parametrize("ask", ["", "Number", 5, [], {}, True])
def test_an_invalid_ask_is_refused(ask: Any) -> None:
    with pytest.raises(BadReply, match="there are"):
        checked_ask(ask)


def owned(json: Any) -> Any:
    """Return what a skill's button carries when it is shown."""
    [button] = add_owner([{"type": "button", "title": "a", "json": json}], "shop")
    return button["json"]


@pytest.mark.parametrize(
    ("json", "shown"),
    [
        ({}, {"skill": "shop"}),
        ({"payload": 5}, {"payload": 5, "skill": "shop"}),
        ("/affirm", {"payload": "/affirm", "skill": "shop"}),
        ("[1]", {"payload": [1], "skill": "shop"}),
        ('{"payload": 5}', {"payload": 5, "skill": "shop"}),
        ({"code": ["buy"]}, {"code": ["buy"], "skill": "shop"}),
        ({"code": [5]}, {"code": [5], "skill": "shop"}),
    ],
)
def test_a_button_says_whose_it_is(json: Any, shown: Any) -> None:
    assert owned(json) == shown


@pytest.mark.parametrize(
    "json",
    [
        {"skill": "other", "payload": 5},
        {"program": "now => @a.b();"},
        {"code": ["now", "=>", "@a.b"]},
        {"code": "bookkeeping special special:yes"},
        {"code": ["$yes", ";"]},
    ],
)
def test_a_button_with_a_command_of_the_assistants_is_nobodys(json: Any) -> None:
    assert owned(json) == json


def test_messages_without_a_button_are_not_touched() -> None:
    messages = [{"type": "text", "text": "a"}]
    assert add_owner(messages, "shop") is messages
