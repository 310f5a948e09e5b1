"""The demonstration answers its exact words alone, with messages and asks of every kind."""

from typing import Any

import pytest

from prolocutor.dialog.messages import ASK_KINDS, KINDS, checked_ask, checked_messages
from prolocutor_demo.demonstration import WORDS, answer


def ask(text: str) -> list[dict[str, Any]]:
    return answer({"human_utterances": [{"text": text}]})


def take(kind: str, value: Any = None) -> str:
    (taken,) = answer(
        {"human_utterances": [{"text": "x"}], "answer": {"kind": kind, "value": value}}
    )
    assert taken["ask"] is None
    return str(taken["text"])


@pytest.mark.parametrize("words", sorted(WORDS))
def test_its_words_are_answered_for_certain_and_in_good_form(words: str) -> None:
    (said,) = ask(words)

    assert said["confidence"] == 1.0
    assert checked_messages(said["messages"])
    assert checked_ask(said["ask"]) == said["ask"]


def test_every_ask_and_every_message_but_a_programs_is_shown() -> None:
    said = [one for words in WORDS for one in ask(words)]

    assert {one["ask"] for one in said} == {None, *ASK_KINDS.names()}
    assert {message["type"] for one in said for message in one["messages"]} == {*KINDS} - {
        "new-program"
    }


@pytest.mark.parametrize(
    "text", ["", "Hello", "hello there", "choose one", "ask", "tell me a joke"]
)
def test_all_else_is_for_others(text: str) -> None:
    assert ask(text) == []


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("yesno", True, "You said yes."),
        ("yesno", False, "You said no."),
        ("choice", {"idx": 1, "title": "Blue"}, "You chose Blue."),
        ("raw_string", "cancel", "Noted: cancel"),
        ("password", "abc", "A password of 3 characters. It is our secret."),
        ("location", {"latitude": 1, "longitude": 2, "display": None}, "You said 1, 2."),
        ("location", {"latitude": 1, "longitude": 2, "display": "Home"}, "You said Home."),
        ("number", 5, "You said 5."),
        ("date", "2026-11-20", "You said 2026-11-20."),
    ],
)
def test_it_says_what_it_was_told(kind: str, value: Any, said: str) -> None:
    assert take(kind, value) == said


def test_who_would_rather_not_gets_no_reply_of_it() -> None:
    assert answer({"answer": {"kind": "cancelled"}}) == []
