"""Question-agent and question-response pairing; `Router` is its use from Python alone."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prolocutor.plugins.pairing.question_agent.learned import PlainRouter

    Router = PlainRouter


def __getattr__(name: str) -> Any:
    """Import a name at its first use, as it needs the libraries of the extra `pairing`."""
    if name == "Router":
        return import_module("prolocutor.plugins.pairing.question_agent.learned").PlainRouter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
