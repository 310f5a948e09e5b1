"""RatingLearner: a thumb on a reply is a label, learned at once and stored."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any, Final

from prolocutor.contracts.observer import Rated, TurnRecord
from prolocutor.dialog.thumbs import thumb
from prolocutor.errors import ProlocutorError
from prolocutor.pairing.model_reloading import ReloadedModel
from prolocutor.pairing.question_agent.label_journal import LabelJournal, LabelMemory
from prolocutor.pairing.question_agent.router_label import RouterLabel

log = logging.getLogger(__name__)

UP: Final = 0.5
"""The weight of an answer that was rated as good."""

DOWN: Final = 0.25
"""The weight of an answer that was rated as bad."""

SURE: Final = 0.9
ELSEWHERE: Final = 0.5
"""How right an agent is after a thumb up, and all others together after a thumb down."""


class RatingLearner:
    """An observer that trains the router in use on users' ratings of replies.

    The journal is written before a label counts, and read again when the assistant starts.
    """

    def __init__(
        self,
        pupil: ReloadedModel[Any],
        journal: LabelJournal | LabelMemory,
        agents: Collection[str],
    ) -> None:
        self._pupil = pupil
        self._journal = journal
        self._agents = list(agents)

    def lessons(self) -> list[RouterLabel]:
        """Return the labels that thumbs taught since the journal was begun."""
        return self._journal.read()

    def turn_ended(self, record: TurnRecord) -> None:
        """A turn without a rating teaches nothing."""

    def breaker_changed(self, service: str, state: str) -> None:
        """Breakers teach nothing."""

    def reply_rated(self, rated: Rated) -> None:
        """Learn from a thumb; stars are relative to other ratings and are ignored."""
        right = thumb(rated.rating)
        if right is None or rated.agent not in self._agents:
            return
        if right:
            lesson = RouterLabel(rated.question, {rated.agent: SURE}, UP, rated.user)
        else:
            others = [agent for agent in self._agents if agent != rated.agent]
            shares = dict.fromkeys(others, ELSEWHERE / max(1, len(others)))
            lesson = RouterLabel(rated.question, {rated.agent: 0.0, **shares}, DOWN, rated.user)
        try:
            self._journal.write(lesson)
            self._pupil.latest.method.learn_all([lesson])
        except (OSError, ProlocutorError) as error:
            log.error("a rating of %s taught nothing: %s", rated.agent, error)

    def person_deleted(self, user: str) -> None:
        """Delete a user's labels from the journal and from the router in use."""
        try:
            if self._journal.forget(user):
                self._pupil.reload()
        except (OSError, ProlocutorError) as error:
            log.error("what a deleted person taught could not be forgotten: %s", error)
