import re
from datetime import UTC, datetime, timedelta

import click
import pytest

from prolocutor.dialog.ids import format_time, parse_time
from prolocutor.plugins.upkeep.times import AgeParam, TimeParam, local


def test_a_day_begins_at_midnight_here() -> None:
    moment = TimeParam().convert("2026-11-20", None, None)

    assert datetime.fromtimestamp(parse_time(moment)) == datetime(2026, 11, 20)  # noqa: DTZ001, DTZ006


@pytest.mark.parametrize(
    ("text", "span"),
    [("30d", timedelta(days=30)), ("12h", timedelta(hours=12)), ("2w", timedelta(weeks=2))],
)
def test_a_span_is_so_long_ago(text: str, span: timedelta) -> None:
    ago = datetime.now(UTC) - span

    assert abs(parse_time(TimeParam().convert(text, None, None)) - ago.timestamp()) < 60
    assert abs(parse_time(AgeParam().convert(text, None, None)) - ago.timestamp()) < 60


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "d", "-1d", "30", "9999999d"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match=f"{re.escape(repr(text))} is no"):
        TimeParam().convert(text, None, None)
    with pytest.raises(click.BadParameter):
        AgeParam().convert(text, None, None)


def test_times_are_shown_as_they_are_here() -> None:
    now = datetime.now().astimezone()

    assert local(format_time(now.timestamp())) == now.strftime("%Y-%m-%d %H:%M")
    assert local(None) == ""
