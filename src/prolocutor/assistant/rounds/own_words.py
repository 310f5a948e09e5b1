"""Sentences that the assistant says itself, and asks that it repeats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from prolocutor.asks.answer_forms import GIVEN_UP
from prolocutor.assistant.rounds import choice_pages
from prolocutor.dialog.inputs import DirectReply, EarlierTurn
from prolocutor.dialog.rounds import PendingAsk

AGREE: Final = "I agree, but to what?"
NO_WAY: Final = "No way!"
MAYBE_WHAT: Final = "Maybe what?"
YES_WHAT: Final = "Yes what?"
CANNOT_HELP: Final = GIVEN_UP
NOT_WORKING: Final = "Sorry, that did not work just now."
CLICK: Final = "Please choose one of these."
NO_CHOICES: Final = "There is nothing to choose from now."
NO_MORE: Final = "There is nothing more to show."
NOTHING_ASKED: Final = "Sorry, I did not ask for anything."
NO_TRAINING: Final = "I learn from ratings: tell by a thumb up or down whether a reply was good."
NO_RULES: Final = "Sorry, I do not keep rules of who may do what."
HELLO: Final = "Hello! What can I do for you?"
TOO_LONG: Final = "Sorry, that took too long."

SILENCE: Final = DirectReply()

_AGAIN: Final = frozenset({"text", "button"})
"""Message types of a prompt that are repeated with it."""


def says(*sentences: str) -> DirectReply:
    """Return sentences, each a message of its own."""
    return DirectReply(messages=_texts(sentences))


def asks_again(waiting: PendingAsk, *sentences: str) -> DirectReply:
    """Return sentences, then the messages that asked, with the choices."""
    prompt = [one for one in waiting.prompt if one["type"] in _AGAIN]
    messages = [*_texts(sentences), *prompt, *choice_pages.shown(waiting)]
    return DirectReply(messages=messages, ask=waiting.ask)


def looks_for(waiting: PendingAsk, *sentences: str) -> DirectReply:
    """Return sentences, then the choices, without the messages that asked."""
    return DirectReply(messages=[*_texts(sentences), *choice_pages.shown(waiting)], ask=waiting.ask)


def menu(skills: Iterable[tuple[str, str]]) -> str:
    """Return a text that lists the skills by name and description."""
    lines = [f"{name}: {about}" if about else name for name, about in skills]
    return "\n".join(["Ask me anything. These are here to answer:", *lines])


def retold(turn: EarlierTurn) -> DirectReply:
    """Return the reply of a turn that was taken before."""
    return DirectReply(
        messages=turn.messages or _texts([turn.reply]), ask=turn.ask, skill=turn.skill
    )


def _texts(sentences: Iterable[str]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": one} for one in sentences if one]
