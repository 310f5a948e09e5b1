"""NewAgentLearner: what a ranker thinks of new agents' answers, learned while they are tried."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any, Final

from prolocutor.contracts.observer import TurnRecord
from prolocutor.errors import ProlocutorError
from prolocutor.plugins.pairing.model_reloading import ReloadedModel
from prolocutor.plugins.pairing.question_agent.label_journal import LabelJournal, LabelMemory
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel

log = logging.getLogger(__name__)

JUDGED: Final = 0.25
"""The weight of a ranker's scores: half of a thumb up."""


class NewAgentLearner:
    """An observer that trains the router in use on turns in which it tried out a new agent.

    It writes to the journal of thumbs, where what came of a person's words is deleted with them.
    """

    def __init__(
        self,
        pupil: ReloadedModel[Any],
        journal: LabelJournal | LabelMemory,
        agents: Collection[str],
    ) -> None:
        self._pupil, self._journal = pupil, journal
        self._agents = list(agents)

    def turn_ended(self, record: TurnRecord) -> None:
        """Note how the answers were ranked, if a new agent was asked that is tried out."""
        router = self._pupil.latest.method
        if not any(agent in record.asked for agent in getattr(router, "tried", ())):
            return
        scores = {agent: 0.0 for agent in self._agents if agent in record.asked}
        for hypothesis, score in record.scores.items():
            agent = hypothesis.rpartition(".")[0]
            if agent in scores:
                scores[agent] = max(scores[agent], score)
        is_ranked = bool(record.scores)
        lesson = label_of_ranks(record.text, scores, record.user, is_ranked=is_ranked)
        try:
            self._journal.write(lesson)
            router.learn_all([lesson])
        except (OSError, ProlocutorError) as error:
            log.error("a turn with a new agent taught nothing: %s", error)

    def breaker_changed(self, service: str, state: str) -> None:
        """Breakers teach nothing."""


def label_of_ranks(
    question: str, scores: dict[str, float], user: str = "", *, is_ranked: bool = True
) -> RouterLabel:
    """Return what a turn teaches in which new agents were asked.

    `scores` are the ranker's probabilities of the best answers of all that were asked, 0 for none.
    """
    return RouterLabel(question, scores, JUDGED if is_ranked else 0.0, user, judged=True)
