"""The assistant's sentences about effects: questions, and outcomes.

The sentences stand in the locales (`reading/locales`), under names beginning with `effect_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject, OwnReply, decode
from prolocutor.plugins.effects.fields import field_lines, field_title, one_line
from prolocutor.plugins.effects.ledger import EffectRecord
from prolocutor.reading.locales.locale import sentence

CONTEXT: Final = "effect"
"""The member of an ask's context with the key of the effect that it is about."""

APPROVE: Final = "effect_approve"
EDIT: Final = "effect_edit"
REFUSE: Final = "effect_refuse"

WAS_DONE: Final = "effect_was_done"
DO_AGAIN: Final = "effect_do_again"
LEAVE: Final = "effect_leave"

_MAX_CHARACTERS: Final = 200


class EffectAsk(msgspec.Struct, frozen=True):
    """The context of an ask about an effect: the key of the effect, and the step of the question.

    The steps are `approve`, `field`, `value` (of `field`) and `unknown`.
    """

    effect: str
    step: str
    field: str = ""


def make_title(text: str) -> str:
    """Return a title made of a person's words."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_CHARACTERS else f"{line[:_MAX_CHARACTERS]}…"


def says(text: str, confidence: float = 1.0) -> OwnReply:
    """Return a hypothesis with a text."""
    return OwnReply.from_hypothesis({"text": text, "confidence": confidence})


def asks(
    text: str, ask: str, context: EffectAsk, choices: Sequence[str] = (), confidence: float = 1.0
) -> OwnReply:
    """Return a hypothesis with a question about an effect."""
    return OwnReply.from_hypothesis(
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
        *({"type": "choice", "idx": at, "title": choice} for at, choice in enumerate(choices)),
    ]


def decisions(record: EffectRecord) -> list[str]:
    """Return the possible decisions of a person on an effect, in the order of the choices."""
    if record.state == "unknown":
        return [WAS_DONE, DO_AGAIN, LEAVE]
    return [APPROVE, EDIT, REFUSE] if record.fields and not record.fixed else [APPROVE, REFUSE]


def choices(record: EffectRecord) -> list[str]:
    """Return the titles of these decisions."""
    return [sentence(decision, record.language) for decision in decisions(record)]


def approval(record: EffectRecord) -> str:
    """Return the question for approval of an effect."""
    return "\n".join(
        [_about(record, "effect_may"), *field_lines(record.fields or {}, record.kinds)]
    )


def which_field(record: EffectRecord) -> str:
    """Ask which field is to be changed."""
    return sentence("effect_which_field", record.language)


def value_of_field(record: EffectRecord, field: str) -> str:
    """Ask for the new value of a field."""
    return sentence("effect_value", record.language, field=field_title(field, record.kinds))


def waits_for_operator(record: EffectRecord) -> str:
    """Say that an operator has to approve."""
    return _about(record, "effect_waits")


def not_known(record: EffectRecord) -> str:
    """Say that the outcome is not known yet."""
    return _about(record, "effect_unknown")


def which(record: EffectRecord) -> str:
    """Ask the person for the outcome."""
    return _about(record, "effect_which")


def say_forgotten(language: str) -> str:
    """Say that an effect is no longer known."""
    return sentence("effect_forgotten", language)


def say_outcome(record: EffectRecord) -> str:
    """Say the outcome of an ended effect."""
    known = record.state not in ("waiting", "started")
    return _about(record, f"effect_{record.state if known else 'unknown'}")


def told(record: EffectRecord) -> list[JsonObject]:
    """Return the messages about the outcome of an effect."""
    said = _about(record, "effect_aside") if record.aside else say_outcome(record)
    return [{"type": "text", "text": said}, *_agent_messages(record)]


def _agent_messages(record: EffectRecord) -> list[JsonObject]:
    """Return the agent's own messages, if its answer is a hypothesis."""
    if record.state != "done":
        return []
    value: Any = decode(record.reply)
    found = value[0] if isinstance(value, list) and value else value
    if not isinstance(found, dict):
        return []
    messages, text = found.get("messages"), found.get("text")
    if isinstance(messages, list) and messages:
        return [
            message
            for message in messages
            if isinstance(message, dict) and message.get("type") != "choice"
        ]
    return [{"type": "text", "text": text}] if isinstance(text, str) and text else []


def _about(record: EffectRecord, name: str) -> str:
    return sentence(
        name,
        record.language,
        title=one_line(record.title) or record.service,
        service=record.service,
        why=f" ({record.why})" if record.why else "",
    )
