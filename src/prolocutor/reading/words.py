"""Words of any script, and how many two texts share."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts without spaces: sign by sign
    r"|[^\W\d_]+(?:['’][^\W\d_]+)?"
    r"|\d+(?:[.,:/-]\d+)*"
    r"|[$€£¥₹%+*/=°√^]"
)
LONGEST_TEXT: Final = 2000
"""The most signs of a text that are read."""


def words(text: str) -> list[str]:
    """Return words, numbers and signs of calculation, in lower case; at most of 2,000 signs."""
    return _WORD.findall(text[:LONGEST_TEXT].lower().replace("’", "'"))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of common words among all of two sets; 1 for two empty ones."""
    both = len(first & second)
    union = len(first) + len(second) - both
    return both / union if union else 1.0
