"""What a person can send, and how a turn is to start."""

from __future__ import annotations

from typing import Any

import msgspec


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """What a person sent: the words, and what came along (`attributes` of the human utterance)."""

    text: str
    attributes: dict[str, Any] = {}


class TurnStart(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn starts.

    `forced_skill` alone is asked (it waits for an answer); `extra` is added to its request (the
    `answer`); `preferred` is asked in any case and wins unless another skill is clearly better.
    """

    input: Input
    forced_skill: str | None = None
    extra: dict[str, Any] = {}
    preferred: str | None = None
