"""The log of turns."""

import io
import json
import logging
from typing import Any

import pytest

from prolocutor.contracts.observer import TurnRecord
from prolocutor.observe.logs import JsonLogFormatter, TurnLog
from tests.unit.observe.records import record, service


def logged(one: TurnRecord, *, texts: bool = False) -> dict[str, Any]:
    stream = io.StringIO()
    TurnLog(texts=texts, logger=logger(stream)).turn_ended(one)
    return json.loads(stream.getvalue())


def logger(stream: io.StringIO, level: int = logging.INFO) -> logging.Logger:
    made = logging.Logger("turns", level)  # noqa: LOG001 (nobody else's)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLogFormatter())
    made.addHandler(handler)
    return made


def test_a_turn_is_one_line_with_its_ids_and_services() -> None:
    line = logged(record(service(), service("b", outcome="skipped", started=None, ended=None)))

    assert line["turn_id"] == "0" * 32
    assert line["dialog_id"] == "1" * 32
    assert line["user"] == "ann"
    assert line["level"] == "info"
    assert line["logger"] == "turns"
    assert line["seconds"] == 0.5
    assert line["services"] == {
        "skills.skill": {"outcome": "done", "seconds": 0.2},
        "skills.b": {"outcome": "skipped"},
    }


def test_what_people_say_is_left_out() -> None:
    line = logged(record(text="my secret", response="your secret"))

    assert "secret" not in json.dumps(line)


def test_what_people_say_is_shown_if_asked_for() -> None:
    line = logged(record(text="my secret", response="your secret"), texts=True)

    assert line["text"] == "my secret"
    assert line["response"] == "your secret"


FAILED = service(outcome="failed", code="raised", error="it broke")


def test_the_message_says_what_went_wrong_on_one_line() -> None:
    late = service("slow", outcome="late", code="late", error="no answer\nin 2 s")
    line = logged(record(FAILED, late, faults=[{"service": "skill", "what": "no confidence"}]))

    told = line["message"].partition(" ms")[2]
    assert told == "; skill failed: it broke; slow late: no answer in 2 s; skill: no confidence"


@pytest.mark.parametrize(
    ("one", "level"),
    [
        (record(service()), "info"),
        (record(service(outcome="skipped")), "info"),
        (record(FAILED), "warning"),
        (record(service(outcome="late")), "warning"),
        (record(faults=[{"service": "a", "what": "odd"}]), "warning"),
        (record(by="last_chance"), "info"),
        (record(FAILED, by="fallback"), "error"),
    ],
)
def test_the_level_says_how_it_went(one: TurnRecord, level: str) -> None:
    assert logged(one)["level"] == level


def test_a_failure_says_why() -> None:
    shown = logged(record(FAILED))["services"]["skills.skill"]

    assert shown["code"] == "raised"
    assert shown["error"] == "it broke"


def test_nothing_is_made_of_a_turn_that_nobody_wants_logged() -> None:
    stream = io.StringIO()
    TurnLog(logger=logger(stream, logging.WARNING)).turn_ended(record(service()))

    assert stream.getvalue() == ""


def test_other_logs_become_lines_too() -> None:
    stream = io.StringIO()
    log = logger(stream)
    try:
        raise ValueError("it broke\nbadly")
    except ValueError:
        log.exception("went %s", "wrong", extra={"fields": {"level": "not this", "n": 7}})

    (text,) = stream.getvalue().splitlines()
    line = json.loads(text)
    assert line["message"] == "went wrong"
    assert line["level"] == "error"
    assert line["n"] == 7
    assert line["exception"].endswith("ValueError: it broke\nbadly")


@pytest.mark.parametrize("value", [object(), "\ud800", {1: 2}, float("nan")])
def test_what_json_cannot_say_is_logged_all_the_same(value: object) -> None:
    made = logging.LogRecord("a", logging.INFO, "f", 1, "%s", (value,), None)
    made.fields = {"value": value}

    assert "value" in json.loads(JsonLogFormatter().format(made))


def test_a_log_may_have_a_stack() -> None:
    made = logging.LogRecord("a", logging.INFO, "f", 1, "m", (), None, sinfo="the stack")

    assert json.loads(JsonLogFormatter().format(made))["stack"] == "the stack"


def test_reasons_are_logged_without_what_may_quote_people_unless_that_is_asked_for() -> None:
    why = {"service": "s", "asked": ["a"], "reason": "2 are asked (a 0.9; right for: my secret)"}

    told = [logged(record(reasons=[why]), texts=texts)["reasons"] for texts in (False, True)]

    assert told == [[{**why, "reason": "2 are asked"}], [why]]
