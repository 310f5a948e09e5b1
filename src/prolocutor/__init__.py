"""Prolocutor: one assistant out of many black-box conversational agents.

The public names are found here and loaded when they are first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prolocutor.assistant.assistant import Assistant as Assistant
    from prolocutor.assistant.notification import permission_request as permission_request
    from prolocutor.assistant.runner import run as run
    from prolocutor.assistant.turn_result import TurnResult as TurnResult
    from prolocutor.contracts.selection import Selection as Selection
    from prolocutor.contracts.selection import enough as enough
    from prolocutor.dialog.dialog import Dialog as Dialog
    from prolocutor.dialog.profiles import Bot as Bot
    from prolocutor.dialog.profiles import Human as Human
    from prolocutor.dialog.utterances import BotUtterance as BotUtterance
    from prolocutor.dialog.utterances import HumanUtterance as HumanUtterance
    from prolocutor.dialog.utterances import Hypothesis as Hypothesis
    from prolocutor.errors import ProlocutorError as ProlocutorError
    from prolocutor.parlai.message import Message as Message
    from prolocutor.pipeline.plan import Breaker as Breaker
    from prolocutor.pipeline.plan import Pipeline as Pipeline
    from prolocutor.pipeline.plan import Service as Service

__version__ = "0.1.0"

_PLACES = {
    "Assistant": "prolocutor.assistant.assistant",
    "BotUtterance": "prolocutor.dialog.utterances",
    "Bot": "prolocutor.dialog.profiles",
    "Breaker": "prolocutor.pipeline.plan",
    "Dialog": "prolocutor.dialog.dialog",
    "Human": "prolocutor.dialog.profiles",
    "HumanUtterance": "prolocutor.dialog.utterances",
    "Hypothesis": "prolocutor.dialog.utterances",
    "Message": "prolocutor.parlai.message",
    "Pipeline": "prolocutor.pipeline.plan",
    "ProlocutorError": "prolocutor.errors",
    "Selection": "prolocutor.contracts.selection",
    "Service": "prolocutor.pipeline.plan",
    "TurnResult": "prolocutor.assistant.turn_result",
    "enough": "prolocutor.contracts.selection",
    "permission_request": "prolocutor.assistant.notification",
    "run": "prolocutor.assistant.runner",
}

__all__ = ["__version__", *sorted(_PLACES)]


def __getattr__(name: str) -> Any:
    if name == "knowledge":
        import importlib

        return importlib.import_module("prolocutor.knowledge")
    if name not in _PLACES:
        raise AttributeError(f"module 'prolocutor' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
