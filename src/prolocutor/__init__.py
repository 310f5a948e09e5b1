"""Prolocutor: one assistant out of many black-box conversational agents.

The public names are found here and loaded when they are first asked for.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from prolocutor.moved import MovedModules, moved_name

if TYPE_CHECKING:
    from prolocutor.assistant.agenda import permission_request as permission_request
    from prolocutor.assistant.assistant import Assistant as Assistant
    from prolocutor.assistant.runner import run as run
    from prolocutor.assistant.services import ServiceStatus as ServiceStatus
    from prolocutor.assistant.turn_result import TurnResult as TurnResult
    from prolocutor.assistant.turn_stream import FeedMessage as FeedMessage
    from prolocutor.contracts.pairing import Card as Card
    from prolocutor.contracts.selection import Effects as Effects
    from prolocutor.contracts.selection import Selection as Selection
    from prolocutor.contracts.selection import enough as enough
    from prolocutor.dialog.dialog import Bot as Bot
    from prolocutor.dialog.dialog import BotUtterance as BotUtterance
    from prolocutor.dialog.dialog import Dialog as Dialog
    from prolocutor.dialog.dialog import Human as Human
    from prolocutor.dialog.dialog import HumanUtterance as HumanUtterance
    from prolocutor.dialog.dialog import Hypothesis as Hypothesis
    from prolocutor.dialog.dialog import ScheduledMessage as ScheduledMessage
    from prolocutor.dialog.dialog import SelectorReply as SelectorReply
    from prolocutor.dialog.inputs import TurnInput as TurnInput
    from prolocutor.dialog.messages import Audio as Audio
    from prolocutor.dialog.messages import Button as Button
    from prolocutor.dialog.messages import Choice as Choice
    from prolocutor.dialog.messages import Link as Link
    from prolocutor.dialog.messages import Picture as Picture
    from prolocutor.dialog.messages import Result as Result
    from prolocutor.dialog.messages import RichLink as RichLink
    from prolocutor.dialog.messages import RichMessage as RichMessage
    from prolocutor.dialog.messages import Text as Text
    from prolocutor.dialog.messages import Video as Video
    from prolocutor.dialog.rounds import Ask as Ask
    from prolocutor.dialog.turn_events import Delta as Delta
    from prolocutor.dialog.turn_events import Replaced as Replaced
    from prolocutor.dialog.turn_events import ReplyGiven as ReplyGiven
    from prolocutor.dialog.turn_events import ServiceAsked as ServiceAsked
    from prolocutor.dialog.turn_events import ServiceSettled as ServiceSettled
    from prolocutor.dialog.turn_events import StageEnded as StageEnded
    from prolocutor.dialog.turn_events import StageStarted as StageStarted
    from prolocutor.dialog.turn_events import TurnEvent as TurnEvent
    from prolocutor.dialog.turn_events import TurnStarted as TurnStarted
    from prolocutor.dialog.turn_request import AskAnswer as AskAnswer
    from prolocutor.dialog.turn_request import TurnRequest as TurnRequest
    from prolocutor.errors import ProlocutorError as ProlocutorError
    from prolocutor.plan.pipeline import Pipeline as Pipeline
    from prolocutor.plan.pipeline import Service as Service
    from prolocutor.plan.pipeline import service as service
    from prolocutor.plan.pipeline import skill as skill
    from prolocutor.plan.stages import Annotator as Annotator
    from prolocutor.plan.stages import Breaker as Breaker
    from prolocutor.plan.stages import CandidateAnnotator as CandidateAnnotator
    from prolocutor.plan.stages import Postprocessor as Postprocessor
    from prolocutor.plan.stages import ResponseAnnotator as ResponseAnnotator
    from prolocutor.plan.stages import ResponseSelector as ResponseSelector
    from prolocutor.plan.stages import Skill as Skill
    from prolocutor.plan.stages import SkillSelector as SkillSelector
    from prolocutor.plugins.evaluation.parlai.message import Message as Message

__version__ = "0.1.0"

_MODULES = {
    "Annotator": "prolocutor.plan.stages",
    "Ask": "prolocutor.dialog.rounds",
    "AskAnswer": "prolocutor.dialog.turn_request",
    "Assistant": "prolocutor.assistant.assistant",
    "Audio": "prolocutor.dialog.messages",
    "Bot": "prolocutor.dialog.dialog",
    "BotUtterance": "prolocutor.dialog.dialog",
    "Breaker": "prolocutor.plan.stages",
    "Button": "prolocutor.dialog.messages",
    "CandidateAnnotator": "prolocutor.plan.stages",
    "Card": "prolocutor.contracts.pairing",
    "Choice": "prolocutor.dialog.messages",
    "Delta": "prolocutor.dialog.turn_events",
    "Dialog": "prolocutor.dialog.dialog",
    "Effects": "prolocutor.contracts.selection",
    "FeedMessage": "prolocutor.assistant.turn_stream",
    "Human": "prolocutor.dialog.dialog",
    "HumanUtterance": "prolocutor.dialog.dialog",
    "Hypothesis": "prolocutor.dialog.dialog",
    "Link": "prolocutor.dialog.messages",
    "Message": "prolocutor.parlai.message",
    "Picture": "prolocutor.dialog.messages",
    "Pipeline": "prolocutor.plan.pipeline",
    "Postprocessor": "prolocutor.plan.stages",
    "ProlocutorError": "prolocutor.errors",
    "Replaced": "prolocutor.dialog.turn_events",
    "ReplyGiven": "prolocutor.dialog.turn_events",
    "ResponseAnnotator": "prolocutor.plan.stages",
    "ResponseSelector": "prolocutor.plan.stages",
    "Result": "prolocutor.dialog.messages",
    "RichLink": "prolocutor.dialog.messages",
    "RichMessage": "prolocutor.dialog.messages",
    "ScheduledMessage": "prolocutor.dialog.dialog",
    "Selection": "prolocutor.contracts.selection",
    "SelectorReply": "prolocutor.dialog.dialog",
    "Service": "prolocutor.plan.pipeline",
    "ServiceAsked": "prolocutor.dialog.turn_events",
    "ServiceSettled": "prolocutor.dialog.turn_events",
    "ServiceStatus": "prolocutor.assistant.services",
    "Skill": "prolocutor.plan.stages",
    "SkillSelector": "prolocutor.plan.stages",
    "StageEnded": "prolocutor.dialog.turn_events",
    "StageStarted": "prolocutor.dialog.turn_events",
    "Text": "prolocutor.dialog.messages",
    "TurnEvent": "prolocutor.dialog.turn_events",
    "TurnInput": "prolocutor.dialog.inputs",
    "TurnRequest": "prolocutor.dialog.turn_request",
    "TurnResult": "prolocutor.assistant.turn_result",
    "TurnStarted": "prolocutor.dialog.turn_events",
    "Video": "prolocutor.dialog.messages",
    "enough": "prolocutor.contracts.selection",
    "permission_request": "prolocutor.assistant.agenda",
    "run": "prolocutor.assistant.runner",
    "service": "prolocutor.plan.pipeline",
    "skill": "prolocutor.plan.pipeline",
}

__all__ = ["__version__", *sorted(_MODULES)]


def __getattr__(name: str) -> Any:
    if name in ("evaluation", "knowledge"):
        import importlib

        return importlib.import_module(f"prolocutor.{name}")
    if name not in _MODULES:
        return moved_name(__name__, name)
    import importlib

    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__


sys.meta_path.append(MovedModules(__name__))
