"""`prolocutor data`: what data sets hold, whether they can be read, other formats."""

import json
from pathlib import Path

import pytest

from prolocutor.cli.main import run

LINES = (
    "text:a b\tlabels:x\ttopic:t\n"
    "text:c\tlabels:y|z\treward:2\tepisode_done:True\n"
    "text:d\tlabels:x\tlabel_candidates:x|y\n"
)


@pytest.fixture
def dialogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "dialogs.txt").write_text(LINES)
    monkeypatch.chdir(tmp_path)
    return "parlai:dialogs.txt"


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_examples_are_shown_as_a_teacher_says_them(
    dialogs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", "show", "--data", dialogs, "--datatype", "valid"]) == 0

    head = f"--- {tmp_path.name}/dialogs.txt ---\n"
    assert told(capsys) == (
        f"{head}a b\n   eval_labels: x\nc\n   eval_labels: y | z\n   reward: 2\n"
        f"{head}d\n   eval_labels: x\n   label_candidates: x | y\n"
    )


def test_all_messages_can_be_had_as_json(dialogs: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--mutators", "flatten+word_reverse", "--limit", "0", "--json"]

    assert run(["data", "show", "--data", dialogs, *words]) == 0

    messages = [json.loads(line) for line in told(capsys).splitlines()]
    assert [one["text"] for one in messages] == ["b a", "b a\nx\nc", "d"]
    assert [one["episode_done"] for one in messages] == [True] * 3
    assert messages[0]["topic"] == "t"


def test_repeated_data_are_shown_up_to_the_limit(
    dialogs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--datatype", "train", "--limit", "7", "--json"]
    run(["data", "show", "--data", dialogs, "--data", dialogs, "--weights", "1,2", *words])
    first = told(capsys)
    run(["data", "show", "--data", dialogs, "--data", dialogs, "--weights", "1,2", *words])

    assert len(first.splitlines()) == 7
    assert told(capsys) == first


def test_pictures_are_drawn_with_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    image = pytest.importorskip("PIL.Image", reason="images (Pillow is not installed)")
    image.new("L", (28, 28), 255).save(tmp_path / "white.png")
    line = {"text": "which number?", "labels": ["1"], "image": "white.png"}
    (tmp_path / "digits.jsonl").write_text(json.dumps(line))
    monkeypatch.chdir("/")

    data = f"jsonl:{tmp_path / 'digits.jsonl'}"
    assert run(["data", "show", "--data", data, "--image-mode", "ascii"]) == 0

    assert told(capsys).splitlines()[1:30] == [" " * 28] * 28 + ["which number?"]


def test_counts_are_told(dialogs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "stats", "--data", dialogs]) == 0

    lines = told(capsys).splitlines()
    assert "  episodes        2" in lines
    assert "  examples        3" in lines
    assert "  reward          2 in 1 examples" in lines


def test_counts_can_be_had_as_json(dialogs: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["data", "stats", "--data", dialogs, "--json"])

    counted = json.loads(told(capsys))
    assert counted["labels"] == 4
    assert counted["text_words"] == 4
    assert counted["fields"]["topic"] == 1


def test_good_data_pass_the_check(dialogs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "check", "--data", dialogs]) == 0

    assert told(capsys) == f"{dialogs}: 2 episodes, 3 examples\n"


def test_the_check_lists_all_faults_with_their_places(
    dialogs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dialogs.txt").write_text(LINES + "text:e\nlabels:f\n")

    assert run(["data", "check", "--data", dialogs]) == 1

    assert capsys.readouterr().err.splitlines() == [
        "dialogs.txt:4: labels: is missing; every line has text and labels",
        "dialogs.txt:5: text: is missing; every line has text and labels",
    ]


def test_the_check_warns_of_what_is_probably_not_meant(
    dialogs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dialogs.txt").write_text("text:a\tlabels:b\n" * 101)

    assert run(["data", "check", "--data", dialogs]) == 0

    assert "is episode_done missing?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "warning"),
    [
        (
            [],
            "episode_done:False in 1 lines does not end its episode; in ParlAI it does (--quirks)",
        ),
        (["--quirks"], "ends its episode, as in ParlAI; without --quirks it does not"),
    ],
)
def test_the_check_warns_of_what_parlai_reads_otherwise(
    more: list[str], warning: str, dialogs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dialogs.txt").write_text("text:a\tlabels:b\tepisode_done:False\n")

    assert run(["data", "check", "--data", dialogs, *more]) == 0

    assert warning in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["parlai", "jsonl", "csv"])
def test_converted_data_are_the_same_data(
    dialogs: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", "convert", "--data", dialogs, "--to", kind, "--out", "out"]) == 0
    assert run(["data", "convert", "--data", f"{kind}:out", "--to", "jsonl"]) == 0
    again = told(capsys)
    run(["data", "convert", "--data", dialogs, "--to", "jsonl"])

    assert again == told(capsys)


def test_what_would_be_lost_is_an_error_that_says_how_to_go_on(
    dialogs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", "convert", "--data", dialogs, "--to", "fbdialog", "--out", "out"]) == 1

    assert capsys.readouterr().err == (
        "prolocutor: episode 1: topic: would be lost in FbDialog format: "
        "there is no place for it; --drop topic leaves the field out\n"
    )
    assert not Path("out").exists()


def test_dropped_fields_are_left_out(dialogs: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--to", "fbdialog", "--drop", "topic"]

    assert run(["data", "convert", "--data", dialogs, *words]) == 0

    assert told(capsys) == "1 a b\tx\n2 c\ty|z\t2\n1 d\tx\t\tx|y\n"


@pytest.mark.parametrize(
    ("words", "status", "what"),
    [
        (["--data", "parlai:nowhere.txt"], 1, "nowhere.txt: there is no such file"),
        (["--data", "parlay:x"], 1, "did you mean 'parlai'"),
        (["--data", "parlai:x", "--label-turns", "both"], 2, "--label-turns is not for data"),
        ([], 2, "Missing option '--data'"),
    ],
)
def test_what_cannot_be_is_told(
    words: list[str], status: int, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", "stats", *words]) == status
    assert what in capsys.readouterr().err


@pytest.mark.parametrize("weights", ["nan,1", "inf,1", "1,-1", "1,2,3", "a,b"])
def test_weights_that_cannot_be_are_an_error_not_a_traceback(
    dialogs: str, weights: str, capsys: pytest.CaptureFixture[str]
) -> None:
    two = ["--data", dialogs, "--data", dialogs, "--datatype", "train"]

    assert run(["data", "show", *two, "--weights", weights]) != 0

    assert "weight" in capsys.readouterr().err


def test_weights_for_a_single_data_set_are_refused(
    dialogs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", "show", "--data", dialogs, "--weights", "1"]) != 0

    assert "--weights is for several data" in capsys.readouterr().err
