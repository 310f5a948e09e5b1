"""Normal text: what ParlAI compares in the place of a text.

Source: ParlAI 1.7.2's `normalize_answer`, which is that of SQuAD's evaluation (Rajpurkar et al.
2016) save that punctuation becomes space: lower case, each ASCII punctuation mark to a space, the
articles a, an, the as whole words to a space, white space to single spaces.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

ARTICLES: Final = frozenset(("a", "an", "the"))

_PUNCTUATION: Final = b"!\"#$%&()*+,-./:;<=>?@[]\\^`{|}~_'"
_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")

# All marks are ASCII, so they can be replaced in the bytes of UTF-8, which is the quickest way.
_SPACED: Final = bytes.maketrans(_PUNCTUATION, b" " * len(_PUNCTUATION))
_LOWERED: Final = bytes(_SPACED[byte] for byte in bytes(range(256)).lower())

_KEPT_CANDIDATES: Final = 8192
_LONGEST_KEPT: Final = 256


def normalize_answer(text: str) -> str:
    """Return the normal form of `text`: its normal words with a space between each two."""
    return " ".join(words_of(text))


def words_of(text: str) -> list[str]:
    """Return the normal words of `text`.

    They are not remembered: that costs a new text a quarter of what its words do.
    """
    if text.isascii():
        words = text.encode().translate(_LOWERED).decode().split()
        only_words = text.isprintable() or "".join(words).isalnum()
    else:
        spaced = text.lower().encode("utf-8", "surrogatepass").translate(_SPACED)
        words = spaced.decode("utf-8", "surrogatepass").split()
        only_words = "".join(words).isalnum()
    if not only_words:
        # Signs that are no part of a word are left (quotes, dashes, accents of their own, control
        # characters), and an article may stand between them.
        return _ARTICLE.sub(" ", " ".join(words)).split()
    if ARTICLES.isdisjoint(words):
        return words
    return [word for word in words if word not in ARTICLES]


def normal_candidate(text: str) -> str:
    """Return the normal form of one of many candidates, which often come again with each example.

    Short ones are remembered, the last 8,192 (some megabytes at most).
    """
    return _remembered_text(text) if len(text) <= _LONGEST_KEPT else normalize_answer(text)


@lru_cache(maxsize=_KEPT_CANDIDATES)
def _remembered_text(text: str) -> str:
    return " ".join(words_of(text))
