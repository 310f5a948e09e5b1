"""ParlAI's conversations, read for either speaker and written back."""

import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.errors import BadData, BadInput
from prolocutor.plugins.evaluation.parlai.conversations import (
    Conversations,
    ConversationsWriter,
    read_turns,
)
from prolocutor.plugins.evaluation.parlai.message import Message


def turn(speaker: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": speaker, "text": text, **more}


TURNS = [turn("ann", "a1"), turn("bob", "b1", score=2), turn("ann", "a2"), turn("bob", "b2")]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.jsonl"
    context = [turn("context", "persona")]
    lines: list[dict[str, Any]] = [
        {"dialog": [context, TURNS[:2], TURNS[2:]], "context": [turn("x", "y")]},
        {"dialog": [[turn("ann", "alone")]]},
    ]
    file.write_text("\n\n".join(map(json.dumps, lines)), encoding="utf-8")
    return file


def pairs(episodes: list[list[Message]]) -> list[list[tuple[str, str]]]:
    return [[(one["text"], one["labels"][0]) for one in episode] for episode in episodes]


@pytest.mark.parametrize(
    ("label_turns", "expected"),
    [
        ("secondspeaker", [[("a1", "b1"), ("a2", "b2")]]),
        ("firstspeaker", [[("__SILENCE__", "a1"), ("b1", "a2")], [("__SILENCE__", "alone")]]),
        (
            "both",
            [
                [("__SILENCE__", "a1"), ("b1", "a2")],
                [("a1", "b1"), ("a2", "b2")],
                [("__SILENCE__", "alone")],
            ],
        ),
    ],
)
def test_labels_are_the_turns_of_the_speaker_that_is_asked_for(
    log: Path, label_turns: str, expected: list[Any]
) -> None:
    assert pairs(list(Conversations(log, label_turns=label_turns).episodes())) == expected


def test_both_turns_are_kept_whole(log: Path) -> None:
    first = next(Conversations(log).episodes())[0]

    assert first["x_turn"] == TURNS[0]
    assert first["y_turn"] == TURNS[1]


def test_other_label_turns_are_refused(log: Path) -> None:
    with pytest.raises(BadInput, match="none of secondspeaker, firstspeaker, both"):
        Conversations(log, label_turns="third")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[]", "dialog: is missing"),
        ('{"dialog": [{}]}', "dialog[0]: is not a list of turns"),
        ('{"dialog": [[1]]}', "dialog[0][0]: is not an object"),
        ('{"dialog": [[{"id": "a"}]]}', "dialog[0][0].text: is not a text"),
    ],
)
def test_a_fault_names_file_line_and_field(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text('{"dialog": []}\n' + line)

    with pytest.raises(BadData) as refused:
        list(Conversations(file).episodes())

    assert str(refused.value).startswith(f"{file}:2: {told}")


def test_conversations_are_written_as_they_were_read(log: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    episodes = list(Conversations(log).episodes())

    with ConversationsWriter(again) as writer:
        for episode in episodes:
            writer.write(episode)

    assert list(Conversations(again).episodes()) == episodes
    assert [read_turns(line) for line in again.read_text().splitlines()] == [TURNS]


def test_metadata_stand_beside_the_file(log: Path, tmp_path: Path) -> None:
    with ConversationsWriter(tmp_path / "again.jsonl", opt={"task": "t"}) as writer:
        writer.write(next(Conversations(log).episodes()))

    metadata = json.loads((tmp_path / "again.metadata").read_text())
    assert metadata.pop("date")
    assert metadata == {
        "opt": {"task": "t"},
        "self_chat": False,
        "speakers": ["ann", "bob"],
        "version": "0.1",
    }


def test_plain_questions_and_answers_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "plain.jsonl"

    with ConversationsWriter(file) as writer:
        writer.write([{"text": "q", "labels": ("a",), "id": "ann"}])

    assert [one["dialog"] for one in map(json.loads, file.read_text().splitlines())] == [
        [[turn("ann", "q"), turn("assistant", "a")]]
    ]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"labels": ["a", "b"]}, "labels"),
        ({"labels": []}, "labels"),
        ({"reward": 1}, "reward"),
        ({"label_candidates": ["a"]}, "label_candidates"),
        ({"id": "context"}, "id"),
        ({"x_turn": turn("ann", "other"), "y_turn": turn("bob", "a")}, "text"),
    ],
)
def test_what_would_be_lost_is_refused(tmp_path: Path, more: dict[str, Any], field: str) -> None:
    with (
        pytest.raises(BadData) as refused,
        ConversationsWriter(tmp_path / "out.jsonl") as writer,
    ):
        writer.write([{"text": "q", "labels": ["a"], **more}])

    assert refused.value.field == field
