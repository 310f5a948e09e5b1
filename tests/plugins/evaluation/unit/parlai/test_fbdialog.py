"""FbDialog format, as ParlAI reads it, with places for faults."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.fbdialog import FbDialog, FbDialogWriter, read_candidates
from prolocutor.plugins.evaluation.parlai.message import Message

BABI = """1 Sam went to the kitchen.
2 Pat gave Sam the milk.
3 Where is the milk?\tkitchen\t1\thallway|kitchen|bathroom
4 Sam went to the hallway.
5 Where is the milk?\thallway|hall\t0.5
1 Hi\tHello
2 and?
"""


def episodes(tmp_path: Path, text: str, **options: Any) -> list[list[Message]]:
    file = tmp_path / "fb.txt"
    file.write_text(text, encoding="utf-8", newline="")
    return list(FbDialog(file, **options).episodes())


def test_context_goes_before_the_next_text_and_rewards_add_up(tmp_path: Path) -> None:
    assert episodes(tmp_path, BABI) == [
        [
            {
                "text": "Sam went to the kitchen.\nPat gave Sam the milk.\nWhere is the milk?",
                "labels": ["kitchen"],
                "reward": 1.0,
                "label_candidates": ["hallway", "kitchen", "bathroom"],
            },
            {
                "text": "Sam went to the hallway.\nWhere is the milk?",
                "labels": ["hallway", "hall"],
                "reward": 0.5,
            },
        ],
        [{"text": "Hi", "labels": ["Hello"], "reward": 0}, {"text": "and?", "reward": 0}],
    ]


def test_rewards_of_context_count_too(tmp_path: Path) -> None:
    assert episodes(tmp_path, "1 a\t\t2\n2 b\tc\t1\n")[0][0]["reward"] == 3.0


def test_escaped_newlines_are_newlines(tmp_path: Path) -> None:
    assert episodes(tmp_path, "1 a\\nb\tc\\nd\n")[0][0] == {
        "text": "a\nb",
        "labels": ["c\nd"],
        "reward": 0,
    }


def test_cloze_words_go_first(tmp_path: Path) -> None:
    read = episodes(tmp_path, "1 A _ sat.\tcat\n", cloze=True)

    assert read[0][0]["text"] == "Fill in the blank in the last sentence.\nA _ sat."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("hello", "the line begins with 'hello'"),
        ("1 a\tb\tx", "reward: 'x' is not a finite number"),
        ("1 a\tb\t1\tc|d", "label_candidates: the label 'b' is not among them"),
        ("1 a\tb\t1\tb\ti\tj", "6 columns"),
    ],
)
def test_a_fault_names_file_line_and_field(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(BadData, match=r"fb\.txt:2: ") as refused:
        episodes(tmp_path, f"1 a\tb\n{line}\n")

    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hall\nkitchen\\n\n\n", ["hall", "kitchen\n"]),
        ("1 hall\n2 the kitchen\n", ["hall", "the kitchen"]),
        ("1 where?\thall\n2 and?\n3 then?\tkitchen\t1\n", ["hall", "kitchen"]),
    ],
)
def test_candidates_are_lines_or_replies(tmp_path: Path, text: str, expected: list[str]) -> None:
    file = tmp_path / "candidates.txt"
    file.write_text(text)

    assert [one.strip() for one in read_candidates(file)] == [one.strip() for one in expected]


@pytest.mark.parametrize(
    "message",
    [
        {"text": " lead", "labels": ["a"]},
        {"text": "a", "labels": ["b|c"]},
        {"text": "a", "labels": ["tab\there"]},
        {"text": "a\\n", "labels": ["b"]},
        {"text": "a", "labels": ["b"], "id": "ann"},
        {"text": "a", "labels": ["b"], "label_candidates": ["c"]},
    ],
)
def test_what_would_be_lost_is_refused(tmp_path: Path, message: dict[str, Any]) -> None:
    with pytest.raises(BadData), FbDialogWriter(tmp_path / "out.txt") as writer:
        writer.write([message])


def test_an_example_without_labels_inside_an_episode_is_refused(tmp_path: Path) -> None:
    episode = [{"text": "a"}, {"text": "b", "labels": ["c"]}]

    with (
        pytest.raises(BadData, match="labels: has no labels"),
        FbDialogWriter(tmp_path / "out.txt") as writer,
    ):
        writer.write(episode)


WORDS = st.text(st.sampled_from("ab \n|\\n\t"), max_size=6)
MESSAGES = st.fixed_dictionaries(
    {"text": WORDS, "labels": st.lists(WORDS, min_size=1, max_size=2)},
    optional={"reward": st.sampled_from([0, 1, 0.5]), "label_candidates": st.lists(WORDS)},
)


@given(st.lists(st.lists(MESSAGES, min_size=1, max_size=2), max_size=3))
def test_a_written_file_is_read_as_the_same_episodes(
    tmp_path_factory: pytest.TempPathFactory, given_: list[list[dict[str, Any]]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "fb.txt"
    try:
        with FbDialogWriter(file) as writer:
            for episode in given_:
                writer.write(episode)
    except BadData:
        return

    expected = [[{"reward": 0, **message} for message in episode] for episode in given_]
    assert list(FbDialog(file).episodes()) == expected
