"""What hypotheses put on the agenda and take off it."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor.assistant.rounds import effects
from prolocutor.contracts.store import AgendaEntry
from prolocutor.dialog import plain, schedules
from prolocutor.errors import BadReply

RING = [{"type": "text", "text": "Ring!"}]


def line(**changes: Any) -> dict[str, Any]:
    """Make a line of the agenda; None takes a key away."""
    whole = {"key": "t", "in": 60, "messages": RING, **changes}
    return {key: value for key, value in whole.items() if value is not None}


def scheduled(given: dict[str, Any]) -> list[AgendaEntry]:
    """Return the entries of a hypothesis in a turn of ann's that began at 1000."""
    return effects.entries("ann", "main", 1000.0, [("timer", given)])


def due(**changes: Any) -> float:
    """Tell when a line is due."""
    [entry] = scheduled({"schedule": [line(**changes)]})
    return entry.due


@pytest.mark.parametrize(
    ("when", "seconds"),
    [
        ({"in": 60}, 1060.0),
        ({"in": 0.5}, 1000.5),
        ({"in": None, "at": 5000}, 5000.0),
        ({"in": None, "at": "1970-01-01T01:00:00"}, 3600.0),
        ({"in": None, "at": "1970-01-01T01:00:00Z"}, 3600.0),
        ({"in": None, "at": "1970-01-01T01:00:00+01:00"}, 0.0),
    ],
)
def test_a_time_is_absolute_or_counts_from_when_the_person_spoke(
    when: dict[str, Any], seconds: float
) -> None:
    assert due(**when) == seconds


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        ({"schedule": 5}, "$.schedule"),
        ({"schedule": [line()] * 101}, "$.schedule"),
        ({"schedule": ["x"]}, "$.schedule[0]"),
        ({"schedule": [line(key=5)]}, "$.schedule[0].key"),
        ({"schedule": [line(key="x" * 201)]}, "$.schedule[0].key"),
        ({"schedule": [line(), line(at=5)]}, "$.schedule[1]"),
        ({"schedule": [line(**{"in": None})]}, "$.schedule[0]"),
        ({"schedule": [line(**{"in": "soon"})]}, "$.schedule[0].in"),
        ({"schedule": [line(**{"in": True})]}, "$.schedule[0].in"),
        ({"schedule": [line(**{"in": float("inf")})]}, "$.schedule[0].in"),
        ({"schedule": [line(**{"in": 10**20})]}, "$.schedule[0].in"),
        ({"schedule": [line(**{"in": None, "at": "soon"})]}, "$.schedule[0].at"),
        ({"schedule": [line(**{"in": None, "at": float("nan")})]}, "$.schedule[0].at"),
        ({"schedule": [line(messages=[])]}, "$.schedule[0].messages"),
        ({"schedule": [line(messages=[{"type": "x"}])]}, "$.schedule[0].messages[0].type"),
        ({"schedule": [line(ask="x")]}, "$.schedule[0].ask"),
        ({"schedule": [line(every="blue moon")]}, "$.schedule[0].every"),
        ({"schedule": [line(every=["day"])]}, "$.schedule[0].every"),
        ({"schedule": [line(timezone="Nowhere/Else")]}, "$.schedule[0].timezone"),
        ({"schedule": [line(timezone=5)]}, "$.schedule[0].timezone"),
        ({"unschedule": "t"}, "$.unschedule"),
        ({"unschedule": ["t"] * 101}, "$.unschedule"),
        ({"unschedule": ["t", 5]}, "$.unschedule[1]"),
    ],
)
def test_a_bad_schedule_is_refused_with_its_path(bad: dict[str, Any], path: str) -> None:
    with pytest.raises(BadReply) as caught:
        schedules.check(bad, "$")
    assert caught.value.path == path


def test_an_entry_says_who_speaks_and_what_is_asked() -> None:
    given = {"schedule": [line(ask="yesno")]}
    [entry] = scheduled(given)
    body = {"messages": RING, "ask": "yesno", "skill": "timer"}
    assert entry.user == "ann"
    assert entry.skill == "timer"
    assert entry.key == "t"
    assert plain.decode(entry.body) == body


def test_a_repeated_entry_says_how_and_since_when() -> None:
    given = {"schedule": [line(every="day", timezone="Europe/Berlin")]}
    [entry] = scheduled(given)
    body = plain.decode(entry.body)
    assert body["every"] == "day"
    assert body["timezone"] == "Europe/Berlin"
    assert body["first"] == 1060.0


def test_an_entry_to_remove_is_named_by_skill_and_key() -> None:
    chosen = [("timer", {"unschedule": ["a", "b"]}), ("todo", {}), ("todo", {"unschedule": ["a"]})]
    assert effects.struck(chosen) == [("timer", "a"), ("timer", "b"), ("todo", "a")]
