"""The summary of a turn: who was asked, who answered, how sure, what failed."""

import io
from typing import Any

import msgspec
from rich.console import Console

from prolocutor.cli.turn_output import RecordOutput, TurnOutput
from prolocutor.plugins.terminal import turn_summary as output


def service(name: str, outcome: str = "done", stage: str = "skills", **more: Any) -> dict[str, Any]:
    known = {"started": 0.5, "ended": 0.625, "calls": 1}
    return {"name": name, "stage": stage, "outcome": outcome, **known, **more}


RECORD = msgspec.convert(
    {
        "turn_id": "t",
        "dialog_id": "d",
        "user": "ann",
        "channel": "cmd_client",
        "started": 0.0,
        "seconds": 0.25,
        "attempt": 1,
        "text": "hi",
        "response": "noon",
        "active_skill": "clock",
        "confidence": 0.9,
        "by": "selector",
        "chosen": ["clock.1"],
        "asked": [],
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
    RecordOutput,
)
TURN = TurnOutput(
    turn_id="t",
    dialog_id="d",
    human_utt_id="h",
    user="ann",
    text="hi",
    reply={"active_skill": "clock", "confidence": 0.9},
    hypotheses=[
        {"hypothesis_id": "clock.0", "confidence": 0.4},
        {"hypothesis_id": "clock.1", "confidence": 0.9},
        {"hypothesis_id": "sums.0", "confidence": 0.0},
    ],
    annotations={},
    record=RECORD,
)


def test_all_skills_are_named_and_of_the_others_those_that_failed() -> None:
    asked = output.summarize_services(TURN)

    assert [one.name for one in asked] == ["spelling", "sums", "clock", "poet", "mime"]
    assert [one.name for one in asked if one.answered] == ["clock"]
    assert [one.confidence for one in asked] == [None, 0.0, 0.9, None, None]
    assert [one.seconds for one in asked] == [0.125, 0.125, 0.125, 0.125, None]


def test_the_summary_names_who_answered_how_sure_and_how_fast() -> None:
    assert output.summary(TURN) == "clock answered, confidence 0.9, in 250 ms"


def test_a_reply_of_nobody_is_said_to_be_one() -> None:
    record = msgspec.structs.replace(RECORD, chosen=[], by="fallback")

    assert output.summary(msgspec.structs.replace(TURN, record=record)).startswith(
        "nobody answered (the reply is by fallback)"
    )


def test_a_reply_that_was_given_before_has_no_record() -> None:
    turn = msgspec.structs.replace(TURN, record=None)

    assert output.summary_lines(turn) == ["clock answered, confidence 0.9"]


def test_in_a_pipe_the_columns_are_apart_by_tabs() -> None:
    lines = output.summary_lines(TURN)

    assert lines[1] == "spelling\tfailed\t\t125.0 ms\tit broke"
    assert lines[3] == "clock\tanswered\t0.9\t125.0 ms\t"
    assert lines[-1] == "sums: may not change 'id'"


def test_for_a_person_it_is_a_table_with_the_answer_on_top() -> None:
    console = Console(width=100, file=io.StringIO())

    output.show_summary(TURN, console)

    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0].split() == ["asked", "confidence", "time", "what", "failed"]
    assert lines[1].split() == ["clock", "answered", "0.9", "125.0", "ms"]
    assert lines[-1].startswith("clock answered")
