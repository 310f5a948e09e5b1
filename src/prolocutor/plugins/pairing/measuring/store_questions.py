"""Stored dialogs as labelled questions: the questions, the agents' answers, and the ratings.

A rating is of one answer by one user, so its label is soft and has less weight. Thumbs up: the
selected skill is right, nearly surely, with half the weight of a label. Thumbs down: it is wrong,
and any of the others may be right, with a quarter. A rating of a whole dialog says little of each
of its answers, and has a fifth of that weight. Without a rating a question has weight 0: rankers
learn from it what agents say, not what is right.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from math import isfinite
from typing import Any, Final

import msgspec

from prolocutor.config.store_location import Dialogs
from prolocutor.contracts.pairing import LabelledQuestion, UserQuestion
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance, Hypothesis, read_thumb
from prolocutor.plugins.pairing.question_agent.router_label import DOWN, UP, answer_shares

_WHOLE_DIALOG: Final = 0.2
_GOOD: Final = 0.6
_BAD: Final = 0.4
_MOST_UNRATED: Final = 2000


class QuestionTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A question with a reply; `spoke` is the selected agent, if it is one of `answers`.

    `rating` rates the reply, `dialog_rating` the whole dialog; None without a rating.
    """

    question: UserQuestion
    answers: dict[str, str]
    spoke: str | None
    rating: Any = None
    dialog_rating: Any = None


def labelled_of_store(dialogs: Dialogs) -> list[LabelledQuestion]:
    """Read the questions of a store; call it in a thread without an event loop."""

    async def read() -> list[QuestionTurn]:
        async with dialogs() as opened:
            return await read_question_turns(opened)

    return label_turns(asyncio.run(read()))


async def read_question_turns(dialogs: AsyncIterator[Dialog]) -> list[QuestionTurn]:
    """Read the turns of dialogs: all rated turns, and the latest unrated turns."""
    rated: list[QuestionTurn] = []
    unrated: deque[QuestionTurn] = deque(maxlen=_MOST_UNRATED)
    async for dialog in dialogs:
        for turn in _turns(dialog):
            plain = turn.rating is None and turn.dialog_rating is None
            (unrated if plain else rated).append(turn)
    return [*rated, *unrated]


def label_turns(turns: Sequence[QuestionTurn]) -> list[LabelledQuestion]:
    """Return labelled questions of turns; ratings are read on their common scale."""
    own = _RatingScale(turn.rating for turn in turns)
    whole = _RatingScale(turn.dialog_rating for turn in turns)
    found = []
    for turn in turns:
        share, weight = own.share(turn.rating), 1.0
        if share is None:
            share, weight = whole.share(turn.dialog_rating), _WHOLE_DIALOG
        found.append(_label_turn(turn, share, weight))
    return found


def _label_turn(turn: QuestionTurn, share: float | None, weight: float) -> LabelledQuestion:
    bare = LabelledQuestion(question=turn.question, agents={}, answers=turn.answers, weight=0.0)
    if share is None or turn.spoke is None or _BAD < share < _GOOD:
        return bare
    right = share >= _GOOD
    return msgspec.structs.replace(
        bare,
        agents=answer_shares(turn.spoke, right, turn.answers),
        gold=frozenset({turn.spoke} if right else ()),
        weight=(UP if right else DOWN) * weight,
    )


class _RatingScale:
    """The scale of ratings: thumbs (positive is good), or stars, 1 to 5 or to 10."""

    def __init__(self, ratings: Iterable[Any]) -> None:
        numbers = [one for one in ratings if _is_number(one)]
        most = max(numbers, default=0)
        self._stars = (5 if most <= 5 else 10) if most > 1 and min(numbers) > 0 else None

    def share(self, rating: Any) -> float | None:
        """Return a rating as a share, 0 (bad) to 1 (good); None for an unknown form of rating."""
        if isinstance(rating, str):
            up = read_thumb(rating)
            return None if up is None else float(up)
        if isinstance(rating, bool):
            return float(rating)
        if not _is_number(rating):
            return None
        if self._stars is None:
            return float(rating > 0)
        return min(1.0, float(rating - 1) / (self._stars - 1))


def _is_number(rating: Any) -> bool:
    return isinstance(rating, int | float) and not isinstance(rating, bool) and isfinite(rating)


def _turns(dialog: Dialog) -> Iterator[QuestionTurn]:
    before: tuple[HumanUtterance, BotUtterance] | None = None
    said: HumanUtterance | None = None
    for utterance in dialog.utterances:
        if isinstance(utterance, HumanUtterance):
            said = utterance
        elif said is not None:
            if answers := _answers(said, utterance):
                spoke, texts = answers
                rating = _rating(utterance)
                yield QuestionTurn(
                    question=_question(said, before),
                    answers=texts,
                    spoke=spoke,
                    rating=_rating(said) if rating is None else rating,
                    dialog_rating=dialog.rating,
                )
            before, said = (said, utterance), None


def _question(
    said: HumanUtterance, before: tuple[HumanUtterance, BotUtterance] | None
) -> UserQuestion:
    if before is None:
        return UserQuestion(text=said.text)
    asked, replied = before
    return UserQuestion(
        text=said.text,
        said_before=asked.text,
        answered_before=replied.text,
        agent_before=replied.active_skill,
    )


def _answers(said: HumanUtterance, reply: BotUtterance) -> tuple[str | None, dict[str, str]] | None:
    """Return the selected skill, and by skill the text of its most confident hypothesis.

    For the selected skill it is the chosen text.
    """
    texts: dict[str, str] = {}
    for one in sorted(said.hypotheses, key=lambda one: -one.confidence):
        texts.setdefault(_skill(one), one.text)
    own = [one for one in said.hypotheses if reply.active_skill in (_skill(one), one.skill_name)]
    if not own:
        return (None, texts) if texts else None
    chosen = next((one for one in own if one.text in (reply.orig_text, reply.text)), own[0])
    return _skill(chosen), {**texts, _skill(chosen): chosen.text}


def _skill(hypothesis: Hypothesis) -> str:
    return hypothesis.hypothesis_id.rpartition(".")[0] or hypothesis.skill_name


def _rating(utterance: HumanUtterance | BotUtterance) -> Any:
    """Return the last rating, which replaces earlier ratings."""
    ratings = utterance.attributes.get("ratings") or [{}]
    return ratings[-1].get("rating")
