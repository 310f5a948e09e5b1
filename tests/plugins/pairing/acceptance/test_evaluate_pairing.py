"""`prolocutor evaluate pairing` as a person types it: a table, JSON, a page, and clear refusals."""

import json
import sys
from pathlib import Path
from subprocess import PIPE, run

import pytest

from prolocutor.cli.main import run as command_line

PLAIN = (
    "--router",
    "learned,cards",
    "--ranker",
    "unsupervised",
    "--budget",
    "top:2",
    "--folds",
    "3",
)
REPOSITORY = Path(__file__).parents[4]
BBAI = REPOSITORY.parent / "shared" / "data" / "bbai"


def prolocutor(*words: str, folder: Path) -> tuple[int, str, str]:
    told = run(
        [sys.executable, "-m", "prolocutor", *words],
        cwd=folder, capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip
    return told.returncode, told.stdout, told.stderr


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty made-up agents, and the first of the questions to them."""
    folder = tmp_path_factory.mktemp("made")
    made = [sys.executable, str(REPOSITORY / "bench" / "synthetic_agents.py"), str(folder)]
    run(made, check=True, stdout=PIPE)
    for name, most in (("train", 300), ("test", 120)):
        file = folder / f"{name}.jsonl"
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:most]))
    return folder


def test_all_methods_are_set_side_by_side(questions: Path) -> None:
    status, table, _ = prolocutor(
        "evaluate", "pairing", "--data", "jsonl:.", "--cards", "cards.json", *PLAIN,
        "--json", "all.json", folder=questions,
    )  # fmt: skip

    assert status == 0
    found = json.loads((questions / "all.json").read_text())
    rows = {row["method"]: row for row in found["rows"]}
    assert found["n"] == 30
    assert {row["stage"] for row in rows.values()} == {"route", "rank", "budget"}
    assert {"precision_at_1", "low", "high", "mean_calls", "cost", "ms", "ece", "domains"} <= set(
        rows["learned"]
    )
    assert rows["learned"]["low"] > rows["best single agent"]["precision_at_1"]
    assert rows["unsupervised, top:2"]["mean_calls"] == 2
    assert all(f"{name}  " in table for name in rows)


def test_fewer_agents_are_chosen_from(questions: Path) -> None:
    status, table, _ = prolocutor(
        "evaluate", "pairing", "--data", "jsonl:.", "--agents", "agent_0,agent_1,agent_2",
        "--router", "learned", "--ranker", "none", "--json", "-", folder=questions,
    )  # fmt: skip

    assert status == 0
    assert json.loads(table)["n"] == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--data", "jsonl:nowhere.jsonl"), "there is no such file"),
        (("--data", "jsonl:.", "--router", "learnt"), "did you mean 'learned'?"),
        (("--data", "jsonl:.", "--agents", "nobody"), "there is no agent 'nobody'"),
        (("--data", "jsonl:.", *PLAIN, "--budget", "lots"), "'lots' is not a budget"),
        (("--data", "jsonl:.", "--cards", "test.jsonl"), "test.jsonl: "),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_line(
    questions: Path,
    words: tuple[str, ...],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(questions)

    status = command_line(["evaluate", "pairing", *words])

    error = capsys.readouterr().err
    assert status == 1
    assert told in error
    assert error.splitlines()[-1].startswith("prolocutor: ")


@pytest.mark.long
def test_the_published_data_reach_the_figures_of_their_description(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn (the extra learn)")
    if not BBAI.is_dir():
        pytest.skip("BBAI data (../shared/data/bbai is absent)")

    status, table, _ = prolocutor(
        "evaluate", "pairing", "--data", f"bbai:{BBAI}", "--router", "learned,cards",
        "--ranker", "none", "--json", "-", folder=tmp_path,
    )  # fmt: skip

    assert status == 0
    found = json.loads(table)
    right = {row["method"]: row["precision_at_1"] for row in found["rows"]}
    assert right["learned"] > 0.62
    assert right["cards"] > right["cards, plain BM25"] + 0.03
