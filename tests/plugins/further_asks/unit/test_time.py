"""Times of day."""

import datetime as dt

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.asks.answers import AnswerContext, NotUnderstood, Understood
from prolocutor.asks.kinds import read, take_value
from prolocutor.reading import libraries
from tests.unit.asks.contexts import BERLIN, value

TIMES = {
    "19:30": "19:30:00",
    "7:05:09": "07:05:09",
    "7.30": "07:30:00",
    "7h30": "07:30:00",
    "0730": "07:30:00",
    "1930 hours": "19:30:00",
    "24:00": "00:00:00",
    "7": "07:00:00",
    "at seven": "07:00:00",
    "7pm": "19:00:00",
    "7 p.m.": "19:00:00",
    "7:30 PM": "19:30:00",
    "12 am": "00:00:00",
    "12 pm": "12:00:00",
    "7 o'clock": "07:00:00",
    "eight o’clock in the evening": "20:00:00",
    "seven in the morning": "07:00:00",
    "2 at night": "02:00:00",
    "11 at night": "23:00:00",
    "tonight at 8": "20:00:00",
    "this evening at half past 8": "20:30:00",
    "half past seven": "07:30:00",
    "quarter to eight": "07:45:00",
    "a quarter past 5 pm": "17:15:00",
    "twenty five to six": "05:35:00",
    "five to noon": "11:55:00",
    "10 to 10": "09:50:00",
    "seven thirty": "07:30:00",
    "seven thirty-five pm": "19:35:00",
    "seven oh five": "07:05:00",
    "noon": "12:00:00",
    "at midnight, please": "00:00:00",
    "now": "23:30:00",
    "in 20 minutes": "23:50:00",
    "in an hour": "00:30:00",
    "in an hour and a half": "01:00:00",
    "in half an hour": "00:00:00",
    "two hours from now": "01:30:00",
    "around half past nine": "09:30:00",
    "8ish": "08:00:00",
}
NO_TIMES = """25:00|12:60|24:01|13 pm|0 am|tomorrow at 7|soon|later|in the evening|quarter past|
seven people|may|1 2|7:5|half|at|in a bit|what time is it|when?|at home|seventy|12:30:61|99|
in 9999999999 hours|noon or so long|five past|two hours|2 hours|"""


@pytest.mark.parametrize(("text", "time"), TIMES.items())
def test_a_time_is_read(text: str, time: str) -> None:
    assert value("time", text) == time


@pytest.mark.parametrize("text", "".join(NO_TIMES.split("\n")).split("|"))
def test_a_text_without_a_time_is_none(text: str) -> None:
    assert value("time", text) is None


@given(st.times())
def test_times_come_back_as_they_were(time: dt.time) -> None:
    assert value("time", f"{time:%H:%M:%S}") == f"{time:%H:%M:%S}"
    assert value("time", f"{time:%I:%M %p}") == f"{time:%H:%M}:00"
    assert value("time", f"{time:%H:%M}") == f"{time:%H:%M}:00"


@given(st.integers(1, 12), st.integers(1, 29), st.sampled_from(["past", "to"]))
def test_minutes_past_and_to_the_hour_come_back(hour: int, minutes: int, way: str) -> None:
    total = hour * 60 + (minutes if way == "past" else -minutes)
    assert value("time", f"{minutes} minutes {way} {hour}") == f"{dt.time(total // 60, total % 60)}"


def test_a_span_counts_across_the_change_of_clocks() -> None:
    before = dt.datetime(2026, 3, 29, 0, 30, tzinfo=dt.UTC)
    assert value("time", "in an hour", msgspec.structs.replace(BERLIN, now=before)) == "03:30:00"


def test_without_the_extra_clocks_and_plain_words_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "text_to_num", lambda: None)
    assert value("time", "19:30") == "19:30:00"
    assert value("time", "half past seven") == "07:30:00"


@pytest.mark.parametrize(
    "given_value",
    ["07:05:00", "07:05", {"hour": 7, "minute": 5, "second": 0}, {"hour": 7, "minute": 5}],
)
def test_a_parsed_time_is_taken(given_value: object) -> None:
    assert take_value("time", "time", given_value, BERLIN) == Understood("07:05:00")


@pytest.mark.parametrize("given_value", ["25:00", {"hour": 25}, {"hour": "x"}, 7, None])
def test_other_parsed_values_are_none(given_value: object) -> None:
    assert isinstance(take_value("time", "time", given_value, BERLIN), NotUnderstood)


@pytest.mark.parametrize(
    ("said", "language", "expected"),
    [
        ("um halb sieben", "de", "06:30:00"),
        ("acht Uhr abends", "de", "20:00:00"),
        ("Viertel nach drei", "de", "03:15:00"),
        ("huit heures et demie", "fr", "08:30:00"),
        ("9 heures moins le quart", "fr", "08:45:00"),
        ("deux heures de l'après-midi", "fr", "14:00:00"),
        ("a las siete y cuarto", "es", "07:15:00"),
        ("a las 8 de la tarde", "es", "20:00:00"),
    ],
)
def test_times_are_read_in_other_languages(said: str, language: str, expected: str) -> None:
    context = AnswerContext(now=dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC), language=language)
    assert read("time", said, context) == Understood(expected)
