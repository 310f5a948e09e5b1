"""HintUpkeep: hints go with the replies that they are of, and give way to operators' labels."""

from __future__ import annotations

from collections.abc import Collection

from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.shared_lessons import SharedLessons
from prolocutor.contracts.store import Store
from prolocutor.plugins.pairing.hints.hint_lessons import question_key
from prolocutor.plugins.pairing.rating_learner import RatingLearner


class HintUpkeep:
    """Has the learners of one assistant forget hints that must not count any more."""

    def __init__(
        self, store: Store, observers: ObserverGroup, lessons: SharedLessons | None
    ) -> None:
        self._store, self._observers, self._lessons = store, observers, lessons

    async def check(self, user: str | None = None) -> None:
        """Forget the hints of replies that were deleted; those of one person, if one is named."""
        gone: set[str] = set()
        for learner in self._learners():
            hints = [one for one in learner.hints() if user in (None, one.user)]
            replies = {one.hint.utt_id for one in hints if one.hint is not None}
            gone |= {one for one in replies if await self._store.owner_of(one) is None}
        if not gone:
            return
        for learner in self._learners():
            learner.replies_deleted(gone)
        if self._lessons is not None:
            await self._lessons.forget_hints(
                lambda one: one.hint is None or one.hint.utt_id in gone
            )

    async def questions_labelled(self, texts: Collection[str]) -> None:
        """Forget the hints of questions that an operator has labelled."""
        keys = set(map(question_key, texts))
        for learner in self._learners():
            learner.questions_labelled(texts)
        if self._lessons is not None and self._learners():
            await self._lessons.forget_hints(lambda one: question_key(one.text) in keys)

    def _learners(self) -> list[RatingLearner]:
        observers = self._observers.observers
        return [one for one in observers if isinstance(one, RatingLearner) and one.takes_hints]
