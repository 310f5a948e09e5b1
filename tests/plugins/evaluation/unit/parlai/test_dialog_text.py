"""ParlAI dialog text without the quirks: faults have a place, and nothing is lost."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.errors import BadData, NotFound
from prolocutor.plugins.evaluation.parlai.dialog_text import (
    DialogText,
    DialogTextWriter,
    read_line,
    write_line,
)

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        file = tmp_path / "dialogs.txt"
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        return file

    return written


def test_lines_belong_together_until_episode_done(write: Write) -> None:
    file = write("text:a\tlabels:b\n\ntext:c\tlabels:d\tepisode_done:True\ntext:e\tlabels:f|g\n")

    assert list(DialogText(file).episodes()) == [
        [{"text": "a", "labels": ["b"]}, {"text": "c", "labels": ["d"]}],
        [{"text": "e", "labels": ["f", "g"]}],
    ]


def test_episode_done_false_is_false_unless_quirks_are_wanted(write: Write) -> None:
    file = write("text:a\tlabels:b\tepisode_done:False\ntext:c\tlabels:d\n")

    assert [len(one) for one in DialogText(file).episodes()] == [2]
    assert [len(one) for one in DialogText(file, quirks=True).episodes()] == [1, 1]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("text:a", "labels: is missing"),
        ("labels:a", "text: is missing"),
        ("text:a\tlabels:b\teval_labels:c", "eval_labels: gold answers belong into labels"),
        ("text:a\tlabels:b\tnonsense", "nonsense: 'nonsense' has no colon"),
        ("text:a\tlabels:b\ttext:c", "text: the key occurs twice"),
        ("text:a\t labels:b", "labels: there are spaces around the key"),
        ("text:a\tlabels:b\t:c", "there is no key before the colon"),
        ("text:a\tlabels:b\tepisode_done:yes", "episode_done: 'yes' is neither True nor False"),
        ("text:a\tlabels:b\treward:x", "reward: 'x' is not a number"),
        ("text:a\tlabels:b\treward:nan", "reward: 'nan' is not a finite number"),
        ("text:\udcff\tlabels:b", "not UTF-8 at byte 6"),
    ],
)
def test_a_fault_names_file_line_and_field(write: Write, line: str, told: str) -> None:
    file = write(f"text:a\tlabels:b\n{line}\n")

    with pytest.raises(BadData) as refused:
        list(DialogText(file).episodes())

    assert str(refused.value).startswith(f"{file}:2: {told}")


def test_faults_can_be_collected_instead(write: Write) -> None:
    file = write("text:a\nlabels:b\ntext:c\tlabels:d\n")
    faults: list[BadData] = []

    episodes = list(DialogText(file, on_fault=faults.append).episodes())

    assert episodes == [[{"text": "c", "labels": ["d"]}]]
    assert [(one.line, one.field) for one in faults] == [(1, "labels"), (2, "text")]


def test_files_from_windows_are_read(write: Write) -> None:
    file = write("\ufefftext:a\tlabels:b\r\n\r\n")

    assert list(DialogText(file).episodes()) == [[{"text": "a", "labels": ["b"]}]]


def test_only_a_line_feed_ends_a_line(write: Write) -> None:
    file = write("text:a\u2028b\x85c\x0bd\re\tlabels:f\n")

    assert next(DialogText(file).episodes())[0]["text"] == "a\u2028b\x85c\x0bd\re"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"nowhere\.txt: there is no such file"):
        list(DialogText(tmp_path / "nowhere.txt").episodes())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", "literal \\n"),
        ("text", "literal __PIPE__"),
        ("text", "ends with return\r\n\\t"),
        ("labels", []),
        ("labels", {"a"}),
        ("number", 5),
        ("list", ["a", "b"]),
        ("nested", {"a": 1}),
        ("absent", None),
        ("a:b", "x"),
        (" key", "x"),
        ("extra", "return at the end\r"),
        ("reward", True),
        ("reward", float("nan")),
    ],
)
def test_what_would_be_lost_is_refused_by_field(field: str, value: Any) -> None:
    message = {"text": "t", "labels": ["l"], field: value}

    with pytest.raises(BadData) as refused:
        write_line(message)

    assert refused.value.field == field.strip()


def test_nothing_is_left_of_a_file_whose_writing_failed(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    file.write_text("before")

    with contextlib.suppress(BadData), DialogTextWriter(file) as writer:
        writer.write([{"text": "a", "labels": ["b"]}])
        writer.write([{"text": "a"}])

    assert [one.name for one in tmp_path.iterdir()] == ["out.txt"]
    assert file.read_text() == "before"


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
MESSAGES = st.fixed_dictionaries(
    {"text": TEXTS, "labels": st.lists(TEXTS)},
    optional={
        "label_candidates": st.lists(TEXTS, min_size=1),
        "reward": st.one_of(st.integers(), st.floats()),
        "id": TEXTS,
        "extra": st.one_of(TEXTS, st.integers(), st.none()),
    },
)


@given(MESSAGES)
def test_a_written_line_is_read_as_the_same_message_or_not_written(message: dict[str, Any]) -> None:
    try:
        line = write_line(message)
    except BadData:
        return

    expected = {key: one for key, one in message.items() if key != "reward" or one != 0}
    assert read_line(line) == {**expected, "episode_done": False}


@given(st.lists(st.lists(MESSAGES, min_size=1, max_size=3), max_size=4))
def test_a_written_file_is_read_as_the_same_episodes(
    tmp_path_factory: pytest.TempPathFactory, episodes: list[list[dict[str, Any]]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "round.txt"
    try:
        with DialogTextWriter(file) as writer:
            for episode in episodes:
                writer.write(episode)
    except BadData:
        return

    again = list(DialogText(file).episodes())

    for fields in ("text", "labels", "extra"):
        assert [[one.get(fields) for one in episode] for episode in again] == [
            [one.get(fields) for one in episode] for episode in episodes
        ]
