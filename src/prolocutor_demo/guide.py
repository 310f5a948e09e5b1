"""The guide: an agent that knows nothing but what there is to ask; for when nobody else answers."""

from typing import Any

UNSURE = 0.2
"""More than the others have when they decline, less than they have for any answer."""

GUIDANCE = (
    "I do not know that. I calculate, convert units and money, tell times, dates and public"
    " holidays, look up words and countries, keep your todo list and timers, flip coins and roll"
    " dice, tell jokes, and chat."
)


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """What can be asked here, whatever was asked."""
    return [{"text": GUIDANCE, "confidence": UNSURE}]
