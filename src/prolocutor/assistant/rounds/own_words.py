"""Sentences that the assistant says itself, asks that it repeats, and long choices by pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from prolocutor.asks.answer_forms import GIVEN_UP
from prolocutor.dialog.inputs import DirectReply, EarlierTurn
from prolocutor.dialog.rounds import Forward, OfferedChoice, PendingAsk

PAGE_CHOICES: Final = 9
"""Choices on one page."""

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


def last_page(waiting: PendingAsk) -> int:
    """Return the number of the last page, counted from 0."""
    return max(0, len(waiting.choices) - 1) // PAGE_CHOICES


def current_page(waiting: PendingAsk) -> list[dict[str, Any]]:
    """Return the page of choices that was shown last, with buttons for the next and previous."""
    first = waiting.page * PAGE_CHOICES
    choices = [
        _choice(first + index, offered)
        for index, offered in enumerate(waiting.choices[first : first + PAGE_CHOICES])
    ]
    return [*choices, *_buttons(waiting)]


def first_page(messages: list[dict[str, Any]], waiting: PendingAsk) -> list[dict[str, Any]]:
    """Return messages with the first page of their choices; `forward` is not shown."""
    if len(waiting.choices) <= PAGE_CHOICES and not any(one.forward for one in waiting.choices):
        return messages
    fitting = [
        {key: value for key, value in one.items() if key != "forward"}
        for one in messages
        if one["type"] != "choice" or one["idx"] < PAGE_CHOICES
    ]
    return [*fitting, *_buttons(waiting)]


def offered_choices(messages: list[dict[str, Any]]) -> list[OfferedChoice]:
    """Return the choices among messages."""
    return [
        OfferedChoice(
            one["title"],
            one["text"] if isinstance(one.get("text"), str) else "",
            _forward(one.get("forward")),
        )
        for one in messages
        if one["type"] == "choice"
    ]


def _forward(given: Any) -> Forward | None:
    try:
        return None if given is None else msgspec.convert(given, Forward)
    except msgspec.ValidationError:
        return None


def _choice(index: int, offered: OfferedChoice) -> dict[str, Any]:
    choice: dict[str, Any] = {"type": "choice", "idx": index, "title": offered.title}
    return {**choice, "text": offered.text} if offered.text else choice


def _buttons(waiting: PendingAsk) -> list[dict[str, Any]]:
    more = [_button("More", "more")] if waiting.page < last_page(waiting) else []
    back = [_button("Back", "back")] if waiting.page else []
    return [*more, *back]


def _button(title: str, special: str) -> dict[str, Any]:
    code = ["bookkeeping", "special", f"special:{special}"]
    return {"type": "button", "title": title, "json": {"code": code, "entities": {}}}


def says(*sentences: str) -> DirectReply:
    """Return sentences, each a message of its own."""
    return DirectReply(messages=_texts(sentences))


def asks_again(waiting: PendingAsk, *sentences: str) -> DirectReply:
    """Return sentences, then the messages that asked, with the choices."""
    prompt = [one for one in waiting.prompt if one["type"] in _AGAIN]
    messages = [*_texts(sentences), *prompt, *current_page(waiting)]
    return DirectReply(messages=messages, ask=waiting.ask)


def ask_choice(waiting: PendingAsk, *sentences: str) -> DirectReply:
    """Return sentences, then the choices, without the messages that asked."""
    return DirectReply(messages=[*_texts(sentences), *current_page(waiting)], ask=waiting.ask)


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
