"""Hints: what is said when an answer is not understood."""

from __future__ import annotations

from typing import Final

from prolocutor.dialog.messages import ASK_KINDS
from prolocutor.dialog.rounds import Ask

NOT_ASKED: Final = "Sorry, but that's not what I context."
NOT_UNDERSTOOD: Final = "Sorry, I did not understand that."
EXTRA: Final = "pip install 'prolocutor[asks]'"

_WANTED: Final[dict[Ask, str]] = {
    "yesno": "Just answer yes or no.",
    "number": "I'm looking for a number.",
    "date": "I'm looking for a date.",
    "time": "I'm looking for a time of day.",
    "location": "I'm looking for a location.",
    "phone_number": "I'm looking for a phone number.",
    "email_address": "I'm looking for an email address.",
    "contact": "I'm looking for a contact: a name, a phone number or an email address.",
    "picture": "I'm looking for a picture.",
    "password": "I'm looking for a password.",
    "raw_string": "Any text will do.",
    "choice": "Please click on one of the provided choices.",
    "command": "I'm looking for a command.",
    "generic": "I'm looking for a value, such as 5 km, 30 minutes, a date or a number.",
}


def hint_for(kind: Ask) -> str:
    """Return the sentence that says what an ask of this kind expects."""
    if kind in _WANTED:
        return _WANTED[kind]
    hint: str = ASK_KINDS.load(kind).hint
    return hint


def extra_hint(what: str, instead: str) -> str:
    """Return the sentence that says which answers need an extra, and what works without it.

    >>> extra_hint("Numbers in words", "digits")
    "Numbers in words need an extra (pip install 'prolocutor[asks]'); please use digits."
    """
    return f"{what} need an extra ({EXTRA}); please use {instead}."
