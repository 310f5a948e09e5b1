"""The skills of the assistant that the kits talk to."""

from __future__ import annotations

import asyncio
from typing import Any

SLOW = 20.0
"""Seconds of an answer that is cancelled."""


def echo(request: dict[str, Any]) -> dict[str, Any]:
    """Say what was said."""
    return {"text": f"You said: {said(request)}", "confidence": 0.5}


def failing(request: dict[str, Any]) -> dict[str, Any]:
    """Fail."""
    raise ValueError("This tool intentionally returns an error for testing")


def asking(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask for a name where somebody says "ask me", and greet."""
    if (answer := request.get("answer")) is not None:
        return [{"text": f"Hello, {answer.get('value')}!", "confidence": 1.0}]
    if said(request) != "ask me":
        return []
    return [{"text": "What is your name?", "ask": "raw_string", "confidence": 1.0}]


async def slow(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Take long where somebody says "take long"."""
    if said(request) != "take long":
        return []
    await asyncio.sleep(SLOW)
    return [{"text": "Done.", "confidence": 1.0}]


def said(request: dict[str, Any]) -> str:
    """Return what was said last."""
    return str(request["human_utterances"][-1]["text"])
