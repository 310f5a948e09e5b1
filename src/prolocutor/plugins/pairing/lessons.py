"""Lessons: what people teach the router in use, which follows the rows of the store."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
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
"""The kind of the records that are lessons: hints, and how answers of new agents were ranked."""

CHECK: Final = 60.0
"""Seconds after which a replica looks whether rows have gone, or came late."""

AT_ONCE: Final = 8
"""Lessons that are learned one by one; of more a model is made anew, in a thread."""

JUDGED: Final = 0.25
"""The weight of a ranker's scores: half of a thumb up."""

FILE: Final = "lesson-file"
"""The kind of the records that name the files of earlier versions that belong to a store."""

_EARLIER: Final = ("lesson", "lessons-version", "hint")
_MOST_PROPOSED: Final = 1000

Known = dict[tuple[str, str], RouterLabel]
"""Lessons by where they come from, and an id."""


class Lessons:
    """Teaches one router, and has it forget; a `contracts.learner.Learner`.

    Lessons are ratings of replies, operators' labels, and records that turns add to the store:
    hints, and rankers' scores of new agents. They go with the person or the dialog, by the store;
    the router forgets them at once here and within a minute at other replicas. `listens`: hints
    are read in turns. `journal` is the file in which earlier versions kept lessons.
    """

    pupil: ReloadedModel[Any]

    def __init__(
        self,
        agents: Collection[str],
        *,
        hints: HintSettings | None = None,
        listens: bool = True,
        journal: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._agents = list(agents)
        self._settings, self._clock = hints, clock
        self._watch = HintWatch(hints, self._agents) if hints is not None and listens else None
        self._journal = journal
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
        """Whether it learns from hints."""
        return self._watch is not None

    def standing(self) -> list[RouterLabel]:
        """Return the labels that a new router learns."""
        return [*self._standing.values()]

    def lessons(self) -> list[RouterLabel]:
        """Return what thumbs taught."""
        return [one for (kind, _), one in self._standing.items() if one.is_thumb and kind != LABEL]

    def hints(self) -> list[RouterLabel]:
        """Return the hints that stand, the oldest first; none where they are switched off."""
        if self._settings is None:
            return []
        oldest = self._clock() - self._settings.keep
        return [one for one in self._standing.values() if one.hint and one.hint.at >= oldest]

    # -- what the assistant says ------------------------------------------------------------

    async def start(self, store: Store) -> None:
        """Learn what the store has, and what earlier versions kept beside it."""
        self._store = store
        self.pupil.make_folder()
        await self._take_over()
        await self._follow(anew=True)

    async def refresh(self) -> None:
        """Learn what the store has more."""
        await self._follow()

    async def forget(self, user: str | None) -> None:
        """Forget what was deleted, and the turns of a person."""
        if self._watch is not None and user is not None:
            self._watch.forget(user)
        await self._follow(anew=True)

    def lessons_of(self, record: TurnRecord) -> list[NewRecord]:
        """Return the hints in a turn, and how the answers were ranked if a new agent was asked."""
        hints = [] if self._watch is None else self._watch.hints(record)
        found = [lesson_of_hint(one, record.user, self._agents) for one in hints]
        found += self._ranked_lessons(record)
        if not found:
            return []
        if len(self._proposed) >= _MOST_PROPOSED:
            self._proposed.clear()
        lessons = {(KIND, _key(record.utt_id, one)): one for one in found}
        self._proposed[record.turn_id] = lessons
        return [NewRecord(KIND, key, plain.encode(one)) for (_, key), one in lessons.items()]

    def turn_ended(self, record: TurnRecord) -> None:
        """Learn what was stored with a turn."""
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
        """Breakers teach nothing."""

    # -- rows -------------------------------------------------------------------------------

    async def _follow(self, *, anew: bool = False) -> None:
        """Read what rows there are more, or all, and teach the router."""
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
        """Return all lessons, None where there are no others; all rows are read `anew` if need be.

        The rows are counted each minute: where some have gone or came late they are read again.
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
        """Take the rating of a reply, the last of which counts; stars teach nothing."""
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

    def _ranked_lessons(self, record: TurnRecord) -> Iterator[RouterLabel]:
        """Return how the answers were ranked, if a new agent was asked that is tried out."""
        tried = getattr(self.pupil.latest.method, "tried", ())
        if any(agent in record.asked for agent in tried):
            scores = {agent: 0.0 for agent in self._agents if agent in record.asked}
            for hypothesis, score in record.scores.items():
                agent = hypothesis.rpartition(".")[0]
                if agent in scores:
                    scores[agent] = max(scores[agent], score)
            ranked = bool(record.scores)
            yield label_of_ranks(record.text, scores, record.user, record.utt_id, is_ranked=ranked)

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
        """Teach what is new, if that is little and nothing is to be forgotten."""
        before = self._standing
        self._standing = now = standing(self._known, self._settings, self._clock())
        new = [one for key, one in now.items() if key not in before]
        if any(now.get(key) != one for key, one in before.items()):
            return False
        return not new or (len(new) <= AT_ONCE and self.pupil.teach(new))

    # -- what earlier versions kept ---------------------------------------------------------

    async def _take_over(self) -> None:
        """Store lessons of the file beside the model, or of the records that replicas shared.

        The file is removed at the next start, where it is known to belong to this store.
        """
        store = self._store
        for kind in _EARLIER:
            for key, body in (await store.records("", kind)).items():
                if kind == "hint":
                    await self._keep(body, key)
                await store.delete_record("", kind, key)
        if self._journal is None or not self._journal.is_file():
            return
        name = str(self._journal.absolute())
        is_known = name in await store.records("", FILE)
        rated = {one.utt_id for one in await store.ratings_since()}
        lines = read_journal(self._journal)
        for line, lesson in lines:
            is_row = lesson.is_thumb and lesson.reply in rated
            is_gone = is_known and lesson.reply and await store.owner_of(lesson.reply) is None
            if not (is_row or is_gone):
                await self._keep(line, hashlib.blake2b(line, digest_size=16).hexdigest())
        log.info("%s: %d lessons are in the store now", name, len(lines))
        if not is_known:
            await store.put_record("", FILE, name, b"true")
            return
        try:
            self._journal.unlink()
        except OSError as error:
            log.warning("%s: its lessons are in the store; remove it: %s", name, error.strerror)
        else:
            await store.delete_record("", FILE, name)

    async def _keep(self, body: bytes, key: str) -> None:
        lesson = _read_lesson(body)
        await self._store.put_record(lesson.user, KIND, key, body, lesson.reply)


def _key(utt_id: str, lesson: RouterLabel) -> str:
    """Return the key of what a turn teaches, the same for all routers of an assistant."""
    mark = lesson.hint
    return f"{utt_id}/judged" if mark is None else f"{utt_id}/{mark.kind}/{mark.utt_id}"


def label_of_ranks(
    question: str,
    scores: Mapping[str, float],
    user: str = "",
    utt_id: str = "",
    *,
    is_ranked: bool = True,
) -> RouterLabel:
    """Return what a turn teaches in which new agents were asked.

    `scores` are the ranker's probabilities of the best answers of all that were asked, 0 for none.
    """
    weight = JUDGED if is_ranked else 0.0
    return RouterLabel(question, dict(scores), weight, user, judged=True, utt_id=utt_id)


def read_journal(file: Path) -> list[tuple[bytes, RouterLabel]]:
    """Return the lines of a file of lessons; one that cannot be read is logged and left out."""
    found = []
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            found.append((line, _read_lesson(line)))
        except msgspec.MsgspecError as error:
            log.error("%s, line %d is left out: %s", file, number, error)
    return found


async def forget_person(store: Store, user: str | None) -> None:
    """Remove a person's lines from files of earlier versions; None: those of deleted replies.

    No assistant runs on the store, unless others share it.
    """
    for name in await store.records("", FILE):
        if (file := Path(name)).is_file():
            kept = [
                line
                for line, one in read_journal(file)
                if one.user != user
                and (user is not None or not one.reply or await store.owner_of(one.reply))
            ]
            await asyncio.to_thread(file.write_bytes, b"".join(line + b"\n" for line in kept))


def _read_lesson(body: bytes) -> RouterLabel:
    return msgspec.json.decode(body, type=RouterLabel)
