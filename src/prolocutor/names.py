"""What to suggest for a name that is not known: the closest known one, or all of them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name that is most similar to this one; None if all are below `cutoff`."""
    return next(iter(get_close_matches(word, list(known), n=1, cutoff=cutoff)), None)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return `did you mean '...'?` if a known name is close to this one."""
    close = closest(word, known)
    return None if close is None else f"did you mean {close!r}?"


def suggest(word: str, known: Iterable[str], what: str = "there are") -> str:
    """Return the closest known name as a question, else `there are ...` with all of them."""
    names = list(known)
    return did_you_mean(word, names) or f"{what} {', '.join(names)}"
