"""An assistant of ours as the subject of an evaluation."""

from __future__ import annotations

from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput
from prolocutor.evaluation.evaluated_system import Message, SystemDialog, SystemReply, set_seed


class EvaluatedAssistant:
    """An assistant in this process: each dialog is that of a new user."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def begin(self, seed: int) -> SystemDialog:
        """Let a user come who was never there."""
        set_seed(seed)
        return _UserDialog(self._assistant, f"evaluation-{new_id()}")

    def end(self, respondent: SystemDialog, *, stuck: bool) -> None:
        """Let the user go."""


class _UserDialog:
    def __init__(self, assistant: Assistant, name: str) -> None:
        self._assistant, self._name = assistant, name

    async def answer(self, message: Message) -> SystemReply:
        text = message.get("text")
        if not isinstance(text, str):
            raise BadInput("the example has no text", field="text")
        result = await self._assistant.turn(text, user=self._name, channel="evaluation")
        reply = result.reply
        act: dict[str, Any] = {
            "text": reply.text,
            "confidence": reply.confidence,
            "text_candidates": _ranked(reply.text, result.hypotheses),
        }
        calls = sum(one.calls for one in result.record.services) if result.record else None
        return SystemReply(act, reply.active_skill, calls)


def _ranked(text: str, hypotheses: list[dict[str, Any]]) -> list[str]:
    """Return what was said and then all other hypotheses, the most confident first."""
    others = sorted(hypotheses, key=lambda one: -float(one.get("confidence") or 0))
    return list(dict.fromkeys([text, *(str(one.get("text", "")) for one in others)]))
