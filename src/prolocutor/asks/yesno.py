"""Reads yes and no, in many wordings: an answer has phrases of a single side, and courtesy."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, ClassVar, Final

from prolocutor.asks.answers import AnswerContext, AskOptions, NotUnderstood, Outcome, Understood
from prolocutor.dialog.plain import JsonObject
from prolocutor.reading.locales.locale import codes, reply_wordings
from prolocutor.reading.plain_text import plain

_SIDES: Final = {"polite": "", "mild": "mild", "weak": "weak", "yes": "yes", "no": "no"}
"""The side of each of the `replies` of `words.yaml` that are read here; courtesy has none."""

_BREAKS: Final = re.compile(r"[\s,.!;:\"()*_-]+")
_TONES: Final = re.compile("[\U0001f3fb-\U0001f3ff\ufe0f]")
_DRAWN_OUT: Final = re.compile(r"([a-z])\1{2,}")


@cache
def _phrases(every: tuple[str, ...]) -> tuple[dict[tuple[str, ...], str], int]:
    """Return the side of each phrase of every language, and the words of the longest phrase."""
    sides = {
        tuple(phrase.split()): side
        for name, side in _SIDES.items()
        for phrase in reply_wordings(name)
    }
    return sides, max(map(len, sides), default=0)


def read_yes_no(text: str, *, firmly: bool = False) -> bool | None:
    """Return whether a text as a whole means yes (True), no (False) or neither (None).

    `firmly` ignores words for yes with other meanings outside of answers ("fine", "nice", "good").
    """
    text = plain(text)
    if text.endswith("?") and not text.startswith("why not"):
        return None
    text = _TONES.sub("", text.rstrip("?").replace("'", ""))
    text = _DRAWN_OUT.sub(r"\1", text)
    sides = _sides(tuple(word for word in _BREAKS.split(text) if word))
    if sides is None or {"yes", "no"} <= sides:
        return None
    if "no" in sides:
        return False
    accepted = {"yes"} if firmly else {"yes", "weak"}
    return True if sides & accepted and "mild" not in sides else None


def read(text: str, context: AnswerContext) -> Outcome:
    """Read yes or no: a bool."""
    value = read_yes_no(text)
    return NotUnderstood(YesNo.hint) if value is None else Understood(value)


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed bool."""
    if type_name == "yesno" and isinstance(value, bool):
        return Understood(value)
    return NotUnderstood(YesNo.hint)


def _sides(words: tuple[str, ...]) -> set[str] | None:
    """Return the sides of the phrases in the words; None if a word is in no phrase."""
    phrases, longest = _phrases(codes())
    sides: set[str] = set()
    while words:
        lengths = range(min(longest, len(words)), 0, -1)
        length = next((n for n in lengths if words[:n] in phrases), 0)
        if not length:
            return None
        sides.add(phrases[words[:length]])
        words = words[length:]
    return sides


class YesNo(AskOptions, frozen=True):
    """Yes or no, as a bool."""

    hint: ClassVar[str] = "Just answer yes or no."
    schema: ClassVar[JsonObject] = {"type": "string", "enum": ["yes", "no"]}
    before_controls: ClassVar[bool] = True
    is_telling: ClassVar[bool] = True
    read, take = staticmethod(read), staticmethod(take)
