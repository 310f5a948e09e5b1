"""The index of a file of rows, whatever order they came in."""

import random
from pathlib import Path

import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.example_rows import (
    RowIndex,
    RowWriter,
    decode,
    put_in_order,
    starts_in_order,
)
from prolocutor.plugins.evaluation.owned_folder import whole_lines
from tests.plugins.evaluation.unit.made import row


def written(folder: Path, *places: tuple[int, int, int], error: str | None = None) -> Path:
    """A file with a row for each (episode, repeat, turn)."""
    file = folder / "rows.jsonl"
    writer = RowWriter(file)
    for n, (episode, repeat, turn) in enumerate(places):
        example = f"{episode:08x}{turn:08x}"
        fields = {"episode": episode, "repeat": repeat, "turn": turn, "example": example}
        writer.write([row(n, {}, **fields, last=turn == 1, error=error)])
    writer.close()
    return file


def test_rows_are_put_in_order_and_the_last_of_equal_ones_stays(tmp_path: Path) -> None:
    places = [
        (episode, repeat, turn) for episode in range(9) for repeat in (0, 1) for turn in (0, 1)
    ]
    shuffled = places * 2
    random.Random(1).shuffle(shuffled)
    last = {place: n for n, place in enumerate(shuffled)}
    file = written(tmp_path, *shuffled)

    put_in_order(file)

    rows = [decode(line) for *_, line in whole_lines(file)]
    found = [((one.episode, one.repeat, one.turn), one.n) for one in rows]
    assert found == [(place, last[place]) for place in places]
    assert starts_in_order(file) is None


def test_an_episode_that_was_asked_again_is_known_by_its_new_rows(tmp_path: Path) -> None:
    index = RowIndex.load(written(tmp_path, (3, 0, 0), (3, 0, 1), (4, 0, 0), (3, 0, 0)))

    again, cut_off = index.find(3, 0), index.find(4, 0)
    assert again is not None
    assert cut_off is not None
    assert len(again) == 1
    assert again.whole is False
    assert index.in_order is False
    assert len(cut_off) == 1
    assert cut_off.whole is False
    assert index.find(3, 1) is None


def test_the_first_example_that_changed_is_found(tmp_path: Path) -> None:
    rows = RowIndex.load(written(tmp_path, (0, 0, 0), (0, 0, 1))).find(0, 0)
    same, other = ["0000000000000000", "0000000000000001", "ff" * 8], ["0" * 16, "ff" * 8]

    assert rows is not None
    assert rows.whole
    assert rows.first_change(same) is None
    assert rows.first_change(other) == 1


def test_a_failed_row_is_known(tmp_path: Path) -> None:
    rows = RowIndex.load(written(tmp_path, (0, 0, 0), (0, 0, 1), error="no")).find(0, 0)

    assert rows is not None
    assert rows.failed


@pytest.mark.parametrize("line", ["{}\n", '{"episode":0,"turn":0,"example":"no hash"}\n'])
def test_a_line_that_is_no_row_is_refused(line: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(line)

    with pytest.raises(BadInput, match=r"rows\.jsonl"):
        RowIndex.load(file)
