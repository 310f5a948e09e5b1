"""Composing: one reply out of what the agents said to an utterance and to its clauses."""

from __future__ import annotations

from typing import Any, Final

Hypothesis = dict[str, Any]

WELL: Final = 0.5
"""Confidence from which on a hypothesis counts as an answer."""

ABOUT_AS_SURE: Final = 0.12
"""Less confidence by so much is no reason to leave a clause unanswered."""


def choose(request: dict[str, Any]) -> Hypothesis:
    """Choose the best whole answer, or compose the best answers to the clauses.

    `part` 0 of a hypothesis is about the whole utterance, `part` n about its n-th clause. The
    answers to the clauses win if all of them are about as sure as the best whole answer, or surer:
    an agent that knows only a part of the whole says so with less confidence. Where nobody answers
    the whole well, those clauses that somebody answers do.
    """
    parts = _by_part(request["hypotheses"])
    whole = max(parts.get(0, request["hypotheses"]), key=_confidence)
    clauses = [parts[part] for part in sorted(parts) if part]
    answers = _surest([_answers(each) for each in clauses])
    sure = min(map(_confidence, answers), default=0.0)
    known = _confidence(whole)
    complete = len(answers) == len(clauses)
    if answers and (sure >= known - ABOUT_AS_SURE if complete else known < WELL):
        return _named(answers, _joined(answers), sure)
    return _named([whole], whole["text"], known)


def _by_part(hypotheses: list[Hypothesis]) -> dict[int, list[Hypothesis]]:
    parts: dict[int, list[Hypothesis]] = {}
    for one in hypotheses:
        parts.setdefault(one.get("part", 0), []).append(one)
    return parts


def _answers(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    """Give those that answer, the surest first; ties stay in declared order."""
    answers = [one for one in hypotheses if _confidence(one) >= WELL]
    return sorted(answers, key=_confidence, reverse=True)


def _surest(answers: list[list[Hypothesis]]) -> list[Hypothesis]:
    """Take the surest answer to each clause; none at all where two would undo each other.

    Agents know the profiles as they were before the turn: where two answers change the same
    attribute, what the first one did would be lost.
    """
    best = [each[0] for each in answers if each]
    for profile in ("human_attributes", "bot_attributes"):
        changed = [key for one in best for key in one.get(profile) or ()]
        if len(changed) > len(set(changed)):
            return []
    return best


def _joined(answers: list[Hypothesis]) -> str:
    """Put the texts in a row, each once, as sentences."""
    return " ".join(_ended(text) for text in dict.fromkeys(one["text"].strip() for one in answers))


def _ended(text: str) -> str:
    return text if text[-1:] in ".!?…:;)\"'" else f"{text}."


def _named(chosen: list[Hypothesis], text: str, confidence: float) -> Hypothesis:
    """Name the chosen ones; the last of them has the floor."""
    return {
        "skill_name": chosen[-1]["skill_name"],
        "text": text,
        "confidence": confidence,
        "hypotheses": [one["hypothesis_id"] for one in chosen],
    }


def _confidence(hypothesis: Hypothesis) -> float:
    return float(hypothesis["confidence"])
