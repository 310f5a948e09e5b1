"""Response formatters: a service's reply in the form stored by its stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import State

ResponseFormatter = Callable[[Any], Any]

SELECTED = ("skill_name", "text", "confidence", "human_attributes", "bot_attributes", "attributes")


def unchanged(reply: Any) -> Any:
    """Return the reply."""
    return reply


def hypotheses_with_attributes(reply: Any) -> list[State]:
    """Return the hypotheses of `[text, confidence, ...]`, or of lists of these.

    Three columns end with the hypothesis' own keys; four end with human's and bot's attributes;
    five have all. Raise ValueError for fewer than two columns.
    """
    if len(reply) < 2:
        raise ValueError("expected text and confidence, and perhaps attributes")
    many = isinstance(reply[0], list) and isinstance(reply[1], list)
    rows = zip(*reply, strict=False) if many else [tuple(reply)]
    return [_hypothesis(row) for row in rows if _counts(row[0], row[1])]


def selected(reply: Any) -> State | None:
    """Return a response selector's reply by names, None if its length is not 3, 5 or 6."""
    if len(reply) not in (3, 5, 6):
        return None
    return dict(zip(SELECTED, reply, strict=False))


def hypothesis(reply: Any) -> list[State]:
    """Return `[text, confidence]` as the only hypothesis."""
    return [{"text": reply[0], "confidence": reply[1]}]


def hypothesis_if_any(reply: Any) -> list[State]:
    """Return `[text, confidence]` as the only hypothesis; empty without text or confidence."""
    return hypothesis(reply) if _counts(reply[0], reply[1]) else []


def personality(reply: Any) -> list[State]:
    """Return `[text, confidence, persona]` as a hypothesis with a new persona of the bot."""
    text, confidence, persona = reply[:3]
    return [
        {
            "text": text,
            "confidence": confidence,
            "personality": persona,
            "bot_attributes": {"persona": persona},
        }
    ]


def answers(reply: Any) -> list[State]:
    """Return `[texts, confidences]` as hypotheses."""
    return [
        {"text": text, "confidence": confidence}
        for text, confidence in zip(reply[0], reply[1], strict=False)
        if _counts(text, confidence)
    ]


def answers_with_attributes(reply: Any) -> list[State]:
    """Return `[texts, confidences, human_attributes, bot_attributes]` as hypotheses."""
    return [
        {"text": text, "confidence": confidence, "human_attributes": human, "bot_attributes": bot}
        for text, confidence, human, bot in zip(*reply[:4], strict=False)
        if _counts(text, confidence)
    ]


def linked_entities(reply: Any) -> list[State]:
    """Return `[names, ids, types]` as entities with their Wikidata ids."""
    return [
        {
            "entity_name": name,
            "wikidata_ids": [
                {"id": id, "instance_of": type} for id, type in zip(of_name, kinds, strict=False)
            ],
        }
        for name, of_name, kinds in zip(*reply, strict=False)
    ]


def _counts(text: Any, confidence: Any) -> bool:
    return bool(text) and confidence > 0


def _hypothesis(row: tuple[Any, ...]) -> State:
    made = {"text": row[0], "confidence": row[1]}
    if len(row) >= 4:
        made |= {"human_attributes": row[2], "bot_attributes": row[3]}
    if len(row) in (3, 5):
        if not isinstance(row[-1], dict):
            raise ValueError("expected the attributes of a hypothesis to be a dict")
        made |= row[-1]
    return made


RESPONSE_FORMATTERS: dict[str, ResponseFormatter] = {
    "simple_formatter_service": unchanged,
    "skill_with_attributes_formatter_service": hypotheses_with_attributes,
    "base_response_selector_formatter_service": selected,
    "base_skill_formatter": hypothesis,
    "base_formatter_service": hypothesis_if_any,
    "personality_catcher_formatter_service": personality,
    "cobot_qa_formatter_service": answers,
    "misheard_asr_formatter_service": answers_with_attributes,
    "entity_linking_formatter": linked_entities,
}
