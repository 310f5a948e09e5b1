"""Wishes for a language: "in English please", "auf Deutsch", "speak Spanish"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from prolocutor.reading.plain_text import strip_accents

_NAMES: Final = {
    "en": r"english|englisch|anglais|ingles",
    "de": r"german|deutsch|allemand|aleman",
    "fr": r"french|franzosisch|francais|frances",
    "es": r"spanish|spanisch|espagnol|espanol|castellano",
}
_LEADS: Final = (
    r"and|now|ok(?:ay)?|but|no|again|the same|und|nochmal|noch mal|jetzt|bitte|das(?:selbe)?|aber"
    r"|et|maintenant|mais|encore|la meme chose|y|ahora|pero|lo mismo|otra vez|please|sorry"
)
_SPEAK: Final = (
    r"(?:(?:can|could|will|would) (?:you|we) |let'?s |please |you can )?"
    r"(?:speak|talk|answer|reply|respond|write|switch|continue|go on"
    r"|(?:say|repeat) (?:it|that))"
    r"(?: (?:me|to me|with me))?"
    r"|(?:kannst du |konnen wir |konntest du )?(?:sprich|sprechen|sprechen wir|red|rede|reden wir"
    r"|antworte(?: mir)?|sag (?:es|das)|schreib|das)"
    r"|(?:peux[- ]tu |on peut |tu peux )?(?:parle|parler|parlons|reponds(?:[- ]moi)?"
    r"|repondre|dis[- ]le|le dire)"
    r"|(?:puedes |podemos )?(?:habla|hablar|hablame|hablemos|responde|contesta|dilo"
    r"|decirlo|repitelo)"
)
_COURTESY: Final = (
    r"please|pls|plz|bitte|s'il (?:te|vous) plait|stp|svp|por favor|thanks|danke|merci|gracias"
    r"|now|jetzt|maintenant|ahora|instead|again|from now on|ab jetzt|sprechen|reden"
)
_WORDS: Final = (
    rf"(?>(?:{_LEADS})[\s,]++){{0,2}}(?P<speak>(?:{_SPEAK})\s++(?:to\s++)?)?+"
    r"(?P<lead>(?:in|auf|en)\s++)?+"
    rf"(?:{'|'.join(f'(?P<{code}>{names})' for code, names in _NAMES.items())})"
    rf"(?P<courtesy>(?:[\s,]++(?:{_COURTESY}))*+)"
)
_WISH: Final = re.compile(rf"{_WORDS}[\s.!?]*+", re.IGNORECASE)
_WISH_FIRST: Final = re.compile(rf"{_WORDS}(?P<sign>[\s,:;.!–-]+)(?=\S)", re.IGNORECASE)
"""A wish before a request."""

MAX_CHARACTERS: Final = 80
"""Characters of the longest wish that is read."""


@lru_cache(maxsize=8)  # the words of a turn, asked for several times
def wished_language(text: str) -> str | None:
    """Return the language that a text asks for, and asks no more; else None.

    >>> wished_language("auf Deutsch bitte"), wished_language("in Spain"), wished_language("German")
    ('de', None, None)
    """
    if len(text) > MAX_CHARACTERS:
        return None
    found = _WISH.fullmatch(strip_accents(" ".join(text.replace("’", "'").split())))
    if found is None or not (found["speak"] or found["lead"] or found["courtesy"]):
        return None
    return next(code for code in _NAMES if found[code])


def without_wish(text: str) -> tuple[str, str]:
    """Return a request without the wish for a language before it, and that language.

    >>> without_wish("auf Deutsch bitte: was ist das"), without_wish("in German cities it is cold")
    (('was ist das', 'de'), ('in German cities it is cold', ''))
    """
    found = _WISH_FIRST.match(strip_accents(text))
    led = found is not None and (found["speak"] or found["lead"] or found["courtesy"])
    if found is None or not led or not (found["sign"].strip() or found["courtesy"]):
        return text, ""
    return text[found.end() :], next(code for code in _NAMES if found[code])


def names_language(text: str) -> bool:
    """Return whether a text names a language."""
    return _NAMED.search(strip_accents(text)) is not None


_NAMED: Final = re.compile(rf"\b(?:{'|'.join(_NAMES.values())})\b", re.IGNORECASE)
