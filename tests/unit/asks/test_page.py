"""The reference page of asks: its examples are understood as it says."""

import json
import re
from typing import Any

import msgspec
import pytest

from prolocutor.asks.controls import find_control
from prolocutor.dialog.messages import ASK_KINDS
from prolocutor.dialog.rounds import Ask, OfferedChoice
from tests.pages import ROOT, table
from tests.unit.asks.contexts import BERLIN, value

PAGE = ROOT / "docs" / "reference" / "asks.md"
UNDERSTOOD = table(PAGE, "What is understood")
ASKED = msgspec.structs.replace(
    BERLIN, choices=[OfferedChoice("Red wine"), OfferedChoice("White wine"), OfferedChoice("Beer")]
)
EXAMPLES = [
    (kind, text, json.loads(cells[2].strip("`")))
    for kind, cells in UNDERSTOOD.items()
    for text in re.findall("`([^`]+)`", cells[1])
]


def test_every_ask_has_a_row() -> None:
    assert sorted(UNDERSTOOD) == sorted(ASK_KINDS.names())


@pytest.mark.parametrize(("kind", "text", "expected"), EXAMPLES)
def test_each_example_gives_what_the_page_says(kind: Ask, text: str, expected: Any) -> None:
    for library in ("dateparser", "phonenumbers", "text_to_num"):
        pytest.importorskip(library)
    assert value(kind, text, ASKED) == expected


@pytest.mark.parametrize("text", table(PAGE, "Words that control a round"))
def test_each_word_that_steers_is_heard(text: str) -> None:
    assert find_control(text) == text.replace("never mind", "nevermind")
