"""The agents of acme; the module of the other assistant has the same name."""

from typing import Any


async def greet(request: dict[str, Any]) -> dict[str, Any]:
    """Say whose assistant this is."""
    text = request["utterances"][-1]["text"]
    return {"text": f"This is acme. You said: {text}", "confidence": 0.9}
