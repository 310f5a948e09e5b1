"""The last records of turns."""

from prolocutor.observe.recent_turns import RecentTurns
from tests.unit.observe.records import record


def test_the_last_records_are_kept_newest_first() -> None:
    recent = RecentTurns(3)
    for n in range(5):
        recent.turn_ended(record(turn_id=str(n), user="ann" if n % 2 else "bob"))

    assert [r.turn_id for r in recent.last()] == ["4", "3", "2"]
    assert [r.turn_id for r in recent.last(1)] == ["4"]
    assert [r.turn_id for r in recent.last(user="ann")] == ["3"]
    assert len(recent) == 3


def test_a_record_is_found_while_it_is_kept() -> None:
    recent = RecentTurns(1)
    recent.turn_ended(record(turn_id="1"))
    recent.turn_ended(record(turn_id="2"))

    found = recent.find("2")
    assert found is not None
    assert found.turn_id == "2"
    assert recent.find("1") is None
