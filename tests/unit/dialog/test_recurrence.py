"""Times that come again, by the clock of a zone."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.clocks import DAY
from prolocutor.dialog.schedules import EVERY, LATEST, find_zone, next_time

BERLIN = "Europe/Berlin"


def at(said: str) -> float:
    return datetime.fromisoformat(said).replace(tzinfo=ZoneInfo(BERLIN)).timestamp()


@pytest.mark.parametrize(
    ("first", "every", "after", "then"),
    [
        ("2026-03-02T09:00", "day", "2026-03-02T09:00", "2026-03-03T09:00"),
        ("2026-03-28T09:00", "day", "2026-03-28T09:00", "2026-03-29T09:00"),  # summer time begins
        ("2026-03-02T09:00", "day", "2026-11-20T10:00", "2026-11-21T09:00"),
        ("2026-03-06T09:00", "weekday", "2026-03-06T09:00", "2026-03-09T09:00"),
        ("2026-03-02T09:00", "week", "2026-03-30T08:59", "2026-03-30T09:00"),
        ("2026-01-31T09:00", "month", "2026-01-31T09:00", "2026-02-28T09:00"),
        ("2026-01-31T09:00", "month", "2026-02-28T09:00", "2026-03-31T09:00"),
        ("2024-02-29T09:00", "year", "2024-03-01T09:00", "2025-02-28T09:00"),
        ("2024-02-29T09:00", "year", "2027-03-01T09:00", "2028-02-29T09:00"),
        ("2026-05-01T09:00", "day", "2026-01-01T00:00", "2026-05-01T09:00"),
    ],
)
def test_the_next_time_is_at_the_same_hour(first: str, every: str, after: str, then: str) -> None:
    assert next_time(at(first), every, BERLIN, at(after)) == at(then)


@given(
    first=st.floats(0, 4e9),
    every=st.sampled_from(sorted(EVERY)),
    zone=st.sampled_from([None, BERLIN, "America/New_York", "Pacific/Auckland"]),
    wait=st.floats(0, 3e9),
)
def test_the_next_time_is_the_first_one_after(
    first: float, every: str, zone: str | None, wait: float
) -> None:
    after = first + wait
    then = next_time(first, every, zone, after)
    longest = 4 * DAY if every == "weekday" else EVERY[every] + DAY
    assert after < then <= after + longest


@pytest.mark.parametrize("first", [-LATEST, -1.0, 0.0])
def test_a_time_before_1970_comes_again_too(first: float) -> None:
    assert next_time(first, "day", "UTC", 10.0) == DAY


@pytest.mark.parametrize("name", ["Nowhere/Else", "../etc", "", "\x00"])
def test_an_unknown_zone_is_named(name: str) -> None:
    with pytest.raises(ValueError, match="no time zone is called"):
        find_zone(name)
