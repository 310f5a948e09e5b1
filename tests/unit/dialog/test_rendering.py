"""Rich messages as plain text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.dialog.messages import KINDS, checked_messages
from prolocutor.dialog.rendering import plain_text, said_as_text

MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "text": ({"type": "text", "text": "Hello."}, "Hello."),
    "picture": (
        {"type": "picture", "url": "https://a.org/cat.png", "alt": "A cat"},
        "A cat: https://a.org/cat.png",
    ),
    "audio": ({"type": "audio", "url": "https://a.org/a.ogg"}, "Audio: https://a.org/a.ogg"),
    "video": (
        {"type": "video", "url": "https://a.org/a.mp4", "alt": None},
        "Video: https://a.org/a.mp4",
    ),
    "rdl": (
        {
            "type": "rdl",
            "rdl": {
                "webCallback": "https://a.org/1",
                "displayTitle": "News",
                "displayText": "It rains.",
            },
        },
        "News: https://a.org/1\nIt rains.",
    ),
    "result": (
        {"type": "result", "result": {"raw": 1}, "fallback": "It is 20 C."},
        "It is 20 C.",
    ),
    "sound": ({"type": "sound", "name": "bell"}, "(sound: bell)"),
    "choice": ({"type": "choice", "title": "Red", "text": "a dark one"}, "1. Red: a dark one"),
    "button": ({"type": "button", "title": "Again", "json": {"code": ["x"]}}, "[Again]"),
    "link": ({"type": "link", "title": "Sign in", "url": "/apps"}, "Sign in: /apps"),
    "new-program": (
        {
            "type": "new-program",
            "uniqueId": "1",
            "name": "Cats",
            "code": "@a.cats();",
            "results": [],
            "errors": ["no cats"],
        },
        "",
    ),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_each_kind_of_message_has_its_words(kind: str) -> None:
    message, expected = MESSAGES[kind]
    assert plain_text(checked_messages([message])) == expected


def test_no_kind_of_message_is_forgotten() -> None:
    assert set(KINDS) == set(MESSAGES)


def test_messages_are_lines_and_choices_are_numbered_from_one() -> None:
    messages = checked_messages(
        [
            {"type": "text", "text": "Which?"},
            {"type": "choice", "title": "Red"},
            {"type": "choice", "title": "White"},
        ]
    )
    assert plain_text(messages, "choice") == "Which?\n1. Red\n2. White"


def test_a_yesno_ask_says_how_it_is_answered() -> None:
    assert plain_text([{"type": "text", "text": "Really?"}], "yesno") == "Really? [yes/no]"


def test_other_asks_add_nothing() -> None:
    assert plain_text([{"type": "text", "text": "When?"}], "date") == "When?"


@pytest.mark.parametrize("messages", [[], [{"type": "text", "text": " "}], [{"type": "sound"}]])
def test_nothing_to_say_is_no_text(messages: list[dict[str, Any]]) -> None:
    assert plain_text(messages, "yesno") == ""


def test_a_title_that_is_its_own_address_is_said_once() -> None:
    link = {"type": "link", "title": "https://a.org", "url": "https://a.org"}
    assert plain_text([link]) == "https://a.org"


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9)
RICH = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, WORDS),
        st.builds(lambda a, b: {"type": "link", "title": a, "url": b}, WORDS, WORDS),
        st.builds(lambda a, b: {"type": "picture", "alt": a, "url": b}, WORDS, WORDS),
        st.builds(lambda a, b: {"type": "choice", "title": a, "text": b}, WORDS, WORDS),
        st.builds(lambda a: {"type": "button", "title": a, "json": "{}"}, WORDS),
        st.builds(lambda a: {"type": "result", "result": {}, "fallback": a}, WORDS),
        st.builds(
            lambda a, b, c: {
                "type": "rdl",
                "rdl": {"displayTitle": a, "webCallback": b, "displayText": c},
            },
            WORDS,
            WORDS,
            WORDS,
        ),
    ),
    max_size=6,
)
SHOWN = ("text", "title", "url", "alt", "fallback", "displayTitle", "webCallback", "displayText")


@given(RICH)
def test_no_word_is_lost(messages: list[dict[str, Any]]) -> None:
    text = plain_text(checked_messages(messages))
    for message in messages:
        for key, value in {**message, **message.get("rdl", {})}.items():
            if key in SHOWN:
                assert value in text


@given(RICH)
def test_text_that_is_rendered_again_stays_as_it_is(messages: list[dict[str, Any]]) -> None:
    text = plain_text(checked_messages(messages))
    assert plain_text([{"type": "text", "text": text}]) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(
    st.sampled_from(sorted(KINDS)), st.dictionaries(st.sampled_from([*SHOWN, "rdl", "idx"]), JSON)
)
def test_messages_of_any_shape_have_a_text(kind: str, fields: dict[str, Any]) -> None:
    message = json.loads(json.dumps({**fields, "type": kind}))
    assert isinstance(plain_text([message], "yesno"), str)


def said(text: str, *messages: Any, ask: str | None = None, **more: Any) -> str:
    """What is said as text by a reply of this text and these messages."""
    return said_as_text(text, {"messages": [*messages], "ask": ask}, **more)


def test_a_reply_is_said_with_all_its_messages() -> None:
    choices = [{"type": "choice", "title": title, "idx": n} for n, title in enumerate("AB")]
    question = {"type": "text", "text": "Which?"}

    assert said("Which?", question, *choices, ask="choice") == "Which?\n1. A\n2. B"
    assert said("Which?", question, *choices, without=["choice"]) == "Which?"
    assert said("1. A\n2. B", *choices, without=["choice"]) == "1. A\n2. B"


def test_a_reply_without_messages_is_said_with_its_text() -> None:
    assert said_as_text("Hello.", {}) == "Hello."
    assert said("Really?", ask="yesno") == "Really? [yes/no]"
    assert said("Hello.", "no message") == "Hello."
    assert said("") == ""
