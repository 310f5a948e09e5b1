"""The mean times of services."""

from prolocutor.observe.recent_turns import ServiceTimes
from tests.unit.observe.records import record, service


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_load_is_a_mean_over_five_minutes() -> None:
    clock = Clock()
    load = ServiceTimes(clock)
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
    load = ServiceTimes(Clock())
    load.turn_ended(record(service("a", outcome="skipped", started=None, ended=None)))

    assert load.means().keys() == {"agent"}
