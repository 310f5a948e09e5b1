"""Rows of the feed as frames, in both generations of Almond's wire."""

from typing import Any

import pytest

from prolocutor.contracts.store import FeedRow
from prolocutor.dialog import plain
from prolocutor.plugins.almond.door.dialects import FIRST, MAX_FRAME, SECOND, error_frame
from prolocutor.web.error_table import ErrorResponse

LINK = "/devices/oauth2/com.xkcd?name=XKCD"
COMMAND = {"code": ["bookkeeping", "special", "special:help"], "entities": {}}


def row(message: dict[str, Any] | None, id_: int | None = 7) -> FeedRow:
    return FeedRow(3, "d", None if message is None else plain.encode(message), "main", id_)


def said(**message: Any) -> FeedRow:
    return row({"icon": "clock", "utt_id": "u", **message})


def second(**message: Any) -> Any:
    frame = SECOND.message(said(**message))
    assert frame is not None
    assert frame.pop("id") == 7
    assert frame.pop("icon") == "clock"
    assert frame.pop("utt_id") == "u"
    return frame


def test_a_text_has_an_id_in_the_second_generation_and_none_in_the_first() -> None:
    text = said(type="text", text="Hi!")

    assert SECOND.message(text) == {
        "type": "text",
        "text": "Hi!",
        "icon": "clock",
        "utt_id": "u",
        "id": 7,
    }
    assert FIRST.message(text) == {"type": "text", "text": "Hi!", "icon": "clock"}


def test_an_icon_is_a_text_or_null() -> None:
    assert FIRST.message(row({"type": "text", "text": "Hi!"})) == {
        "type": "text",
        "text": "Hi!",
        "icon": None,
    }


def test_words_are_echoed_in_the_second_generation_alone() -> None:
    words = row({"type": "command", "command": "Help", "json": COMMAND})

    assert SECOND.message(words) == {"type": "command", "command": "Help", "json": COMMAND, "id": 7}
    assert FIRST.message(words) is None


def test_a_turn_without_a_word_has_no_frame() -> None:
    assert SECOND.message(row(None, None)) is None
    assert FIRST.message(row(None, None)) is None


def test_a_links_address_goes_by_both_names() -> None:
    assert second(type="link", title="Sign in", url=LINK) == {
        "type": "link",
        "title": "Sign in",
        "url": LINK,
        "link": LINK,
    }


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (COMMAND, COMMAND),
        (plain.encode(COMMAND).decode(), COMMAND),
        ("now => @a.b();", {"program": "now => @a.b();"}),
    ],
)
def test_a_button_is_a_parsed_command_but_for_its_type(given: Any, shown: Any) -> None:
    assert second(type="button", title="Help", json=given)["json"] == shown


def test_a_choice_keeps_its_longer_description() -> None:
    choice = {"type": "choice", "idx": 0, "title": "Red", "text": "as a rose"}

    assert second(**choice) == choice


@pytest.mark.parametrize("title", [None, "Comic"])
def test_an_rdl_has_a_title(title: str | None) -> None:
    rdl = {"webCallback": "https://xkcd.com", **({"displayTitle": title} if title else {})}

    assert second(type="rdl", rdl=rdl)["rdl"] == {
        "webCallback": "https://xkcd.com",
        "displayTitle": title or "https://xkcd.com",
    }


@pytest.mark.parametrize("kind", ["audio", "video"])
def test_media_unknown_to_the_first_generation_are_links_there(kind: str) -> None:
    assert FIRST.message(said(type=kind, url="https://a.org/x", alt="A song")) == {
        "type": "rdl",
        "rdl": {"webCallback": "https://a.org/x", "displayTitle": "A song"},
        "icon": "clock",
    }
    assert second(type=kind, url="https://a.org/x")["type"] == kind


@pytest.mark.parametrize("kind", ["sound", "new-program"])
def test_later_kinds_are_not_sent_to_the_first_generation(kind: str) -> None:
    assert FIRST.message(said(type=kind, name="x")) is None


@pytest.mark.parametrize("dialect", [FIRST, SECOND])
def test_a_message_that_would_break_a_clients_line_is_told_of_instead(dialect: Any) -> None:
    frame = dialect.message(said(type="text", text="y" * MAX_FRAME))

    assert frame["type"] == "text"
    assert "512,0" in frame["text"]


def test_an_ask_has_a_context_in_the_second_generation() -> None:
    assert SECOND.expectation({"ask": "yesno", "code": ["a"], "entities": {"NUMBER_0": 1}}) == {
        "type": "askSpecial",
        "ask": "yesno",
        "context": {"code": ["a"], "entities": {"NUMBER_0": 1}},
    }
    assert SECOND.expectation({"ask": None})["context"] == {"code": ["null"], "entities": {}}
    assert FIRST.expectation({"ask": "yesno", "code": ["a"]}) == {
        "type": "askSpecial",
        "ask": "yesno",
    }


def test_an_error_goes_by_both_names() -> None:
    assert error_frame(ErrorResponse(429, "too much", "overloaded")) == {
        "type": "error",
        "error": "too much",
        "message": "too much",
        "code": "overloaded",
    }


def test_a_result_is_drawn_once_in_either_generation() -> None:
    told = [
        said(type="text", text="Here it is."),
        said(type="text", text="21 degrees"),
        said(type="result", result={"value": 21}, fallback="21 degrees"),
    ]
    first = [FIRST.message(row) for row in FIRST.select_rows(told)]
    second = [SECOND.message(row) for row in SECOND.select_rows(told)]

    assert [one["type"] for one in first if one] == ["text", "result"]
    assert [one["text"] for one in second if one] == ["Here it is.", "21 degrees"]
    assert FIRST.select_rows([]) == []


def test_the_first_generation_is_not_shown_choices_again_that_were_answered() -> None:
    choice, button = {"type": "choice", "idx": 0, "title": "Red"}, {"type": "button", "title": "B"}
    words = row({"type": "command", "command": "red"})
    before, after = [row(choice), row(button)], [said(type="text", text="Ok."), row(choice)]
    rows = [*before, words, *after]

    assert FIRST.select_earlier_rows(rows, "choice") == [words, *after]
    assert FIRST.select_earlier_rows(rows, None) == [words, after[0]]
    assert SECOND.select_earlier_rows(rows, None) == rows
