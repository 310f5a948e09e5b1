import io
from typing import Any

from rich.console import Console

from prolocutor.cli import turn_summary


def service(name: str, outcome: str = "done", stage: str = "skills", **more: Any) -> dict[str, Any]:
    known = {"started": 0.5, "ended": 0.625, "error": None, "code": None}
    return {"name": name, "stage": stage, "outcome": outcome, **known, **more}


TURN = {
    "reply": {"active_skill": "clock", "confidence": 0.9},
    "hypotheses": [
        {"hypothesis_id": "clock.0", "confidence": 0.4},
        {"hypothesis_id": "clock.1", "confidence": 0.9},
        {"hypothesis_id": "sums.0", "confidence": 0.0},
    ],
    "record": {
        "chosen": ["clock.1"],
        "by": "selector",
        "seconds": 0.25,
        "services": [
            service("spelling", "failed", "annotators", error="it broke"),
            service("emotion", stage="annotators"),
            service("sums"),
            service("clock"),
            service("poet", "late", error="no answer within 2 s"),
            service("mime", "skipped", started=None),
        ],
        "faults": [{"service": "sums", "what": "may not change 'id'"}],
    },
}


def test_all_skills_are_named_and_of_the_others_those_that_failed() -> None:
    asked = turn_summary.asked_in(TURN)

    assert [one.name for one in asked] == ["spelling", "sums", "clock", "poet", "mime"]
    assert [one.name for one in asked if one.answered] == ["clock"]
    assert [one.confidence for one in asked] == [None, 0.0, 0.9, None, None]
    assert [one.seconds for one in asked] == [0.125, 0.125, 0.125, 0.125, None]


def test_the_summary_names_who_answered_how_sure_and_how_fast() -> None:
    assert turn_summary.summary(TURN) == "clock answered, confidence 0.9, in 250 ms"


def test_a_reply_of_nobody_is_said_to_be_one() -> None:
    record = {**TURN["record"], "chosen": [], "by": "fallback"}  # type: ignore[dict-item]

    assert turn_summary.summary({**TURN, "record": record}).startswith(
        "nobody answered (the reply is by fallback)"
    )


def test_a_reply_that_was_given_before_has_no_record() -> None:
    turn = {**TURN, "record": None}

    assert turn_summary.lines(turn) == ["clock answered, confidence 0.9"]


def test_in_a_pipe_the_columns_are_apart_by_tabs() -> None:
    lines = turn_summary.lines(TURN)

    assert lines[1] == "spelling\tfailed\t\t125.0 ms\tit broke"
    assert lines[3] == "clock\tanswered\t0.9\t125.0 ms\t"
    assert lines[-1] == "sums: may not change 'id'"


def test_for_a_person_it_is_a_table_with_the_answer_on_top() -> None:
    console = Console(width=100, file=io.StringIO())

    turn_summary.show(TURN, console)

    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0].split() == ["asked", "confidence", "time", "what", "failed"]
    assert lines[1].split() == ["clock", "answered", "0.9", "125.0", "ms"]
    assert lines[-1].startswith("clock answered")
