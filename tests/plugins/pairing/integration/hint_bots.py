"""An agent that knows everything, under any name."""

from typing import Any


async def reply(request: dict[str, Any]) -> dict[str, Any]:
    """Answer in the name that it is asked by."""
    return {"text": f"{request['service']} says so.", "confidence": 0.5}
