"""Teaching: a thumb on a reply is a label, learned at once and kept."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any, Final

from prolocutor.contracts.observer import Rated, TurnRecord
from prolocutor.errors import ProlocutorError
from prolocutor.pairing.question_agent.journal import LessonJournal
from prolocutor.pairing.question_agent.knn import Lesson
from prolocutor.pairing.reloading import Kept

log = logging.getLogger(__name__)

UP: Final = frozenset({"up", "like", "liked", "good", "yes", "👍", "+1"})
DOWN: Final = frozenset({"down", "dislike", "disliked", "bad", "no", "👎", "-1"})


class Teaching:
    """An observer that teaches the router in use what people think of replies.

    The journal is written before a label counts, and read again when the assistant starts.
    """

    def __init__(self, pupil: Kept[Any], journal: LessonJournal, agents: Collection[str]) -> None:
        self._pupil = pupil
        self._journal = journal
        self._agents = frozenset(agents)

    def turn_ended(self, record: TurnRecord) -> None:
        """A turn without a rating teaches nothing."""

    def breaker_changed(self, service: str, state: str) -> None:
        """Breakers teach nothing."""

    def reply_rated(self, rated: Rated) -> None:
        """Learn from a thumb; of stars, which mean something only among others, learn nothing."""
        right = thumb(rated.rating)
        if right is None or rated.agent not in self._agents:
            return
        share = {rated.agent: float(right)}
        try:
            self._journal.write(Lesson(rated.question, share))
            self._pupil.latest.method.learn(rated.question, share)
        except (OSError, ProlocutorError) as error:
            log.error("a rating of %s taught nothing: %s", rated.agent, error)


def thumb(rating: object) -> bool | None:
    """Read a thumb: true or false, a word, or a number that is 1 or not above 0; else None."""
    if isinstance(rating, bool):
        return rating
    if isinstance(rating, str):
        word = rating.strip().lower()
        return True if word in UP else False if word in DOWN else None
    if isinstance(rating, int | float):
        return True if rating == 1 else False if rating <= 0 else None
    return None
