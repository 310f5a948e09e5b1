"""Several observers as one, the last records, the load of services."""

import logging

import pytest

from prolocutor.contracts.observer import TurnRecord
from prolocutor.observe.load import Load
from prolocutor.observe.observers import Observers
from prolocutor.observe.recent import Recent
from tests.unit.observe.records import record, service


class Broken:
    def turn_ended(self, record: TurnRecord) -> None:
        raise ValueError("it broke")

    def breaker_changed(self, service: str, state: str) -> None:
        raise ValueError("it broke")


class Keeping:
    def __init__(self) -> None:
        self.seen: list[object] = []

    def turn_ended(self, record: TurnRecord) -> None:
        self.seen.append(record.turn_id)

    def breaker_changed(self, service: str, state: str) -> None:
        self.seen.append((service, state))


def test_a_broken_observer_is_logged_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeping = Keeping()
    observers = Observers([Broken(), keeping])

    observers.turn_ended(record(turn_id="7"))
    observers.breaker_changed("a", "open")

    assert keeping.seen == ["7", ("a", "open")]
    assert [r.levelno for r in caplog.records] == [logging.ERROR] * 2
    assert caplog.records[0].getMessage() == "Broken failed at turn 7"


def test_observers_can_be_counted_and_added() -> None:
    observers, keeping = Observers(), Keeping()
    assert not observers

    observers.append(keeping)

    assert (len(observers), list(observers)) == (1, [keeping])


def test_the_last_records_are_kept_newest_first() -> None:
    recent = Recent(3)
    for n in range(5):
        recent.turn_ended(record(turn_id=str(n), user="ann" if n % 2 else "bob"))

    assert [r.turn_id for r in recent.last()] == ["4", "3", "2"]
    assert [r.turn_id for r in recent.last(1)] == ["4"]
    assert [r.turn_id for r in recent.last(user="ann")] == ["3"]
    assert len(recent) == 3


def test_a_record_is_found_while_it_is_kept() -> None:
    recent = Recent(1)
    recent.turn_ended(record(turn_id="1"))
    recent.turn_ended(record(turn_id="2"))

    found = recent.find("2")
    assert found is not None
    assert found.turn_id == "2"
    assert recent.find("1") is None


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_load_is_a_mean_over_five_minutes() -> None:
    clock = Clock()
    load = Load(clock)
    load.turn_ended(record(service("a", started=0.0, ended=1.0), seconds=2.0))
    clock.now += 250
    load.turn_ended(record(service("a", started=0.0, ended=3.0), seconds=4.0))

    both = load.means()
    clock.now += 100
    later = load.means()
    clock.now += 1000
    long_after = load.means()

    assert both == {"agent": 3.0, "a": 2.0}
    assert later == {"agent": 4.0, "a": 3.0}
    assert long_after == {}


def test_the_load_of_a_service_that_was_not_called_is_unknown() -> None:
    load = Load(Clock())
    load.turn_ended(record(service("a", outcome="skipped", started=None, ended=None)))

    assert load.means().keys() == {"agent"}
