"""What the assistant says of effects: questions, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.keepers import OwnReply
from prolocutor.dialog.plain import JsonObject, check, decode
from prolocutor.plugins.effects.fields import lines_of
from prolocutor.plugins.effects.ledger import EffectRecord

CONTEXT: Final = "effect"
"""The member of an ask's context with the key of the effect that it is about."""

APPROVE: Final = "Approve (yes)"
EDIT: Final = "Edit"
REFUSE: Final = "Refuse (no)"

WAS_DONE: Final = "It was done"
DO_AGAIN: Final = "It was not done: do it now"
LEAVE: Final = "Leave it"

_LONGEST: Final = 200


class EffectAsk(msgspec.Struct, frozen=True):
    """The context of an ask: the effect that it is about, and what is asked.

    `field` is the one whose value is asked for.
    """

    effect: str
    step: str
    field: str = ""


def title_of(text: str) -> str:
    """Return a title out of what a person said."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def says(text: str, confidence: float = 1.0) -> OwnReply:
    """Return a hypothesis that says a text."""
    return _own({"text": text, "confidence": confidence})


def asks(
    text: str, ask: str, context: EffectAsk, choices: Sequence[str] = (), confidence: float = 1.0
) -> OwnReply:
    """Return a hypothesis that asks for something about an effect."""
    return _own(
        {
            "text": text,
            "confidence": confidence,
            "messages": question(text, choices),
            "ask": ask,
            "ask_context": msgspec.to_builtins(context),
        }
    )


def question(text: str, choices: Sequence[str]) -> list[JsonObject]:
    """Return the messages of a question."""
    return [
        {"type": "text", "text": text},
        *({"type": "choice", "idx": at, "title": one} for at, one in enumerate(choices)),
    ]


def _own(hypothesis: JsonObject) -> OwnReply:
    made = check([hypothesis])
    return OwnReply(made.value, made.encoded)


def approval(record: EffectRecord) -> str:
    """Return the question whether something may be done."""
    lines = lines_of(record.fields or {}, record.kinds)
    return "\n".join([f"Shall I do this? {_named(record)}", *lines])


def waits_for_operator(record: EffectRecord) -> str:
    """Say that somebody else has to approve."""
    return f"{_named(record)} needs an approval first. I will tell you."


def not_known(record: EffectRecord) -> str:
    """Say that nobody knows yet whether it was done."""
    return f"I do not know yet whether this was done: {_named(record)}. I will tell you."


def which(record: EffectRecord) -> str:
    """Ask the person what became of it."""
    return f"I could not find out whether this was done: {_named(record)}. Do you know?"


def settled(record: EffectRecord) -> str:
    """Say what became of an effect that is over."""
    named, why = _named(record), f" ({record.why})" if record.why else ""
    match record.state:
        case "done":
            return f"This is done: {named}."
        case "not_done":
            return f"This was not done: {named}{why}."
        case "refused":
            return f"This was not done, as it was refused: {named}."
        case "expired":
            return f"This was not done, as nobody approved it in time: {named}."
        case "given_up":
            return f"I could not find out whether this was done: {named}. I will not try it again."
    return not_known(record)


def told(record: EffectRecord) -> list[JsonObject]:
    """Return the messages that tell a person what became of an effect."""
    return [{"type": "text", "text": settled(record)}, *_answered(record)]


def _answered(record: EffectRecord) -> list[JsonObject]:
    """Return what the agent said, where it is a hypothesis as skills give it."""
    if record.state != "done":
        return []
    value: Any = decode(record.reply)
    found = value[0] if isinstance(value, list) and value else value
    if not isinstance(found, dict):
        return []
    messages, text = found.get("messages"), found.get("text")
    if isinstance(messages, list) and messages:
        return [one for one in messages if isinstance(one, dict) and one.get("type") != "choice"]
    return [{"type": "text", "text": text}] if isinstance(text, str) and text else []


def _named(record: EffectRecord) -> str:
    return f"“{record.title or record.service}”"
