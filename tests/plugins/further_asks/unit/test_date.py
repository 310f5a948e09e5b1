"""Dates, absolute and relative, on the person's own calendar."""

import datetime as dt

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.asks.answers import NotUnderstood, Understood
from prolocutor.asks.kinds import take_value
from prolocutor.reading import libraries
from tests.unit.asks.contexts import BERLIN, NOW, hint, value

DATES = {
    "2026-12-24": "2026-12-24",
    "2026/12/24": "2026-12-24",
    "20261224": "2026-12-24",
    "24.12.2026": "2026-12-24",
    "24/12/26": "2026-12-24",
    "12/24/2026": "2026-12-24",
    "5.3.": "2027-03-05",
    "today": "2026-11-20",
    "Tomorrow!": "2026-11-21",
    "the day after tomorrow": "2026-11-22",
    "yesterday": "2026-11-19",
    "tonight": "2026-11-20",
    "friday": "2026-11-27",
    "next friday": "2026-11-27",
    "this friday": "2026-11-20",
    "last friday": "2026-11-13",
    "on saturday": "2026-11-21",
    "sat": "2026-11-21",
    "monday next week": "2026-11-23",
    "saturday week": "2026-11-28",
    "monday the 23rd": "2026-11-23",
    "friday the 13th": "2027-08-13",
    "in two days": "2026-11-22",
    "in 2 weeks": "2026-12-04",
    "in a month": "2026-12-20",
    "in a year's time": "2027-11-20",
    "in an hour": "2026-11-21",
    "three days ago": "2026-11-17",
    "a week from tomorrow": "2026-11-28",
    "a week from friday": "2026-12-04",
    "two days before christmas": "2026-12-23",
    "christmas eve": "2026-12-24",
    "3 may": "2027-05-03",
    "May 3rd": "2027-05-03",
    "the 3rd of may 2027": "2027-05-03",
    "December 24, 2026": "2026-12-24",
    "Sunday, 3 January 2027": "2027-01-03",
    "feb 29": "2028-02-29",
    "the sixth of june": "2027-06-06",
    "the twenty first": "2026-11-21",
    "the 5th": "2026-12-05",
    "end of the month": "2026-11-30",
    "tomorrow at 5pm": "2026-11-21",
    "let's say the 1st of december, please": "2026-12-01",
}
NO_DATES = """may|I may|I may go|maybe|march|march on|a|I|12|3|sun is shining|mon ami|sat down|
the second one|in a second|in five|5 days|day|week|next week|2026-02-30|31.2.2026|november 31|
0000-00-00|in 1000000 days|april fools|june said hi|what day is it|when?|today or tomorrow|
five o'clock|noon|never|soon|"""


@pytest.mark.parametrize(("text", "day"), DATES.items())
def test_a_day_is_read(text: str, day: str) -> None:
    assert value("date", text) == day


@pytest.mark.parametrize("text", "".join(NO_DATES.split("\n")).split("|"))
def test_a_text_without_a_day_is_none(text: str) -> None:
    assert value("date", text) is None


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", "2026-11-21"),
        ("Asia/Tokyo", "2026-11-22"),
        ("Pacific/Honolulu", "2026-11-21"),
        ("Pacific/Kiritimati", "2026-11-22"),
        (None, "2026-11-21"),
        ("Nowhere/Land", "2026-11-21"),
    ],
)
def test_tomorrow_is_that_of_the_person(zone: str | None, day: str) -> None:
    assert value("date", "tomorrow", msgspec.structs.replace(BERLIN, timezone=zone)) == day


@pytest.mark.parametrize(
    ("region", "day"), [("US", "2026-03-04"), ("GB", "2026-04-03"), (None, "2026-04-03")]
)
def test_the_order_of_day_and_month_is_the_region_s(region: str | None, day: str) -> None:
    assert value("date", "3/4/2026", msgspec.structs.replace(BERLIN, region=region)) == day


@pytest.mark.parametrize(
    ("language", "text", "day"),
    [("de", "morgen", "2026-11-21"), ("es", "3 de mayo", "2027-05-03"), ("xx", "morgen", None)],
)
def test_other_languages_are_read_where_they_are_named(
    language: str, text: str, day: str | None
) -> None:
    pytest.importorskip("dateparser")
    assert value("date", text, msgspec.structs.replace(BERLIN, language=language)) == day


@given(st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1)))
def test_days_come_back_as_they_were(day: dt.date) -> None:
    assert value("date", day.isoformat()) == day.isoformat()
    assert value("date", f"{day.day}.{day.month}.{day.year}") == day.isoformat()


@given(
    st.dates(dt.date(1990, 1, 1), dt.date(2090, 1, 1)), st.sampled_from(["%d %B %Y", "%B %d, %Y"])
)
def test_days_in_words_come_back_as_they_were(day: dt.date, form: str) -> None:
    pytest.importorskip("dateparser")
    assert value("date", day.strftime(form)) == day.isoformat()


@given(st.integers(0, 1000))
def test_days_ahead_are_counted(days: int) -> None:
    expected = dt.date(2026, 11, 20) + dt.timedelta(days=days)
    assert value("date", f"in {days} days") == expected.isoformat()


@given(st.datetimes(dt.datetime(1, 1, 3), dt.datetime(9999, 12, 30)), st.sampled_from(list(DATES)))  # noqa: DTZ001
def test_no_calendar_has_an_end_that_breaks(now: dt.datetime, text: str) -> None:
    value("date", text, msgspec.structs.replace(BERLIN, now=now.replace(tzinfo=dt.UTC)))


def test_without_the_extra_iso_does_and_months_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "dateparser", lambda: None)
    monkeypatch.setattr(libraries, "text_to_num", lambda: None)
    assert value("date", "2026-12-24") == "2026-12-24"
    assert value("date", "tomorrow") == "2026-11-21"
    assert "pip install 'prolocutor[asks]'" in hint("date", "3rd of may")
    assert "pip install" not in hint("date", "I may")


@pytest.mark.parametrize(
    ("given_value", "day"),
    [
        ("2026-12-24", "2026-12-24"),
        ("2026-12-24T23:30:00Z", "2026-12-25"),
        ({"year": 2026, "month": 12, "day": 24, "hour": 5}, "2026-12-24"),
        ({"year": -1, "month": -1, "day": 24}, "2026-11-24"),
        ({}, "2026-11-20"),
    ],
)
def test_a_parsed_date_is_taken_and_completed(given_value: object, day: str) -> None:
    assert take_value("date", "date", given_value, BERLIN) == Understood(day)


@pytest.mark.parametrize(
    ("kind", "given_value"),
    [("date", "soon"), ("date", {"month": 13}), ("date", {"day": []}), ("date", 5), ("time", "1")],
)
def test_other_parsed_values_are_none(kind: str, given_value: object) -> None:
    assert isinstance(take_value("date", kind, given_value, BERLIN), NotUnderstood)


def test_now_is_a_moment_of_the_tests() -> None:
    assert BERLIN.local_now().isoformat() == "2026-11-20T23:30:00+01:00"
    assert BERLIN.local_now() == NOW
