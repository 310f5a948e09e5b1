"""Lines of ParlAI dialog text are read and written as ParlAI does, quirks included."""

import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.plugins.evaluation.parlai.formats import msg_to_str, str_to_msg
from prolocutor.plugins.evaluation.parlai.message import Message

VECTORS = Path(__file__).parents[6] / "shared" / "data" / "parlai" / "format.jsonl"


def vectors() -> list[dict[str, Any]]:
    if not VECTORS.is_file():
        pytest.skip("ParlAI vectors (../shared/data/parlai is absent)")
    return [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]


def test_lines_are_read_as_by_parlai() -> None:
    wrong = []
    for one in vectors():
        try:
            read: Any = str_to_msg(one["line"])
        except ValueError as error:
            read = {"__error__": type(error).__name__}
        if read != one["parsed"]:
            wrong.append((one, read))

    assert wrong == []


def test_messages_are_written_as_by_parlai() -> None:
    written = [one for one in vectors() if "message" in one]

    assert written
    assert [msg_to_str(one["message"]) for one in written] == [one["line"] for one in written]


def test_fields_are_left_out_as_by_parlai() -> None:
    """The vectors leave out the reward too, though their description names only the id."""
    written = [one for one in vectors() if "message" in one]

    assert [msg_to_str(one["message"], "id,reward") for one in written] == [
        one["line_without_id"] for one in written
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", None),
        (None, None),
        ("text:a\tepisode_done:False", {"text": "a", "episode_done": True}),
        ("text:a\tepisode_done:", {"text": "a", "episode_done": False}),
        ("text:a\ttext:b", {"text": "b", "episode_done": False}),
        ("nocolon", {"nocolo": "nocolon", "episode_done": False}),
        ("text:a\t:dropped\t", {"text": "a", "episode_done": False}),
        ("reward:1\tlabels:a__PIPE__b|c\\n", {
            "reward": 1, "labels": ["a|b", "c\n"], "episode_done": False
        }),
    ],
)  # fmt: skip
def test_quirks_of_reading(line: str | None, expected: dict[str, Any] | None) -> None:
    assert str_to_msg(line) == expected


def test_a_line_gives_a_message() -> None:
    assert type(str_to_msg("text:a")) is Message


def test_ignored_fields_are_not_read() -> None:
    assert str_to_msg("id:x\ttext:a", "id,text") == {"episode_done": False}


def test_the_usual_fields_come_first() -> None:
    message = {"zz": 1, "reward": 2, "labels": ("a", "b"), "id": "i", "episode_done": True}

    assert msg_to_str(message) == "id:i\tlabels:a|b\tepisode_done:True\treward:2\tzz:1"
