"""Hints: what is said when an answer is not understood."""

from __future__ import annotations

from typing import Final

NOT_ASKED: Final = "Sorry, but that's not what I asked."
NOT_UNDERSTOOD: Final = "Sorry, I did not understand that."
EXTRA: Final = "pip install 'prolocutor[asks]'"


def extra_hint(what: str, instead: str) -> str:
    """Return the sentence that says which answers need an extra, and what works without it.

    >>> extra_hint("Numbers in words", "digits")
    "Numbers in words need an extra (pip install 'prolocutor[asks]'); please use digits."
    """
    return f"{what} need an extra ({EXTRA}); please use {instead}."
