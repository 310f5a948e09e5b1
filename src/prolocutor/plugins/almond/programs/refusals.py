"""Refusals: what is said of a program that is not run."""

from __future__ import annotations

from typing import Any

from prolocutor.errors import Forbidden, ProlocutorError
from prolocutor.plugins.almond.programs import result_messages


def log_in(error: Forbidden) -> list[dict[str, Any]]:
    """Return the messages that send an anonymous person to the page on how to register."""
    link = {"type": "link", "title": "Register", "url": "/user/register"}
    return [result_messages.text(str(error)), link]


def refusal(source: str, error: ProlocutorError) -> str:
    """Return the sentence that says why a program is not run."""
    what = f"“{source}”" if source else "it"
    why = str(error).rstrip(".")
    return f"Sorry, I cannot run {what}: {why}{'' if why.endswith('?') else '.'}"
