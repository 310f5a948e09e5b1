"""Reads a request: the text, the time of asking, the user's attributes."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

from prolocutor_demo.reading.languages.heard import heard_in, with_english_names
from prolocutor_demo.reading.languages.names import LANGUAGES
from prolocutor_demo.reading.languages.orders import order_in
from prolocutor_demo.reading.utterance import (
    ENGLISH,
    attributes_of,
    id_before,
    id_of,
    is_correction,
    language_is_guessed,
    language_meant,
    language_of,
    last_utterance,
    mended_words,
    words_of_follow_up,
)

__all__ = [
    "attributes_of",
    "id_before",
    "id_of",
    "is_correction",
    "mended_words",
    "now_of",
    "said_of",
    "text_of",
    "words_of_follow_up",
]

LONGEST_TEXT = 500


def text_of(request: dict[str, Any]) -> str:
    """Return the user's last text, stripped and cut at 500 characters; "" if there is none.

    A text in another language that is read is returned in English. What a follow-up means may be in
    another language than its words.
    """
    return _in_english(request, last_utterance(request).get("text"))


def said_of(request: dict[str, Any]) -> str:
    """Return the words that the user really said, in English, also where a follow-up means more."""
    return _in_english(request, words_of_follow_up(request) or last_utterance(request).get("text"))


def _in_english(request: dict[str, Any], text: object) -> str:
    said = text.strip()[:LONGEST_TEXT].strip() if isinstance(text, str) else ""
    if not said:
        return said
    spoken, meant = language_of(request), language_meant(request)
    others = LANGUAGES if language_is_guessed(request) else ()
    for code in dict.fromkeys((meant, spoken, *others)):
        if code in LANGUAGES and (heard := order_in(code, said) or heard_in(code, said)):
            return heard
    mixed = meant == ENGLISH and spoken in LANGUAGES
    return with_english_names(spoken, said) if mixed else said


def now_of(request: dict[str, Any]) -> dt.datetime:
    """Return the time of asking, aware, in the user's time zone (else the server's).

    The clock is read only for a request that carries no readable `date_time`.
    """
    stamp = last_utterance(request).get("date_time")
    try:
        moment = dt.datetime.fromisoformat(str(stamp))
    except ValueError:
        moment = dt.datetime.now(dt.UTC)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    try:
        return moment.astimezone(_zone(attributes_of(request).get("timezone")))
    except OverflowError:
        return moment


def _zone(name: object) -> ZoneInfo | None:
    """Return the named zone; None, which `astimezone` takes as the server's, if unknown."""
    if not isinstance(name, str) or not name:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
