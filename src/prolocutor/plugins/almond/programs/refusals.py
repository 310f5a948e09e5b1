"""Refusals: the replies to programs that cannot run."""

from __future__ import annotations

from typing import Any

from prolocutor.errors import Forbidden, ProlocutorError
from prolocutor.plugins.almond.programs import result_messages


def log_in_messages(error: Forbidden) -> list[dict[str, Any]]:
    """Return the messages that lead an anonymous person to the registration page."""
    link = {"type": "link", "title": "Register", "url": "/user/register"}
    return [result_messages.text(str(error)), link]


def refusal(source: str, error: ProlocutorError) -> str:
    """Return the sentence with the reason why a program is not run."""
    what = f"“{source}”" if source else "it"
    why = str(error).rstrip(".")
    return f"Sorry, I cannot run {what}: {why}{'' if why.endswith('?') else '.'}"
