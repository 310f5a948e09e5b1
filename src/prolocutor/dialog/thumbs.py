"""Thumbs: which ratings say that a reply was good, and which that it was bad."""

from __future__ import annotations

from typing import Final

LIKED: Final = frozenset("up good great like liked yes right correct helpful + +1 👍".split())
DISLIKED: Final = frozenset("down bad poor dislike disliked no wrong unhelpful - -1 👎".split())


def thumb(rating: object) -> bool | None:
    """Read a thumb: true or false, a word, or a number that is 1 or not above 0; else None."""
    if isinstance(rating, bool):
        return rating
    if isinstance(rating, str):
        return liked(rating)
    if isinstance(rating, int | float):
        return True if rating == 1 else False if rating <= 0 else None
    return None


def liked(word: str) -> bool | None:
    """Return whether a word is a thumb up or down; None for other words."""
    word = word.strip().lower()
    return True if word in LIKED else False if word in DISLIKED else None
