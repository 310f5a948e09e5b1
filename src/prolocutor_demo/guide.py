"""The guide: an agent that lists what the demo can answer, for when no other agent answers."""

from typing import Any

from prolocutor_demo.reading.languages.speaking import in_language

UNSURE = 0.2
"""More than the others have when they decline, less than they have for any answer."""

GUIDANCE = (
    "I do not know that. I calculate, convert units and money, tell times, dates and public"
    " holidays, look up words and countries, keep your todo list and timers, flip coins and roll"
    " dice, tell jokes, and chat."
)


@in_language
def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the demo can answer, for any input."""
    return [{"text": GUIDANCE, "confidence": UNSURE}]
