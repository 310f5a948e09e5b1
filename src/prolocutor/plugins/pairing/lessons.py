"""Lessons: people's ratings and operators' labels, learned from the store by the router in use."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Any, Final

from prolocutor.assistant.operator_desk import KIND as LABEL
from prolocutor.assistant.operator_desk import OperatorLabels
from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store import NewRecord, RatedReply, Store
from prolocutor.dialog.dialog import thumb
from prolocutor.plugins.pairing.model_reloading import ReloadedModel
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, label_of_thumb

CHECK: Final = 60.0
"""Seconds after which a replica looks whether rows have gone, or came late."""

AT_ONCE: Final = 8
"""Lessons that are learned one by one; of more a model is made anew, in a thread."""

Known = dict[tuple[str, str], RouterLabel]
"""Lessons by where they come from, and an id."""


class Lessons:
    """Teaches a router, and makes it forget; a `contracts.learner.Learner`.

    Lessons are ratings of replies and operators' labels. The store deletes them with the person or
    the dialog; the router forgets them at once in this process and within a minute at other
    replicas.
    """

    pupil: ReloadedModel[Any]

    def __init__(self, agents: Collection[str], *, clock: Callable[[], float] = time.time) -> None:
        self._agents = list(agents)
        self._clock = clock
        self._store: Store
        self._known: Known = {}
        self._taught: Known = {}
        self._after = self._count = self._labels = 0
        self._looked = clock()
        self._lock = asyncio.Lock()

    def standing(self) -> list[RouterLabel]:
        """Return the labels that a new router learns."""
        return [*self._known.values()]

    def lessons(self) -> list[RouterLabel]:
        """Return the lessons of thumbs."""
        return [one for (kind, _), one in self._known.items() if kind != LABEL]

    # -- what the assistant says ------------------------------------------------------------

    async def start(self, store: Store) -> None:
        """Learn the lessons in the store."""
        self._store = store
        self.pupil.make_folder()
        await self._follow(anew=True)

    async def refresh(self) -> None:
        """Learn new lessons in the store."""
        await self._follow()

    async def forget(self, user: str | None) -> None:
        """Forget deleted lessons."""
        await self._follow(anew=True)

    def take_lessons(self, record: TurnRecord) -> list[NewRecord]:
        """Return nothing: a turn alone teaches nothing."""
        return []

    # -- rows -------------------------------------------------------------------------------

    async def _follow(self, *, anew: bool = False) -> None:
        """Read new rows, or all rows, and teach the router."""
        async with self._lock:
            found = await self._read(anew)
            if found is None:
                return
            self._known = found
            if not self._teach_at_once():
                await asyncio.to_thread(self.pupil.reload)

    async def _read(self, anew: bool) -> Known | None:
        """Return all lessons, None if they are unchanged; all rows are read `anew` if need be.

        The ratings are counted each minute: if some have gone or came late, all are read again.
        """
        store, now = self._store, self._clock()
        is_due = anew or now - self._looked >= CHECK
        count = await store.rating_count() if is_due else 0
        after = 0 if anew else self._after
        rated = await store.ratings_since(after)
        expected = self._count + len(rated)
        if is_due and not anew and count != expected:
            return await self._read(anew=True)
        is_other = is_due or await store.record_count(LABEL) != self._labels
        if not (rated or is_other):
            return None
        labels = {key: one for key, one in self._known.items() if key[0] == LABEL}
        if is_other:
            labels = await self._read_labels()
        known = {} if anew else {k: v for k, v in self._known.items() if k[0] != LABEL}
        for one in rated:
            self._rate(known, one)
        self._after = rated[-1].number if rated else after
        self._count = count if is_due else expected
        self._looked = now if is_due else self._looked
        return {**known, **labels}

    def _rate(self, known: Known, one: RatedReply) -> None:
        """Take the rating of a reply; the last rating counts, and stars teach nothing."""
        right, key = thumb(one.rating), ("rating", one.utt_id)
        if one.rating is None or right is not None:
            known.pop(key, None)
        if right is not None and one.skill in self._agents:
            known[key] = label_of_thumb(
                one.question, one.skill, right, self._agents, one.user, one.utt_id
            )

    async def _read_labels(self) -> Known:
        """Return a lesson for each turn of an operator's label."""
        labels = await OperatorLabels(self._store).all_labels()
        self._labels = len(labels)
        nobody = dict.fromkeys(self._agents, 0.0)
        return {
            (LABEL, f"{label.id} {turn.utt_id}"): RouterLabel(
                turn.text, dict.fromkeys(label.agents, 1.0) or nobody, 1.0, turn.user
            )
            for label in labels
            for turn in label.turns
        }

    def _teach_at_once(self) -> bool:
        """Teach the new lessons, if they are few and nothing is to be forgotten."""
        before, self._taught = self._taught, self._known
        new = [one for key, one in self._known.items() if key not in before]
        if any(self._known.get(key) != one for key, one in before.items()):
            return False
        return not new or (len(new) <= AT_ONCE and self.pupil.teach(new))
