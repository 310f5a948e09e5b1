"""The output of a turn."""

from typing import Any

import pytest

from prolocutor.cli.turn_output import turn_output
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
        turn = turn_output("hi", await it.turn("hi", user="ann"))
    assert turn.spoken == text


async def test_a_silent_turn_has_no_text() -> None:
    async with assistant() as it:
        turn = await it.turn("", user="ann", program="bookkeeping(stop);")
    assert turn_output("", turn).spoken == ""
