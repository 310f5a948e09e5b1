"""Stored dialogs as labelled questions: what people rated says who was right.

A thumb up makes the agent that spoke right, a thumb down wrong; what nobody rated is a question
without a label, whose answers are known all the same. A rating is one person's word, so it counts
for half of a label.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Final

from prolocutor.contracts.pairing import Labelled, Question
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance
from prolocutor.parlai.stored_dialogs import Dialogs

_UP: Final = frozenset(("up", "like", "good", "yes", "positive", "+", "👍", "true"))
_DOWN: Final = frozenset(("down", "dislike", "bad", "no", "negative", "-", "👎", "false"))
_WEIGHT: Final = 0.5
_MOST: Final = 5


def labelled_of_store(dialogs: Dialogs) -> list[Labelled]:
    """Read all questions of a store; run it where no event loop runs."""

    async def read() -> list[Labelled]:
        async with dialogs() as opened:
            return [one async for dialog in opened for one in labelled_of(dialog)]

    return asyncio.run(read())


def labelled_of(dialog: Dialog) -> Iterator[Labelled]:
    """Give a question for each thing that a person said and an agent replied to."""
    before: dict[str, Any] = {}
    said: HumanUtterance | None = None
    for utterance in dialog.utterances:
        if isinstance(utterance, HumanUtterance):
            said = utterance
        elif said is not None:
            yield _labelled(said, utterance, before)
            before = {
                "said_before": said.text,
                "answered_before": utterance.text,
                "agent_before": utterance.active_skill,
            }
            said = None


def share_of(rating: Any) -> float | None:
    """Tell how right a rated reply is, 0 to 1; None if the rating says nothing of it.

    Thumbs in words or signs, true and false, 1 and -1 or 0, stars from 1 to 5.
    """
    if isinstance(rating, bool):
        return float(rating)
    if isinstance(rating, int | float):
        if 1 < rating <= _MOST:
            return (rating - 1) / (_MOST - 1)
        return 1.0 if rating == 1 else 0.0 if rating in (0, -1) else None
    if isinstance(rating, str):
        word = rating.strip().lower()
        return 1.0 if word in _UP else 0.0 if word in _DOWN else None
    return None


def _labelled(said: HumanUtterance, reply: BotUtterance, before: dict[str, Any]) -> Labelled:
    answers: dict[str, str] = {}
    for one in said.hypotheses:
        answers.setdefault(one.skill_name, one.text)
    ratings = reply.attributes.get("ratings")
    latest = ratings[-1] if isinstance(ratings, list) and ratings else None
    share = share_of(latest.get("rating")) if isinstance(latest, dict) else None
    agent = reply.active_skill
    right = share is not None and share >= 0.5
    return Labelled(
        question=Question(text=said.text, **before),
        agents={} if share is None else {agent: share},
        gold=frozenset({agent}) if right else frozenset(),
        answers=answers,
        weight=_WEIGHT if share is not None else 1.0,
    )
