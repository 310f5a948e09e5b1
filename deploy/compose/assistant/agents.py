"""The skills of the try-out: put your own in their place."""

import os
import re
import socket
from typing import Any

WHERE = f"{socket.gethostname()}/{os.getpid()}"


def weather(requests: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Answer all requests that wait, in one call."""
    return [_weather(request["utterances"][-1]["text"]) for request in requests]


async def chat(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Say something to anything."""
    text = request["utterances"][-1]["text"]
    return [{"text": f"You said: {text} (I am {WHERE}.)", "confidence": 0.3}]


def _weather(text: str) -> list[dict[str, Any]]:
    if "weather" not in text.lower():
        return []
    found = re.search(r"\bin (\w+)", text)
    place = found[1] if found else "your place"
    return [{"text": f"It is sunny in {place}.", "confidence": 0.9}]
