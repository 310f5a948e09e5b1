"""The BBAI data: gold agents, responses, the traps of the files, and the published counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.cli.main import run
from prolocutor.errors import BadData, BadInput, NotFound
from prolocutor.plugins.pairing.measuring.bbai import Bbai

AGENTS = (
    "alexa", "google", "houndify", "recipe", "dictionary", "task_manager", "hotel", "stock",
    "math", "sport", "wikipedia", "mobile", "banking", "coffee", "event_search", "jokes",
    "reminders", "adasa", "covid",
)  # fmt: skip
SHARED = Path(__file__).parents[6] / "shared" / "data" / "bbai"


def entry(human: list[str], intent: str = "weather") -> dict[str, Any]:
    votes = dict.fromkeys((*AGENTS, "none", "intent"), 0) | {"google": 3, "none": 2}
    responses = {name: f"{name} says" for name in AGENTS} | {"math": ""}
    return {"human_vote": votes, **responses, "intent": intent, "human": human}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def write(name: str, value: Any) -> None:
        (tmp_path / name).write_text(json.dumps(value))

    test = {
        "sun?": entry(["google"]),
        "who?": entry(["none"], "wikipedia"),
        "rain?": entry(["none", "alexa", "math"]),
    }
    write("test.json", test)
    write("test_classifier.json", [["sun?", ["google"]]])
    write("train_classifier.json", [["hi", ["jokes"]], ["ho", ["alexa", "google"]]])
    write("descriptions.json", {"alexa": "speaks", "sports": "runs"})
    return tmp_path


def test_the_labels_are_the_gold_agents(folder: Path) -> None:
    sun, who, rain = (one[0] for one in Bbai(folder).episodes())

    assert sun["labels"] == ["google"]
    assert sun["gold"] == ["google"]
    assert sun["intent"] == "weather"
    assert sun["label_candidates"] == list(AGENTS)
    assert "labels" not in who
    assert who["gold"] == []
    assert "labels" not in rain
    assert rain["gold"] == []


def test_the_labels_can_be_their_responses(folder: Path) -> None:
    sun, *_ = (one[0] for one in Bbai(folder, labels="responses").episodes())

    assert sun["labels"] == ["google says"]
    assert sun["label_candidates"] == ["" if name == "math" else f"{name} says" for name in AGENTS]


def test_votes_and_responses_are_those_of_agents(folder: Path) -> None:
    sun = next(Bbai(folder).episodes())[0]

    assert sun["votes"] == dict.fromkeys(AGENTS, 0) | {"google": 3, "none": 2}
    assert list(sun["responses"]) == list(AGENTS)


def test_where_responses_are_not_to_be_had_questions_are(folder: Path) -> None:
    train = Bbai(folder, fold="train")

    assert not train.has_responses
    assert [one[0]["labels"] for one in train.episodes()] == [["jokes"], ["alexa", "google"]]
    assert "responses" not in next(train.episodes())[0]


def test_the_agents_are_those_of_the_folder(folder: Path, tmp_path: Path) -> None:
    assert Bbai(folder).agents == list(AGENTS)

    (folder / "test.json").unlink()

    assert Bbai(folder, fold="train").agents == ["jokes", "alexa", "google"]


def test_descriptions_have_the_names_that_all_else_uses(folder: Path) -> None:
    assert Bbai(folder).descriptions() == {"alexa": "speaks", "sport": "runs"}


def test_the_counts_are_those_that_the_data_describe(folder: Path) -> None:
    rows = [
        (row.fold, row.questions, row.with_gold, row.pairs, row.agents, row.domains)
        for row in Bbai(folder).counts()
    ]

    assert rows == [("train", 2, 2, 0, 3, 0), ("test", 3, 1, 57, 19, 2), ("all", 5, 3, 57, 19, 2)]


def test_the_counts_of_the_public_data() -> None:
    if not SHARED.is_dir():
        pytest.skip("BBAI data (../shared/data/bbai is absent)")

    train, test, _ = Bbai(SHARED).counts()

    assert train.with_gold == 2399
    assert test.agents == 19
    assert test.domains == 37
    assert test.pairs == 19 * test.questions


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"q": entry(["nobody"])}, "human: question 1"),
        ({"q": {**entry([]), "alexa": None}}, "alexa: question 1"),
        ({"q": "text"}, "question 1: is not a text with an object"),
        ([["q"]], "question 1: is not a pair"),
    ],
)
def test_a_fault_names_file_and_question(folder: Path, value: Any, told: str) -> None:
    (folder / "test.json").write_text(json.dumps(value))

    with pytest.raises(BadData) as refused:
        list(Bbai(folder).episodes())

    assert str(refused.value).startswith(f"{folder / 'test.json'}: {told}")


def test_other_labels_and_folders_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="neither agents nor responses"):
        Bbai(folder, labels="votes")
    with pytest.raises(NotFound):
        Bbai(tmp_path / "nowhere").counts()


def test_they_are_counted_by_folds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train_classifier.json").write_text('[["hi", ["jokes"]]]')

    assert run(["data", "stats", "--data", f"bbai:{tmp_path}"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == "fold questions with gold pairs agents domains".split()
    assert lines[1].split() == ["train", "1", "1", "0", "1", "0"]
