"""The agents against ten phrasings each that were written after them: agent, words, pattern."""

import importlib
import re
from pathlib import Path

from tests.demo.agent_requests import request

LINES = [
    line.split("\t")
    for line in Path(__file__).with_name("unseen.txt").read_text(encoding="utf-8").splitlines()
]


def test_95_of_100_phrasings_that_no_agent_was_made_for_are_answered() -> None:
    missed = []
    for name, words, expected in LINES:
        agent = importlib.import_module(f"prolocutor_demo.{name}")
        [reply] = agent.answer(request(words))
        if reply["confidence"] < 0.5 or not re.search(expected, reply["text"], re.DOTALL):
            missed.append((name, words, reply["text"]))
    assert len(missed) <= len(LINES) * 0.05, missed
