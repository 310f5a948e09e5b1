"""Takes a command: whatever comes."""

from __future__ import annotations

from typing import Any

from prolocutor.asks.asked import Asked, NotUnderstood, Outcome, Understood
from prolocutor.asks.wanted import wanted


def read(text: str, asked: Asked) -> Outcome:
    """Take the words, without the blanks around them."""
    command = text.strip()
    return Understood(command) if command else NotUnderstood(wanted("command"))


def take(type_name: str, value: Any, asked: Asked) -> Outcome:
    """Take a parsed command: a text, or what stands for a program or a list of commands."""
    return read(value, asked) if isinstance(value, str) else Understood(value)
