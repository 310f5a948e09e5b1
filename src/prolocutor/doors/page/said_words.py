"""What the rows of a feed say in words, for titles and for search."""

from __future__ import annotations

from typing import Any, Final

import msgspec

TITLE: Final = 40
"""Characters of a title that is made of the first words."""

AROUND: Final = 60
SHOWN: Final = 200
"""Characters that a search shows before the first word found, and in all."""


class SaidMessage(msgspec.Struct, frozen=True):
    """What is read of a row's message; everything else in it counts for nothing."""

    type: str = ""
    text: Any = None
    command: Any = None
    title: Any = None
    alt: Any = None
    icon: Any = None
    utt_id: str = ""

    def around(self, wanted: list[str]) -> str | None:
        """Return the words around the first one that is wanted; None unless all are there."""
        parts = (self.command, self.text, self.title, self.alt)
        text = " ".join(one for one in parts if isinstance(one, str))
        folded = text.casefold()
        places = [folded.find(word) for word in wanted]
        if -1 in places:
            return None
        start = max(0, min(places) - AROUND)
        shown = " ".join(text[start : start + SHOWN].split())
        before = "…" if start else ""
        return before + shown + ("…" if start + SHOWN < len(text) else "")


def read_message(message: bytes | None) -> SaidMessage:
    """Read the message of a row; one that is no such object says nothing."""
    try:
        read = _DECODER.decode(message) if message else _NOTHING
    except msgspec.DecodeError:
        return _NOTHING
    if read.icon is not None and not isinstance(read.icon, str):
        return msgspec.structs.replace(read, icon=None)
    return read


def may_have(message: bytes | None, wanted: list[str]) -> bool:
    """Return whether a row may have all words, without reading it.

    Where both are ASCII they stand there as they are; in other texts folded letters may differ.
    """
    if message is None:
        return False
    if not message.isascii():
        return True
    lower = message.lower()
    return all(word.encode() in lower for word in wanted if word.isalnum())


def first_words(text: object) -> str:
    """Return the beginning of a text as a title, cut between words where that is possible."""
    words = " ".join(text.split()) if isinstance(text, str) else ""
    if len(words) <= TITLE:
        return words
    cut, _, rest = words[:TITLE].rpartition(" ")
    return f"{cut if len(cut) > len(rest) else words[: TITLE - 1]}…"


def time_of_id(id_: str) -> float:
    """Return when an id was made (seconds, UNIX): it begins with the milliseconds."""
    try:
        return int(id_[:12], 16) / 1000
    except ValueError:
        return 0.0


_DECODER: Final = msgspec.json.Decoder(SaidMessage)
_NOTHING: Final = SaidMessage()
