"""Requests and phrasings for the tests of the demo's agents."""

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

PHRASINGS = Path(__file__).parent / "phrasings"
NOW = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


class Phrasing(NamedTuple):
    """One line of a phrasings file: the words, and a pattern that the answer is to show."""

    text: str
    expected: str | None

    def fits(self, answer: str) -> bool:
        """Whether the answer holds the expected text, taken literally or as a pattern."""
        if self.expected is None or self.expected.lower() in answer.lower():
            return True
        try:
            return re.search(self.expected, answer, re.IGNORECASE) is not None
        except re.error:
            return False


def request(
    text: str, attributes: dict[str, Any] | None = None, now: dt.datetime = NOW
) -> dict[str, Any]:
    """The agent state of a dialog of one utterance, asked in Berlin unless told otherwise."""
    moment = now.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    human = {"attributes": {"timezone": "Europe/Berlin"} | (attributes or {})}
    utterance = {"text": text, "date_time": moment, "annotations": {}, "user": human}
    return {
        "dialog_id": "0" * 32,
        "human": human,
        "human_utterances": [utterance],
        "bot_utterances": [],
        "utterances": [utterance],
    }


def answer_to(asked: dict[str, Any], words: str) -> dict[str, Any]:
    """What the assistant adds to a request where the reply before asked; {} where it did not."""
    if "ask" not in asked:
        return {}
    titles = [one["title"] for one in asked.get("messages", ()) if one["type"] == "choice"]
    chosen = {"title": words, "idx": titles.index(words)} if words in titles else None
    kind = "cancelled" if words == "never mind" else asked["ask"]
    answer = {"kind": kind, "value": chosen or words, "raw": words}
    return {"answer": answer | {"context": json.loads(json.dumps(asked["ask_context"]))}}


def phrasings(agent: str) -> list[Phrasing]:
    """The lines of `phrasings/<agent>.txt`, in order."""
    lines = (PHRASINGS / f"{agent}.txt").read_text(encoding="utf-8").splitlines()
    return [_parse(line) for line in lines if line.strip()]


def agents_with_phrasings() -> list[str]:
    """The names of all agents that have a phrasings file."""
    return sorted(path.stem for path in PHRASINGS.glob("*.txt"))


def _parse(line: str) -> Phrasing:
    text, _, expected = line.partition("\t")
    return Phrasing(text.strip(), expected.strip() or None)
