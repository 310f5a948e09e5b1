"""The way of a text through the code is the one that the architecture page writes down."""

import re
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline
from tests.unit.assistant.talks import echo

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "architecture.md"
STEP = re.compile(r"^\d+\. `([\w/]+\.py)`: `([\w.]+)`", re.MULTILINE)


class CallLog:
    """The functions of ours that were called, in this order, in the threads that are profiled."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        _, ours, path = frame.f_code.co_filename.rpartition("/prolocutor/")
        if event == "call" and ours:
            self.calls.append((path, frame.f_code.co_qualname))


@pytest.mark.interpreted
async def test_a_text_goes_the_way_that_the_page_writes_down(tmp_path: Path) -> None:
    log = CallLog()
    threading.setprofile(log)
    try:
        store = f"sqlite:///{tmp_path}/dialogs.db"
        async with Assistant(Pipeline(skills=[echo()]), store=store) as assistant:
            log.calls.clear()
            sys.setprofile(log)
            await assistant.turn("hi", user="ann")
            sys.setprofile(None)
    finally:
        threading.setprofile(None)
        sys.setprofile(None)

    steps = steps_of_the_page()
    assert in_this_order(steps, log.calls) == steps


def test_the_way_of_a_text_is_short() -> None:
    steps = steps_of_the_page()
    until_durable = [file for file, _ in steps[:9]]

    assert len(steps) <= 15
    assert len(set(until_durable)) == len(until_durable)


def steps_of_the_page() -> list[tuple[str, str]]:
    """Return file and function of each step; the way of a hypothesis is another list."""
    _, _, way = PAGE.read_text("utf-8").partition("The way of a text,")
    return STEP.findall(way.partition("The way of a hypothesis,")[0])


def in_this_order(
    steps: list[tuple[str, str]], calls: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the steps that were called, each after the one before."""
    rest = iter(calls)
    return [step for step in steps if any(call == step for call in rest)]
