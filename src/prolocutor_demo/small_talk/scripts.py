"""The patterns and replies of small talk, read from `small_talk.yaml`."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

_FILE = Path(__file__).with_name("small_talk.yaml")
_TALK_ABOUT = (
    r"(?:(?:let'?s|shall we|can we|could we|i want to|i would like to|i'd like to) )?"
    r"(?:talk|chat|speak|discuss|tell you something)(?: to me| with me)?(?: a bit)?"
    r"(?: (?:about|of)|(?<=discuss)) (?:my )?"
)


class ScriptStep(NamedTuple):
    """One line of a script; the user's answer is stored under `key`."""

    say: str
    key: str = ""
    plain: str = ""


class Script(NamedTuple):
    """A sub-dialog: the patterns that request or open it, its steps, and its last line."""

    name: str
    asked_for: re.Pattern[str]
    opens: re.Pattern[str]
    steps: tuple[ScriptStep, ...]
    over: str


class PassingRemark(NamedTuple):
    """A kind of remark, and the replies to it."""

    said: re.Pattern[str]
    reply: tuple[str, ...]
    confidence: float


class SmallTalkWords(NamedTuple):
    """All patterns and replies of small talk."""

    scripts: tuple[Script, ...]
    replies: tuple[PassingRemark, ...]
    hints: tuple[PassingRemark, ...]  # searched in short utterances without another reply
    bored: re.Pattern[str]
    named: re.Pattern[str]
    whose_name: re.Pattern[str]


def read_words() -> SmallTalkWords:
    """Return the contents of the file with its patterns compiled."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    raw = yaml.load(_FILE.read_text(encoding="utf-8"), Loader=loader)
    return SmallTalkWords(
        tuple(_script(one) for one in raw["scripts"]),
        tuple(_passing(one, 0.92) for one in raw["replies"]),
        tuple(_passing(one, 0.6) for one in raw["hints"]),
        *(_any(raw[key]) for key in ("bored", "named", "whose_name")),
    )


def _passing(raw: dict[str, Any], confidence: float) -> PassingRemark:
    reply = tuple(raw["reply"])
    return PassingRemark(_any(raw["said"]), reply, raw.get("confidence", confidence))


def _script(raw: dict[str, Any]) -> Script:
    asked_for = re.compile(f"{_TALK_ABOUT}(?:{'|'.join(raw['topics'])})")
    steps = tuple(ScriptStep(**step) for step in raw["steps"])
    return Script(raw["name"], asked_for, _any(raw["opens"]), steps, raw["over"])


def _any(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
