"""Plain JSON lines, and CSV: one example each, no field lost."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.csv_table import CsvTable, CsvWriter, column_names
from prolocutor.plugins.evaluation.parlai.json_lines import JsonLines, JsonLinesWriter, read_example


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"text":"q","labels":["a"]}', {"text": "q", "labels": ["a"]}),
        ('{"text":"q","labels":"a"}', {"text": "q", "labels": ["a"]}),
        ('{"text":"q","label":"a"}', {"text": "q", "labels": ["a"]}),
        ('{"text":"q","starts":[1,{"x":null}]}', {"text": "q", "starts": [1, {"x": None}]}),
    ],
)
def test_a_line_is_an_example(line: str, expected: dict[str, Any]) -> None:
    assert read_example(line) == expected


def test_fields_can_have_other_names(tmp_path: Path) -> None:
    file = tmp_path / "qa.jsonl"
    file.write_text('{"question":"q","answer":"a"}\n')

    source = JsonLines(file, text="question", labels="answer")

    assert list(source.episodes()) == [[{"text": "q", "labels": ["a"]}]]


def test_lines_stand_alone_unless_they_say_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "qa.jsonl"
    file.write_text('{"text":"a"}\n\n{"text":"b","episode_done":false}\n{"text":"c"}\n')

    assert list(JsonLines(file).episodes()) == [[{"text": "a"}], [{"text": "b"}, {"text": "c"}]]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[]", "a line is an object"),
        ("{}", "text: is missing"),
        ('{"text":1}', "text: is not a text"),
        ('{"text":"a","labels":[1]}', "labels: is not a list of texts"),
        ('{"text":"a","eval_labels":[]}', "eval_labels: gold answers belong into labels"),
        ('{"text":"a","episode_done":"no"}', "episode_done: is neither true nor false"),
        ('{"text":"a","reward":"1"}', "reward: is not a number"),
    ],
)
def test_a_fault_names_file_line_and_field(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "qa.jsonl"
    file.write_text('{"text":"a"}\n' + line + "\n")

    with pytest.raises(BadData) as refused:
        list(JsonLines(file).episodes())

    assert str(refused.value).startswith(f"{file}:2: {told}")


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, {1: "a"}, float("nan"), object()])
def test_what_json_would_lose_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(BadData), JsonLinesWriter(tmp_path / "out.jsonl") as writer:
        writer.write([{"text": "a", "x": value}])


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.text(),
              st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=5,
)  # fmt: skip
EXAMPLES = st.fixed_dictionaries(
    {"text": st.text()}, optional={"labels": st.lists(st.text()), "x": JSON, "y": JSON}
)
EPISODES = st.lists(st.lists(EXAMPLES, min_size=1, max_size=3), max_size=3)


@given(EPISODES)
def test_written_json_lines_are_read_as_the_same_episodes(
    tmp_path_factory: pytest.TempPathFactory, episodes: list[list[dict[str, Any]]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "round.jsonl"

    with JsonLinesWriter(file) as writer:
        for episode in episodes:
            writer.write(episode)

    assert list(JsonLines(file).episodes()) == episodes


def test_a_csv_file_has_a_head_of_field_names(tmp_path: Path) -> None:
    file = tmp_path / "qa.csv"
    file.write_bytes(
        b'\xef\xbb\xbftext,labels,reward,note\r\n"a, ""b""",x|y__PIPE__z,0.5,\r\nc,,,"d\r\ne"\r\n'
    )

    assert list(CsvTable(file).episodes()) == [
        [{"text": 'a, "b"', "labels": ["x", "y|z"], "reward": 0.5}],
        [{"text": "c", "note": "d\r\ne"}],
    ]


def test_columns_can_have_other_names(tmp_path: Path) -> None:
    file = tmp_path / "qa.csv"
    file.write_text("question,label,episode_done\nq,a|b,false\nr,c,\n")

    source = CsvTable(file, text="question")

    assert list(source.episodes()) == [
        [{"text": "q", "labels": ["a|b"]}, {"text": "r", "labels": ["c"]}]
    ]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("a,b,c", "the row has 3 cells, the head 2"),
        ("a,x", "reward: 'x' is not a number"),
        ('a,"1', "not CSV"),
    ],
)
def test_a_fault_in_csv_names_file_line_and_field(tmp_path: Path, row: str, told: str) -> None:
    file = tmp_path / "qa.csv"
    file.write_text(f"text,reward\na,1\n{row}\n")

    with pytest.raises(BadData) as refused:
        list(CsvTable(file).episodes())

    assert str(refused.value).startswith(f"{file}:3: {told}")


def test_a_csv_file_without_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "qa.csv"
    file.write_text("question,answer\nq,a\n")

    with pytest.raises(BadData, match="text: no column has this name; there are question, answer"):
        list(CsvTable(file).episodes())


CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ROWS = st.fixed_dictionaries(
    {"text": CELLS},
    optional={
        "labels": st.lists(CELLS, max_size=3),
        "reward": st.one_of(st.integers(), st.floats(allow_nan=False)),
        "note": st.one_of(CELLS, st.integers()),
    },
)


@given(st.lists(st.lists(ROWS, min_size=1, max_size=3), max_size=3))
def test_written_csv_is_read_as_the_same_episodes_or_not_written(
    tmp_path_factory: pytest.TempPathFactory, episodes: list[list[dict[str, Any]]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "round.csv"
    try:
        with CsvWriter(file, column_names(episodes)) as writer:
            for episode in episodes:
                writer.write(episode)
    except BadData:
        return

    assert list(CsvTable(file).episodes()) == episodes
