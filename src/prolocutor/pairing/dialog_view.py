"""Dialog view: the agent state as routers and rankers read it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final

from prolocutor.contracts.pairing import Answer, Pairing, Question

WINDOW: Final = 3
"""Utterances that a question is made of: the last whole turn, and what is said now."""


def question_of(state: Mapping[str, Any]) -> Question:
    """Return what is asked, and apart from it the last whole turn; `state` is agent state JSON."""
    *before, said = state["utterances"]
    if len(before) < 2 or "active_skill" not in before[-1]:
        return Question(text=said["text"])
    asked, replied = before[-2:]
    return Question(
        text=said["text"],
        said_before=asked["text"],
        answered_before=replied["text"],
        agent_before=replied["active_skill"],
    )


def answers_of(hypotheses: Sequence[Mapping[str, Any]]) -> list[Answer]:
    """Return the answers that hypotheses are, in their order."""
    return [
        Answer(agent=slot_of(one), text=one["text"], confidence=float(one["confidence"]))
        for one in hypotheses
    ]


async def given(
    pairings: Sequence[Pairing] | Awaitable[Sequence[Pairing]],
) -> Sequence[Pairing]:
    """Return pairings, awaited where the ranker is async."""
    return await pairings if isinstance(pairings, Awaitable) else pairings


def slot_of(hypothesis: Mapping[str, Any]) -> str:
    """Return the skill whose hypothesis this is, whatever name it gave itself."""
    return str(hypothesis["hypothesis_id"]).rpartition(".")[0]
