"""FollowUp: the whole question that the words of a turn mean together with the turn before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

FOLLOW_UP: Final = "follow_up"
"""The name of the annotation."""

LONGEST: Final = 2_000
"""Characters of the longest question that counts."""


class FollowUp(msgspec.Struct, frozen=True):
    """What the annotation says.

    `text` is the whole question, `of` the question of an earlier turn that it was made from,
    `confidence` (0 to 1) how sure it is that the words do not stand alone and mean this,
    `language` the language of the question (ISO 639-1) where the words are of another one, `skill`
    the one that answered the question it was made from: it is preferred for this one.
    """

    text: str
    of: str = ""
    confidence: float = 0.0
    language: str = ""
    skill: str = ""


def follow_up_of(annotations: Mapping[str, Any]) -> FollowUp | None:
    """Return what the annotation `follow_up` says; None where it is missing or of no use.

    An annotation without a text, with one that is too long, or of another shape is of no use.
    """
    given = annotations.get(FOLLOW_UP)
    if not given:
        return None
    try:
        found = msgspec.convert(given, FollowUp)
    except msgspec.ValidationError:
        return None
    return found if found.text.strip() and len(found.text) <= LONGEST else None
