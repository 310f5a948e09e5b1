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

_KEPT_TEXTS: Final = 1024
_KEPT_CANDIDATES: Final = 8192
_LONGEST_KEPT: Final = 256

_remembered: Final[dict[str, list[str]]] = {}


def normalize_answer(text: str) -> str:
    """Give the normal form of `text`: its normal words with a space between each two."""
    return " ".join(words_of(text))


def words_of(text: str) -> list[str]:
    """Give the normal words of `text`; the list may be shared with others and is not to be changed.

    Short texts are remembered, at most 1,024 (some megabytes): guess and label are often the same,
    and so are the answers of many examples. A plain dictionary, emptied when full, costs half of
    what `lru_cache` does for a text that is new.
    """
    known = _remembered.get(text)
    if known is not None:
        return known
    words = _words(text)
    if len(text) <= _LONGEST_KEPT:
        if len(_remembered) >= _KEPT_TEXTS:
            _remembered.clear()
        _remembered[text] = words
    return words


def normal_candidate(text: str) -> str:
    """Give the normal form of one of many candidates, which often come again with each example."""
    return _remembered_text(text) if len(text) <= _LONGEST_KEPT else normalize_answer(text)


def _words(text: str) -> list[str]:
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


@lru_cache(maxsize=_KEPT_CANDIDATES)
def _remembered_text(text: str) -> str:
    return " ".join(_words(text))
