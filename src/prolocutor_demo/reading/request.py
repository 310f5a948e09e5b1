"""Reads a request: the text, the time of asking, the user's attributes."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

LONGEST_TEXT = 500


def text_of(request: dict[str, Any]) -> str:
    """Return the user's last text, stripped and cut at 500 characters; "" if there is none."""
    text = _last_utterance(request).get("text")
    return text.strip()[:LONGEST_TEXT].strip() if isinstance(text, str) else ""


def attributes_of(request: dict[str, Any]) -> dict[str, Any]:
    """Return the user's attributes; {} if there are none."""
    human = request.get("human")
    attributes = human.get("attributes") if isinstance(human, dict) else None
    return attributes if isinstance(attributes, dict) else {}


def now_of(request: dict[str, Any]) -> dt.datetime:
    """Return the time of asking, aware, in the user's time zone (else the server's).

    The clock is read only for a request that carries no readable `date_time`.
    """
    stamp = _last_utterance(request).get("date_time")
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


def _last_utterance(request: dict[str, Any]) -> dict[str, Any]:
    utterances = request.get("human_utterances")
    last = utterances[-1] if isinstance(utterances, list) and utterances else None
    return last if isinstance(last, dict) else {}
