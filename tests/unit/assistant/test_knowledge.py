"""General knowledge is kept for a while, per service, within bounds."""

from collections.abc import Iterator

import pytest

import prolocutor
from prolocutor import knowledge


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(knowledge, "time", clock)
    yield clock
    for service in ("news", "rates"):
        knowledge.forget(service)


def test_it_is_reached_through_the_package() -> None:
    assert prolocutor.knowledge is knowledge


def test_a_value_put_is_found() -> None:
    knowledge.put("news", "sport", ["won"], seconds=10)
    assert knowledge.get("news", "sport") == ["won"]


def test_a_missing_value_is_the_default() -> None:
    assert knowledge.get("news", "sport") is None
    assert knowledge.get("news", "sport", default=[]) == []


def test_an_expired_value_is_gone(clock: Clock) -> None:
    knowledge.put("news", "sport", ["won"], seconds=10)
    clock.now += 10
    assert knowledge.get("news", "sport") is None


def test_putting_again_replaces_the_value_and_its_time(clock: Clock) -> None:
    knowledge.put("news", "sport", "old", seconds=10)
    clock.now += 9
    knowledge.put("news", "sport", "new", seconds=10)
    clock.now += 9
    assert knowledge.get("news", "sport") == "new"


def test_services_do_not_see_each_others() -> None:
    knowledge.put("news", "euro", "a headline", seconds=10)
    assert knowledge.get("rates", "euro") is None


def test_beyond_the_bound_the_first_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "MAX_ENTRIES", 3)
    for number in range(5):
        knowledge.put("news", number, number, seconds=10)
    assert [knowledge.get("news", number) for number in range(5)] == [None, None, 2, 3, 4]


def test_a_value_without_a_lifetime_is_not_kept() -> None:
    knowledge.put("news", "sport", "won", seconds=0)
    assert knowledge.get("news", "sport") is None


def test_one_service_may_forget_all() -> None:
    knowledge.put("news", "sport", "won", seconds=10)
    knowledge.forget("news")
    knowledge.forget("news")
    assert knowledge.get("news", "sport") is None
