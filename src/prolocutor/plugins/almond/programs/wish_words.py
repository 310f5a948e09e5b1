"""Wishes for running programs: list them, or stop some."""

from __future__ import annotations

import re
from typing import Final

from prolocutor.contracts.programs import ProgramWish
from prolocutor.reading.plain_text import plain

MAX_WISH_CHARACTERS: Final = 120
"""Characters of a text that may be a wish."""

_FIRST: Final = frozenset(
    "what what's whats which list show please stop cancel end delete remove kill do are can".split()
)
_ASKING: Final = frozenset("what what's whats which list show".split())
"""First words that cannot begin a wish to stop a program."""
_PROGRAMS: Final = r"(?:programs?|rules?|monitors?|automations?|apps|notifications)"
_LIST: Final = re.compile(
    rf"(?:what(?:'s| is|s)|which (?:{_PROGRAMS} )?(?:is|are)) (?:currently |still )?"
    r"(?:running|active)"
    rf"|(?:what|which) {_PROGRAMS} (?:are|do i have|is)(?: currently| still)?(?: running| active)?"
    rf"|what are you (?:running|doing|watching|monitoring) for me"
    rf"|(?:list|show|show me|tell me)(?: all)?(?: of)? (?:my|the)(?: running| active)? {_PROGRAMS}"
    r"|(?:what(?:'s| is|s)) running(?: right)? now"
)
_STOP: Final = r"(?:please )?(?:can you )?(?:stop|cancel|end|delete|remove|kill)"
_EVERYTHING: Final = re.compile(
    rf"{_STOP} (?:everything|all(?: of)?(?: my| the| your)?(?: running| active)? {_PROGRAMS}"
    r"|all of (?:them|it)|them all|all that(?:'s| is) running)"
)
_ONE: Final = re.compile(
    rf"{_STOP} (?:the |my |that |this )?"
    r"(?P<kind>timer|monitor|program|rule|automation|app|notification)s?"
    r"(?:,? (?:about|for|of|on|with|that|which|from|named|called))?(?: (?P<about>\S.*))?"
)
_ABOUT: Final = re.compile(
    rf"{_STOP} (?:the |my )?(?P<about>\S.*?) (?P<kind>timer|monitor|program|rule|notification)s?"
)
_TELLING: Final = re.compile(
    rf"{_STOP} (?:notifying|telling|informing|alerting) (?:me|us) (?:about|of|on|when) "
    r"(?P<about>\S.*)"
    rf"|{_STOP} (?:watching|monitoring) (?P<watched>\S.*)"
)
_WORDS: Final = re.compile(
    r"program|rule|monitor|automation|app|notif|timer|running|active|doing|watching|telling"
    r"|informing|alerting|everything|all"
)
"""Every phrase contains such a word, and the search takes a third of the time of reading a text."""


def find_program_wish(text: str) -> ProgramWish | None:
    """Return the wish of a text that lists or stops running programs; None for any other text.

    >>> find_program_wish("Stop the timer about the comic!")
    ProgramWish(what='stop', about='the comic', kind='timer')
    """
    if len(text) > MAX_WISH_CHARACTERS:
        return None
    first = text.lstrip().partition(" ")[0].lower()
    if first not in _FIRST:
        return None
    if text.isascii() and not _WORDS.search(text.lower()):
        return None
    said = plain(text).strip(" .!?")
    said = said.removesuffix(" please").rstrip(" ,")
    if _LIST.fullmatch(said):
        return ProgramWish(what="list")
    if first in _ASKING:
        return None
    if _EVERYTHING.fullmatch(said):
        return ProgramWish(what="stop")
    if found := _TELLING.fullmatch(said):
        about = found["about"] or found["watched"]
        return ProgramWish(what="stop", about=about, kind="notification")
    for pattern in (_ONE, _ABOUT):
        if found := pattern.fullmatch(said):
            return ProgramWish(what="stop", about=found["about"] or "", kind=found["kind"])
    return None
