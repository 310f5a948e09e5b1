"""The runs of a folder as a console reads them."""

import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.contracts.run_reading import RowQuery
from prolocutor.errors import BadInput, NotFound
from prolocutor.plugins.evaluation import evaluate, run_shelf
from prolocutor.plugins.evaluation.run_shelf import RunShelf

MESSAGES = [
    {
        "text": f"{n} is",
        "labels": ["odd" if n % 2 else "even"],
        "domain": "small" if n < 4 else "big",
    }
    for n in range(8)
]


class Guesser:
    """Answers what it is told; raises for some."""

    def __init__(self, wrong: set[int], broken: set[int]) -> None:
        self.wrong, self.broken = wrong, broken

    def __call__(self, text: str) -> dict[str, Any]:
        n = int(text.split()[0])
        if n in self.broken:
            raise ValueError("no luck")
        right = "odd" if n % 2 else "even"
        return {"text": "none" if n in self.wrong else right, "id": "guesser"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs over the same examples."""
    place = tmp_path_factory.mktemp("runs")
    evaluate(Guesser({1, 2}, {5}), MESSAGES, out=place / "before")
    evaluate(Guesser({2, 3}, set()), MESSAGES, out=place / "after")
    return place


def test_runs_are_listed_with_their_figures_the_latest_first(folder: Path) -> None:
    after, before = RunShelf(folder).list_runs()

    assert after.name == "after"
    assert before.name == "before"
    assert before.examples == 8
    assert before.failed == 1
    assert before.complete is True
    assert {one.name: one.value for one in after.figures}["accuracy"] == 0.75


def test_a_run_has_figures_with_intervals_and_groups(folder: Path) -> None:
    run = RunShelf(folder).details("before")
    accuracy = next(one for one in run.metrics if one.name == "accuracy")

    assert run.counts == {"won": 5, "lost": 2, "failed": 1}
    assert accuracy.low is not None
    assert accuracy.high is not None
    assert accuracy.low < accuracy.value == 0.625 < accuracy.high
    assert [one.name for one in run.groups] == ["big", "small"]


def test_rows_are_paged_by_kind(folder: Path) -> None:
    shelf = RunShelf(folder)
    first = shelf.rows("before", RowQuery(kind="won"), 0, 3)
    assert first.next is not None
    rest = shelf.rows("before", RowQuery(kind="won"), first.next, 3)
    (failed,) = shelf.rows("before", RowQuery(kind="failed"), 0, 50).items

    big = shelf.rows("before", RowQuery(kind="won", group="big"), 0, 50).items

    assert [one.n for one in (*first.items, *rest.items)] == [0, 3, 4, 6, 7]
    assert [one.n for one in big] == [4, 6, 7]
    assert rest.next is None
    assert failed.text == "5 is"
    assert failed.labels == ["odd"]
    assert failed.here.error == "ValueError: no luck"


def test_two_runs_count_the_examples_that_failed_here(folder: Path) -> None:
    pairs = RunShelf(folder).details("before", "after").pairs
    assert pairs is not None

    shown = RunShelf(folder).rows("before", RowQuery(kind="failed", against="after"), 0, 50)

    assert pairs.failed == len(shown.items) == 1


def test_two_runs_show_what_flipped(folder: Path) -> None:
    shelf = RunShelf(folder)
    pairs = shelf.details("after", "before").pairs
    assert pairs is not None
    won = shelf.rows("after", RowQuery(kind="won", against="before"), 0, 50).items
    lost = shelf.rows("after", RowQuery(kind="lost", against="before"), 0, 50).items

    assert pairs.pairs == 8
    assert pairs.won == 2
    assert pairs.lost == 1
    assert pairs.only_here == 0
    assert [one.n for one in won] == [1, 5]
    assert [(one.n, one.here.text, one.there and one.there.text) for one in lost] == [
        (3, "none", "odd")
    ]
    assert pairs.differences[0].difference.value == pytest.approx(0.125)


def test_a_name_that_is_not_in_the_list_is_unknown(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder / "before")
    (tmp_path / "empty").mkdir()
    for name in ("../before", str(folder / "before"), "link", "empty", "", ".", "..", "a\0b"):
        with pytest.raises(NotFound):
            RunShelf(tmp_path).details(name)


def damaged(tmp_path: Path, file: str, text: str) -> RunShelf:
    place = tmp_path / "run"
    place.mkdir()
    run = {"configuration": {}, "complete": True, "started": "2026-11-20"}
    (place / "run.json").write_text(json.dumps(run))
    (place / file).write_text(text)
    return RunShelf(tmp_path)


@pytest.mark.parametrize(
    ("file", "text"),
    [("run.json", "{"), ("report.json", "[]"), ("rows.jsonl", "{}\n"), ("rows.jsonl", "\0\n")],
)
def test_a_damaged_run_says_what_is_wrong_and_the_others_are_listed(
    tmp_path: Path, file: str, text: str
) -> None:
    shelf = damaged(tmp_path, file, text)
    with pytest.raises(BadInput, match=r"damaged|cannot be read"):
        shelf.details("run")

    assert [one.name for one in shelf.list_runs()] == ["run"]


def test_a_run_that_is_too_large_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_shelf, "MAX_BYTES", 10)
    monkeypatch.setattr(run_shelf, "MAX_HEAD", 200)
    shelf = damaged(tmp_path, "rows.jsonl", " " * 50)
    with pytest.raises(BadInput, match=r"MB"):
        shelf.rows("run", RowQuery(), 0, 50)
    (tmp_path / "run" / "report.json").write_text(" " * 500)

    assert "report.json is larger" in str(shelf.list_runs()[0].error)


def test_a_run_that_was_cut_off_shows_its_rows_so_far(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "run"
    place.mkdir()
    run = json.loads((folder / "before" / "run.json").read_text())
    (place / "run.json").write_text(json.dumps({**run, "complete": False}))
    lines = (folder / "before" / "rows.jsonl").read_text().splitlines(keepends=True)
    (place / "rows.jsonl").write_text(
        "".join([lines[3], lines[0], lines[1], lines[2], lines[4][:20]])
    )
    shelf = RunShelf(tmp_path)

    assert shelf.details("run").note.startswith("the run has not ended")
    assert [one.n for one in shelf.rows("run", RowQuery(), 0, 50).items] == [0, 1, 2, 3]


def test_without_a_folder_there_are_no_runs(tmp_path: Path) -> None:
    assert RunShelf(tmp_path / "nowhere").list_runs() == []
