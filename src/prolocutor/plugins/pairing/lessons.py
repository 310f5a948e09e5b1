"""Lessons: people's ratings, labels and hints, which the router in use learns from the store."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, Final

import msgspec

from prolocutor.assistant.operator_desk import KIND as LABEL
from prolocutor.assistant.operator_desk import OperatorLabels
from prolocutor.background import BackgroundTasks
from prolocutor.clocks import HOUR
from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store import NewRecord, RatedReply, Store
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import thumb
from prolocutor.errors import StoreError
from prolocutor.plugins.pairing.hints.turn_hints import (
    HintSettings,
    HintWatch,
    lesson_of_hint,
    standing,
)
from prolocutor.plugins.pairing.model_reloading import ReloadedModel
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, label_of_thumb

log = logging.getLogger(__name__)

KIND: Final = "taught"
"""The kind of the records that are lessons: hints."""

CHECK: Final = 60.0
"""Seconds after which a replica looks whether rows have gone, or came late."""

AT_ONCE: Final = 8
"""Lessons that are learned one by one; of more a model is made anew, in a thread."""

_MOST_PROPOSED: Final = 1000

Known = dict[tuple[str, str], RouterLabel]
"""Lessons by where they come from, and an id."""


class Lessons:
    """Teaches a router, and makes it forget; a `contracts.learner.Learner`.

    Lessons are ratings of replies, operators' labels, and records that turns add to the store:
    hints. The store deletes them with the person or the dialog; the router forgets them at once in
    this process and within a minute at other replicas. `listens`: hints are read in turns.
    """

    pupil: ReloadedModel[Any]

    def __init__(
        self,
        agents: Collection[str],
        *,
        hints: HintSettings | None = None,
        listens: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._agents = list(agents)
        self._settings, self._clock = hints, clock
        self._watch = HintWatch(hints, self._agents) if hints is not None and listens else None
        self._store: Store
        self._known: Known = {}
        self._standing: Known = {}
        self._proposed: dict[str, Known] = {}
        self._after = (0, 0)
        self._counts = (0, 0)
        self._looked = self._tidied = clock()
        self._additions = self._labels = 0
        self._lock = asyncio.Lock()
        self.tasks = BackgroundTasks("lessons")
        """What it does beside the turns."""

    @property
    def takes_hints(self) -> bool:
        """Whether the router learns from hints."""
        return self._watch is not None

    def standing(self) -> list[RouterLabel]:
        """Return the labels that a new router learns."""
        return [*self._standing.values()]

    def lessons(self) -> list[RouterLabel]:
        """Return the lessons of thumbs."""
        return [one for (kind, _), one in self._standing.items() if one.is_thumb and kind != LABEL]

    def hints(self) -> list[RouterLabel]:
        """Return the valid hints, the oldest first; none if hints are switched off."""
        if self._settings is None:
            return []
        oldest = self._clock() - self._settings.keep
        return [one for one in self._standing.values() if one.hint and one.hint.at >= oldest]

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
        """Forget deleted lessons, and the turns of a person."""
        if self._watch is not None and user is not None:
            self._watch.forget(user)
        await self._follow(anew=True)

    def lessons_of(self, record: TurnRecord) -> list[NewRecord]:
        """Return the hints in a turn."""
        hints = [] if self._watch is None else self._watch.hints(record)
        found = [lesson_of_hint(one, record.user, self._agents) for one in hints]
        if not found:
            return []
        if len(self._proposed) >= _MOST_PROPOSED:
            self._proposed.clear()
        lessons = {(KIND, _key(record.utt_id, one)): one for one in found}
        self._proposed[record.turn_id] = lessons
        return [NewRecord(KIND, key, plain.encode(one)) for (_, key), one in lessons.items()]

    def turn_ended(self, record: TurnRecord) -> None:
        """Learn the lessons stored with a turn."""
        if self._watch is not None:
            self._watch.note(record)
        if new := self._proposed.pop(record.turn_id, None):
            self._additions += 1
            self._known |= new
            if not self._teach_at_once():
                self.tasks.start(asyncio.to_thread(self.pupil.reload))
        if self._settings is not None and self._clock() - self._tidied >= HOUR:
            self._tidied = self._clock()
            self.tasks.start(self._tidy())

    def breaker_changed(self, service: str, state: str) -> None:
        """Do nothing: breakers teach nothing."""

    # -- rows -------------------------------------------------------------------------------

    async def _follow(self, *, anew: bool = False) -> None:
        """Read new rows, or all rows, and teach the router."""
        async with self._lock:
            additions = self._additions
            found = await self._read(anew)
            while additions != self._additions:  # a turn was stored meanwhile
                additions = self._additions
                found = await self._read(anew=True)
            if found is None:
                return
            self._known = found
            if not self._teach_at_once():
                await asyncio.to_thread(self.pupil.reload)

    async def _read(self, anew: bool) -> Known | None:
        """Return all lessons, None if they are unchanged; all rows are read `anew` if need be.

        The rows are counted each minute: if rows have gone or came late, all rows are read again.
        """
        store, now = self._store, self._clock()
        is_due = anew or now - self._looked >= CHECK
        counts = (await store.rating_count(), await store.record_count(KIND)) if is_due else (0, 0)
        after = (0, 0) if anew else self._after
        rated = await store.ratings_since(after[0])
        rows = await store.records_since(KIND, after[1])
        expected = self._counts[0] + len(rated), self._counts[1] + len(rows)
        if is_due and not anew and counts != expected:
            return await self._read(anew=True)
        labels = {key: one for key, one in self._known.items() if key[0] == LABEL}
        is_other = is_due or await store.record_count(LABEL) != self._labels
        if not (rated or rows or is_other):
            return None
        if is_other:
            labels = await self._read_labels()
        known = {} if anew else {k: v for k, v in self._known.items() if k[0] != LABEL}
        for one in rated:
            self._rate(known, one)
        known |= {(KIND, row.key): _read_lesson(row.body) for row in rows}
        last = rated[-1].number if rated else after[0], rows[-1].number if rows else after[1]
        self._after, self._counts = last, counts if is_due else expected
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
        labels = await OperatorLabels(self._store).listed()
        self._labels = len(labels)
        nobody = dict.fromkeys(self._agents, 0.0)
        return {
            (LABEL, f"{label.id} {turn.utt_id}"): RouterLabel(
                turn.text, dict.fromkeys(label.agents, 1.0) or nobody, 1.0, turn.user
            )
            for label in labels
            for turn in label.turns
        }

    async def _tidy(self) -> None:
        """Delete hints that are too old or too many."""
        assert self._settings is not None
        rows = [(one.user, key, one.hint.at) for (_, key), one in self._known.items() if one.hint]
        oldest = self._clock() - self._settings.keep
        most = max(0, len(rows) - self._settings.most)
        gone = [one[:2] for place, one in enumerate(rows) if place < most or one[2] < oldest]
        with suppress(StoreError):  # the next hour tries again
            for user, key in gone:
                await self._store.delete_record(user, KIND, key)
            await self._follow(anew=bool(gone))

    # -- the router -------------------------------------------------------------------------

    def _teach_at_once(self) -> bool:
        """Teach the new lessons, if they are few and nothing is to be forgotten."""
        before = self._standing
        self._standing = now = standing(self._known, self._settings, self._clock())
        new = [one for key, one in now.items() if key not in before]
        if any(now.get(key) != one for key, one in before.items()):
            return False
        return not new or (len(new) <= AT_ONCE and self.pupil.teach(new))


def _key(utt_id: str, lesson: RouterLabel) -> str:
    """Return the key of a turn's lesson, the same for all routers of an assistant."""
    assert lesson.hint is not None, "turns teach hints alone"
    return f"{utt_id}/{lesson.hint.kind}/{lesson.hint.utt_id}"


def _read_lesson(body: bytes) -> RouterLabel:
    return msgspec.json.decode(body, type=RouterLabel)
