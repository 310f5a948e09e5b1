"""Ids and times are made in one place and keep their order."""

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.dialog import ids


def test_an_id_is_32_hex_digits() -> None:
    assert re.fullmatch("[0-9a-f]{32}", ids.new_id())


def test_ids_ascend_in_the_order_in_which_they_are_made() -> None:
    made = [ids.new_id(), *ids.new_ids(50), ids.new_id(), *ids.new_ids(50)]
    assert made == sorted(set(made))


def test_ids_ascend_though_the_clock_goes_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ids.new_id()
    monkeypatch.setattr(ids.time, "time_ns", lambda: 0)
    after = [ids.new_id(), *ids.new_ids(3)]
    assert [before, *after] == sorted({before, *after})


def test_a_time_is_written_in_the_agent_state_form() -> None:
    assert ids.format_time(0.25) == "1970-01-01 00:00:00.250000"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", ids.timestamp())


@given(st.integers(min_value=0, max_value=4_000_000_000))
def test_times_come_back(seconds: int) -> None:
    assert ids.parse_time(ids.format_time(seconds)) == seconds


def test_a_time_with_a_zone_is_read_in_that_zone() -> None:
    assert ids.parse_time("1970-01-01T01:00:00+01:00") == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_makes_other_ids() -> None:
    ids.new_id()
    receiver, sender = os.pipe()
    if (child := os.fork()) == 0:
        os.write(sender, "".join(made[12:] for made in ids.new_ids(50)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    digits = os.read(receiver, 1 << 16).decode()
    theirs = {digits[at : at + 20] for at in range(0, len(digits), 20)}
    assert len(theirs) == 50
    assert theirs.isdisjoint(made[12:] for made in ids.new_ids(300))
