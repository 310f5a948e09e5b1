"""Every example gets a row, whatever happens, and the same command goes on."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prolocutor.errors import BadInput, Conflict, StoreLocked
from prolocutor.plugins.evaluation.parlai.agents import RandomCandidateAgent
from prolocutor.plugins.evaluation.run_folder import ROWS, RunFolder, load_rows, load_run
from prolocutor.plugins.evaluation.run_report import rescore
from tests.plugins.evaluation.unit.made import CONFIGURATION, message, run, without_times

CANDIDATES = [f"answer {n}" for n in range(30)]


def questions(number: int, turns: int = 2) -> list[dict[str, Any]]:
    return [
        message(
            f"question {n}", "answer 3", done=n % turns == turns - 1, label_candidates=CANDIDATES
        )
        for n in range(number)
    ]


class Shy:
    """Raises at some questions, whatever can be raised."""

    raised: Any = ValueError("no")

    def __init__(self, at: str = "question 1") -> None:
        self._at = at
        self.seen: list[str] = []

    def observe(self, observation: Any) -> Any:
        self.seen.append(observation["text"])
        return observation

    def act(self) -> dict[str, Any]:
        if self.seen[-1] == self._at:
            raise self.raised
        return {"text": "answer 3"}


def test_turns_of_an_episode_are_told_in_order_to_an_agent_that_was_reset(tmp_path: Path) -> None:
    class Recorder(Shy):
        def reset(self) -> None:
            self.seen.append("(reset)")

        def act(self) -> dict[str, Any]:
            return {"text": " ".join(self.seen)}

    rows = run(tmp_path / "run", questions(4), Recorder)

    assert rows[1].answer == "(reset) question 0 question 1"
    assert rows[3].answer.endswith("(reset) question 2 question 3")
    assert [(row.episode, row.turn, row.last) for row in rows] == [
        (0, 0, False),
        (0, 1, True),
        (1, 0, False),
        (1, 1, True),
    ]


@pytest.mark.parametrize("raised", [ValueError("no"), SystemExit(3), StopIteration(), "text"])
@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_failed_example_is_a_row_and_scores_as_an_empty_answer(
    raised: Any, concurrency: int, tmp_path: Path
) -> None:
    class Failing(Shy):
        def act(self) -> Any:
            if self.seen[-1] == "question 1":
                if isinstance(raised, BaseException):
                    raise raised
                return raised
            return {"text": "answer 3"}

    rows = run(tmp_path / "run", questions(6), Failing, concurrency=concurrency)

    assert [row.error is not None for row in rows] == [False, True, False, False, False, False]
    assert [row.scores["f1"] for row in rows] == [1, 0, 1, 1, 1, 1]


def test_an_example_that_takes_too_long_is_a_row_and_holds_up_nobody(tmp_path: Path) -> None:
    never = threading.Event()

    class Stuck(Shy):
        def act(self) -> dict[str, Any]:
            if self.seen[-1] == "question 0":
                never.wait()
            return {"text": "answer 3"}

    rows = run(tmp_path / "run", questions(3, turns=1), Stuck, time_limit=1.0)
    never.set()

    assert [row.error for row in rows] == ["no answer within 1 s", None, None]


def test_seeds_reproduce_whatever_the_order(tmp_path: Path) -> None:
    first = run(tmp_path / "1", questions(40))
    again = run(tmp_path / "2", questions(40), concurrency=5)
    other = run(tmp_path / "3", questions(40), seed=7)

    assert without_times(first) == without_times(again)
    assert [row.answer for row in first] != [row.answer for row in other]


def test_times_of_a_repeated_run_differ_and_count_as_one_episode(tmp_path: Path) -> None:
    rows = run(tmp_path / "run", questions(20), repeat=2)

    assert [row.repeat for row in rows[:4]] == [0, 0, 1, 1]
    assert [row.answer for row in rows if row.repeat] != [
        row.answer for row in rows if not row.repeat
    ]


def test_a_larger_limit_goes_on_and_completes_the_episode_that_was_cut(tmp_path: Path) -> None:
    run(tmp_path / "run", questions(10), limit=3)
    asked: list[str] = []

    class Counting(RandomCandidateAgent):
        def observe(self, observation: Any) -> Any:
            asked.append(observation["text"])
            return super().observe(observation)

    rows = run(tmp_path / "run", questions(10), Counting)

    assert asked == [f"question {n}" for n in range(2, 10)]
    assert without_times(rows) == without_times(run(tmp_path / "whole", questions(10)))
    assert len((tmp_path / "run" / ROWS).read_bytes().splitlines()) == 10


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_torn_last_line_is_cut_and_asked_again(cut: int, tmp_path: Path) -> None:
    whole = run(tmp_path / "run", questions(10))
    file = tmp_path / "run" / ROWS
    file.write_bytes(file.read_bytes()[:-cut])

    rows = run(tmp_path / "run", questions(10))

    assert without_times(rows) == without_times(whole)
    assert len(file.read_bytes().splitlines()) == 10


def test_rows_that_came_out_of_order_are_put_in_order_at_the_end(tmp_path: Path) -> None:
    whole = run(tmp_path / "run", questions(10, turns=1))
    file = tmp_path / "run" / ROWS
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(reversed(lines)))

    assert run(tmp_path / "run", questions(10, turns=1), lambda: Shy("-")) == whole

    assert file.read_bytes().splitlines(keepends=True) == lines


def test_an_interrupted_run_keeps_its_rows_and_goes_on(tmp_path: Path) -> None:
    def interrupted() -> Iterator[dict[str, Any]]:
        yield from questions(6)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", interrupted())

    assert len(load_rows(tmp_path / "run")) == 6
    assert not load_run(tmp_path / "run").complete
    rows = run(tmp_path / "run", questions(10))
    assert without_times(rows) == without_times(run(tmp_path / "whole", questions(10)))
    assert load_run(tmp_path / "run").complete


def test_a_changed_configuration_is_refused_and_named(tmp_path: Path) -> None:
    run(tmp_path / "run", questions(4))

    with pytest.raises(Conflict, match=r"seed was 42, is now 7; choose another folder"):
        run(tmp_path / "run", questions(4), configuration={**CONFIGURATION, "seed": 7})


@pytest.mark.parametrize("concurrency", [1, 2])
def test_changed_data_are_refused_and_named(concurrency: int, tmp_path: Path) -> None:
    run(tmp_path / "run", questions(4))
    changed = questions(4)
    changed[2]["eval_labels"] = ["answer 4"]

    with pytest.raises(Conflict, match="example 2 of the data is not what it was"):
        run(tmp_path / "run", changed, concurrency=concurrency)


def test_only_what_failed_is_asked_again_and_only_when_told_so(tmp_path: Path) -> None:
    class Failing(Shy):
        raised = OSError("down")

    run(tmp_path / "run", questions(6), Failing)
    kept = run(tmp_path / "run", questions(6), RandomCandidateAgent)
    assert [row.error for row in kept] == [None, "OSError: down", None, None, None, None]

    rows = run(tmp_path / "run", questions(6), lambda: Shy("-"), retry_failed=True)

    assert [row.error for row in rows] == [None] * 6
    assert [row.n for row in rows] == [0, 1, 2, 3, 4, 5]
    assert len((tmp_path / "run" / ROWS).read_bytes().splitlines()) == 6


def test_a_run_has_one_owner(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path / "run", CONFIGURATION, {}),
        pytest.raises(StoreLocked, match="another process is at work"),
    ):
        RunFolder(tmp_path / "run", CONFIGURATION, {})


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")

    with pytest.raises(BadInput, match="this folder holds other things"):
        RunFolder(tmp_path, CONFIGURATION, {})


def test_what_json_cannot_say_is_kept_as_near_as_can_be(tmp_path: Path) -> None:
    class Odd(Shy):
        def act(self) -> dict[str, Any]:
            return {
                "text": "a \ud800 b",
                "set": {1},
                "self": object,
                "big": 2**70,
                "nan": float("nan"),
            }

    [row] = run(tmp_path / "run", [message("\udfff")], Odd)

    assert row.answer == "a ? b"
    assert row.input["text"] == "?"
    assert row.act["set"] == [1]
    assert row.act["big"] == str(2**70)
    assert row.act["nan"] is None


def test_metrics_of_an_agents_own_are_kept_and_added_up(tmp_path: Path) -> None:
    from prolocutor.plugins.evaluation.parlai.metrics import PPLMetric
    from prolocutor.plugins.evaluation.run_report import make_report

    class Own(Shy):
        def act(self) -> dict[str, Any]:
            number = len(self.seen)
            return {"text": "x", "metrics": {"ppl": PPLMetric(number, 1), "f1": 1, "none": None}}

    report = make_report(run(tmp_path / "run", questions(2), Own))

    assert report.metrics["ppl"].value == pytest.approx(2.718281828459045**1.5)
    assert report.metrics["USER_f1"].value == 1


@pytest.mark.parametrize(
    ("act", "what"),
    [
        ({"text": 5}, "the act's text is of type int, not a text"),
        (
            {"text": "answer 3", "metrics": {"own": "much"}},
            "the act's metric 'own' is not a number",
        ),
        ({"text": "answer 3", "metrics": {"own": float("nan")}}, "the act's metric 'own' is nan"),
        ({"text": "answer 3", "metrics": 5}, "the act's metrics are of type int, not a dictionary"),
        ({"text": "answer 3", "text_candidates": "abc"}, "text_candidates are of type str, not a"),
        (
            {"text": "answer 3", "text_candidates": [1]},
            "text_candidates is of type int, not a text",
        ),
    ],
)
def test_an_answer_that_cannot_be_scored_scores_as_an_empty_one(
    act: dict[str, Any], what: str, tmp_path: Path
) -> None:
    class Odd(Shy):
        def act(self) -> dict[str, Any]:
            return dict(act)

    [row] = run(tmp_path / "run", questions(1), Odd)

    assert row.scores == {"accuracy": 0, "precision": 0, "recall": 0, "f1": 0}
    assert row.error is not None
    assert row.error.startswith("the answer cannot be scored: ")
    assert what in row.error


def test_candidates_that_can_be_read_once_are_kept_and_score_the_same_again(tmp_path: Path) -> None:
    class Ranking(Shy):
        def act(self) -> dict[str, Any]:
            return {"text": "answer 2", "text_candidates": iter(["answer 2", "answer 3"])}

    [row] = run(tmp_path / "run", questions(1), Ranking)

    assert row.act["text_candidates"] == ["answer 2", "answer 3"]
    assert row.scores["hits@1"] == 0
    assert row.scores["hits@5"] == 1
    assert rescore(tmp_path / "run", "f1").metrics["hits@5"].value == 1


def test_labels_that_are_numbers_are_texts(tmp_path: Path) -> None:
    [row] = run(tmp_path / "run", [message("7", label_candidates=["7"], eval_labels=[7])])

    assert row.error is None
    assert row.scores["f1"] == 1
