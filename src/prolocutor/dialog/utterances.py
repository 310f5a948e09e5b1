"""What was said by human and bot, and the hypotheses of what could be said."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.dialog.profiles import Bot, Human


class Hypothesis(msgspec.Struct, kw_only=True):
    """One candidate reply of one skill.

    `hypothesis_id` is `<skill>.<position>`, given by the engine; every key that the skill added of
    its own is in `extra`.
    """

    skill_name: str
    text: str
    confidence: float
    hypothesis_id: str = ""
    annotations: dict[str, Any] = {}
    human_attributes: dict[str, Any] | None = None
    bot_attributes: dict[str, Any] | None = None
    extra: dict[str, Any] = {}


class HumanUtterance(msgspec.Struct, kw_only=True):
    """One thing said by the human; `user` is the person as known right after this turn's reply."""

    utt_id: str
    text: str
    user: Human
    date_time: str
    annotations: dict[str, Any] = {}
    hypotheses: list[Hypothesis] = []
    attributes: dict[str, Any] = {}
    extra: dict[str, Any] = {}


class BotUtterance(msgspec.Struct, kw_only=True):
    """One thing said by the assistant; `orig_text` is the response selector's own text."""

    utt_id: str
    text: str
    orig_text: str | None
    active_skill: str
    confidence: float
    user: Bot
    date_time: str
    annotations: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    extra: dict[str, Any] = {}
