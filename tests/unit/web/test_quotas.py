"""Counters: what is let through in a time, how long one waits, and how much memory it takes."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from prolocutor.contracts.http import Visitor
from prolocutor.errors import QuotaExceeded
from prolocutor.web.authentication import ANONYMOUS, LOCAL, OPERATOR
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.quotas import RateCounters, VisitorQuotas
from prolocutor.web.visitor_quota import VisitorQuotaTable


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(
    st.integers(1, 20),
    st.lists(st.tuples(st.floats(0, 30), st.integers(1, 30)), max_size=60),
)
def test_never_more_than_twice_the_limit_in_a_period(
    limit: int, asked: list[tuple[float, int]]
) -> None:
    clock = Clock()
    counters, passed = RateCounters(limit, 60.0, clock), deque[float]()
    for pause, cost in asked:
        clock.now += pause
        wait = counters.wait("a", cost)
        if wait:
            clock.now += wait + 1e-6
            assert counters.wait("a", cost) == 0.0
        counters.count("a", cost)
        passed.extend([clock.now] * min(cost, limit))
        while passed[0] < clock.now - 60.0:
            passed.popleft()
        assert len(passed) <= 2 * limit


def test_a_burst_of_the_limit_passes_at_once_and_then_one_by_one() -> None:
    clock = Clock()
    counters = RateCounters(6, 60.0, clock)
    for _ in range(6):
        assert counters.wait("a") == 0.0
        counters.count("a")

    assert counters.wait("a") == 10.0
    assert counters.wait("b") == 0.0
    clock.now += 10.0
    assert counters.wait("a") == 0.0


def test_counters_take_bounded_memory() -> None:
    counters = RateCounters(1, 60.0, at_most=100)
    for number in range(1000):
        counters.count(str(number))

    assert len(counters) == 100
    assert counters.wait("999") > 0


def refused(table: VisitorQuotaTable, visitor: Visitor, address: str, user: str) -> str | None:
    try:
        table.find_quota(visitor, address).spend("turns", user)
    except QuotaExceeded as error:
        return str(error).partition(" are allowed for ")[2].partition(";")[0]
    return None


def test_each_scope_counts_on_its_own_and_refused_requests_count_nowhere() -> None:
    limits = ListenerLimits(
        person=VisitorQuotas(turns=2),
        token=VisitorQuotas(turns=3),
        address=VisitorQuotas(turns=5, new_persons=3),
        anonymous=VisitorQuotas(turns=6),
    )
    table = VisitorQuotaTable(limits, Clock())
    ann = Visitor("person", "ann", frozenset({"p:ann", "q:ann"}))

    assert [refused(table, ann, "1", "p:ann") for _ in range(4)][1:3] == [None, "one person"]
    assert [refused(table, ann, "1", "q:ann") for _ in range(3)] == [None, "one token", "one token"]
    anonymous = [refused(table, ANONYMOUS, "1", f"u{n}") for n in range(4)]
    assert anonymous == [None, None, "one address", "one address"]
    anonymous = [refused(table, ANONYMOUS, "2", f"v{n}") for n in range(4)]
    assert anonymous == [None, None, None, "one address"]  # new persons
    anonymous = [refused(table, ANONYMOUS, "3", f"w{n}") for n in range(2)]
    assert anonymous == [None, "all anonymous visitors"]
    assert not any(refused(table, one, "1", "p:ann") for one in (LOCAL, OPERATOR) for _ in range(9))
