"""Letters without their accents, as many people type them."""

from __future__ import annotations

from typing import Final

_PLAIN: Final = str.maketrans(
    "àáâäãåçèéêëìíîïñòóôöõùúûüÿÀÁÂÄÃÅÇÈÉÊËÌÍÎÏÑÒÓÔÖÕÙÚÛÜ",
    "aaaaaaceeeeiiiinooooouuuuyAAAAAACEEEEIIIINOOOOOUUUU",
)


def without_accents(text: str) -> str:
    """Return the text without accents, of the same length.

    >>> without_accents("Wie spät? ¿Qué día?")
    'Wie spat? ¿Que dia?'
    """
    return text.translate(_PLAIN)
