"""Learners: thumbs and hints, and what a ranker thinks of new agents, are learned at once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from prolocutor.contracts.observer import Rated, TurnRecord
from prolocutor.dialog.thumbs import thumb
from prolocutor.durations import HOUR
from prolocutor.errors import ProlocutorError
from prolocutor.plugins.pairing.hints.hint_lessons import (
    HintTally,
    HintWatch,
    lesson_of_hint,
    question_key,
    standing,
)
from prolocutor.plugins.pairing.hints.turn_hints import HintSettings, TurnHint
from prolocutor.plugins.pairing.model_reloading import ReloadedModel
from prolocutor.plugins.pairing.question_agent.label_journal import LabelJournal, LabelMemory
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, label_of_thumb

log = logging.getLogger(__name__)

_SHOWN: Final = 60.0
"""Seconds for which the hints that were read are shown, where nothing changes."""

TIDY: Final = HOUR
"""Seconds after which hints that are too old are removed."""


class RatingLearner:
    """An observer that trains the router in use on users' ratings of replies.

    The journal is written before a label counts, and read again when the assistant starts. With
    `hints` it learns from what people do next as well; a thumb replaces the hints of its question.
    """

    def __init__(
        self,
        pupil: ReloadedModel[Any],
        journal: LabelJournal | LabelMemory,
        agents: Collection[str],
        *,
        hints: HintSettings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._pupil = pupil
        self._journal = journal
        self._agents = list(agents)
        self._settings = hints
        self._clock = clock
        self._watch = None if hints is None else HintWatch(hints, self._agents)
        self._tally: HintTally | None = None
        self._tidied = clock()
        self._shown: tuple[float, list[RouterLabel]] | None = None
        self.share: Callable[[RouterLabel], None] | None = None
        """What a new hint is given to, where several replicas learn; else it is learned here."""

    @property
    def takes_hints(self) -> bool:
        """Whether it learns from hints."""
        return self._settings is not None

    @property
    def file(self) -> Path | None:
        """The file of its journal of lessons; None where the lessons are stored elsewhere."""
        return self._journal.file

    def lessons(self) -> list[RouterLabel]:
        """Return the labels that thumbs taught since the journal was begun."""
        return [one for one in self._journal.read() if one.is_thumb]

    def taught(self) -> list[RouterLabel]:
        """Return all labels that came of replies since the journal was begun."""
        return [one for one in self._journal.read() if one.reply]

    def hints(self) -> list[RouterLabel]:
        """Return the hints that stand, the oldest first; none where they are switched off.

        The journal is read again after a change, or a minute.
        """
        if self._settings is None:
            return []
        now = self._clock()
        if self._shown is None or now >= self._shown[0]:
            found = standing(self._journal.read(), self._settings, now)
            self._shown = now + _SHOWN, [one for one in found if one.hint is not None]
        return self._shown[1]

    def turn_ended(self, record: TurnRecord) -> None:
        """Learn what the words of a turn hint at about the answers before."""
        for hint in () if self._watch is None else self._watch.turn_ended(record):
            self._take(hint, record.user)

    def breaker_changed(self, service: str, state: str) -> None:
        """Breakers teach nothing."""

    def reply_rated(self, rated: Rated) -> None:
        """Learn from a thumb; stars are relative to other ratings and are ignored."""
        right = thumb(rated.rating)
        if right is None or rated.agent not in self._agents:
            return
        lesson = label_of_thumb(
            rated.question, rated.agent, right, self._agents, rated.user, rated.utt_id
        )
        if not learns(self._pupil.latest.method, lesson):
            return
        try:
            replaces = self._counted().add_thumb(lesson.text) if self.takes_hints else False
            self._journal.write(lesson)
            self._shown = None
            if replaces:
                self._again(self._journal.read())
            else:
                self._pupil.latest.method.learn_all([lesson])
        except (OSError, ProlocutorError) as error:
            log.error("a rating of %s taught nothing: %s", rated.agent, error)

    def hint_found(self, lesson: RouterLabel) -> None:
        """Learn a hint, if it stands beside the thumbs and hints there are."""
        try:
            self._tidy()
            if self.takes_hints and self._counted().takes(lesson, self._clock()):
                self._journal.write(lesson)
                self._shown = None
                self._pupil.latest.method.learn_all([lesson])
        except (OSError, ProlocutorError) as error:
            log.error("a hint taught nothing: %s", error)

    def questions_labelled(self, texts: Iterable[str]) -> None:
        """Drop the hints of questions that an operator has labelled."""
        keys = set(map(question_key, texts))
        self._drop(lambda one: one.hint is not None and question_key(one.text) in keys)

    def replies_deleted(self, utt_ids: Collection[str]) -> None:
        """Drop what was learned from replies that are no more."""
        gone = frozenset(utt_ids)
        self._drop(lambda one: one.reply in gone)

    def person_deleted(self, user: str) -> None:
        """Delete a user's labels from the journal and from the router in use."""
        if self._watch is not None:
            self._watch.forget(user)
        try:
            if self._journal.forget(user):
                self._tally = self._shown = None
                self._pupil.reload()
        except (OSError, ProlocutorError) as error:
            log.error("what a deleted person taught could not be forgotten: %s", error)

    def _take(self, hint: TurnHint, user: str) -> None:
        lesson = lesson_of_hint(hint, user, self._agents)
        if self.share is None:
            self.hint_found(lesson)
        else:
            self.share(lesson)

    def _counted(self) -> HintTally:
        """Return the tally of the journal."""
        if self._tally is None:
            assert self._settings is not None
            self._tally = HintTally(self._settings)
            known, now = self._journal.read(), self._clock()
            for one in known:
                if one.is_thumb:
                    self._tally.add_thumb(one.text)
            for one in reversed(known):
                if one.hint is not None:
                    self._tally.takes(one, now)
        return self._tally

    def _tidy(self) -> None:
        """Remove hints that are too old or too many, now and then."""
        if self._settings is None:
            return
        now = self._clock()
        full = self._counted().number >= self._settings.most
        if not full and now - self._tidied < TIDY:
            return
        self._tidied = now
        kept = standing(self._journal.read(), self._settings, now)
        if full:
            hints = [one for one in kept if one.hint is not None]
            gone = set(map(id, hints[: 1 + len(hints) // 10]))
            kept = [one for one in kept if id(one) not in gone]
        self._again(kept)

    def _drop(self, falls: Callable[[RouterLabel], bool]) -> None:
        try:
            known = self._journal.read()
            kept = [one for one in known if not falls(one)]
            if len(kept) < len(known):
                self._again(kept)
        except (OSError, ProlocutorError) as error:
            log.error("what was learned could not be removed: %s", error)

    def _again(self, lessons: Sequence[RouterLabel]) -> None:
        """Keep these lessons alone, of hints those that stand, and let the router learn anew."""
        kept = standing(lessons, self._settings, self._clock()) if self._settings else lessons
        self._journal.rewrite(kept)
        self._tally = self._shown = None
        self._pupil.reload()


def learns(router: Any, lesson: RouterLabel) -> bool:
    """Return whether a router learns anything from a label; some learn of new agents alone."""
    found: Callable[[RouterLabel], bool] | None = getattr(router, "learns", None)
    return found is None or found(lesson)


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
        user, utt_id = record.user, record.utt_id
        lesson = label_of_ranks(record.text, scores, user, utt_id, is_ranked=is_ranked)
        try:
            self._journal.write(lesson)
            router.learn_all([lesson])
        except (OSError, ProlocutorError) as error:
            log.error("a turn with a new agent taught nothing: %s", error)

    def breaker_changed(self, service: str, state: str) -> None:
        """Breakers teach nothing."""


def label_of_ranks(
    question: str,
    scores: dict[str, float],
    user: str = "",
    utt_id: str = "",
    *,
    is_ranked: bool = True,
) -> RouterLabel:
    """Return what a turn teaches in which new agents were asked.

    `scores` are the ranker's probabilities of the best answers of all that were asked, 0 for none.
    """
    weight = JUDGED if is_ranked else 0.0
    return RouterLabel(question, scores, weight, user, judged=True, utt_id=utt_id)
