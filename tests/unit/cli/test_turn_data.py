"""A turn as plain data, and what is said in it as text."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor.cli.turn_data import spoken, turn_data
from tests.unit.assistant.talks import assistant
from tests.unit.pipeline.talk import hypothesis, says

CHOICES = [{"type": "choice", "title": "Tea"}, {"type": "choice", "title": "Coffee"}]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (hypothesis("  two\n\n  lines "), "  two\n\n  lines "),
        (hypothesis("Really?", ask="yesno"), "Really? [yes/no]"),
        (hypothesis("Which?", messages=CHOICES, ask="choice"), "Which?\n1. Tea\n2. Coffee"),
    ],
)
async def test_all_that_a_turn_says_is_written_as_text(said: Any, text: str) -> None:
    async with assistant(says("chat", said)) as it:
        turn = turn_data("hi", await it.turn("hi", user="ann"))
    assert spoken(turn) == text


async def test_a_silent_turn_has_no_text() -> None:
    async with assistant() as it:
        turn = await it.turn("", user="ann", program="bookkeeping(stop);")
    assert spoken(turn_data("", turn)) == ""
