"""The ledger of a turn: the state of each service, and the next steps.

It knows no tasks, no clock and no dialog. A transition gets an event and its time; it changes the
entries and adds to `ready` (services free to start) and `due` (the next tasks of the turn). `Turn`
drives it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from enum import Enum, auto
from math import inf
from typing import Final, Literal, Protocol

import msgspec

from prolocutor.contracts.observer import Outcome
from prolocutor.errors import ServiceError, ServiceLate, SwitchedOff
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep
from prolocutor.plan.pipeline import Stage

Standing = Literal["waiting", "held", "asked", "settled"]
"""`waiting` for other services, `held` until it is selected, `asked` and not through, `settled`."""

_SKILL: Final = Stage.SKILL
_CANDIDATE_ANNOTATOR: Final = Stage.CANDIDATE_ANNOTATOR


class WaveNote(msgspec.Struct, frozen=True):
    """The outcome of a candidate annotator for a wave."""

    outcome: Outcome
    error: ServiceError | None = None


class SkillWave(msgspec.Struct, eq=False):
    """Skills selected together; `open` counts the unsettled skills.

    `notes` has the outcome of each candidate annotator called for the wave, None while it runs.
    """

    skills: list[str]
    open: int = 0
    notes: dict[int, WaveNote | None] = {}


class LedgerEntry(msgspec.Struct, eq=False):
    """The state of a service in a turn; its times are the times of transitions.

    `missing` counts the services it still waits for, `calls` the calls made. `wave`
    is the wave in which a skill was selected.
    """

    step: ServiceStep
    missing: int
    standing: Standing = "waiting"
    outcome: Outcome | None = None
    error: ServiceError | None = None
    started: float | None = None
    ended: float | None = None
    calls: int = 0
    wave: SkillWave | None = None


class Lingering:
    """The ready but lingering services of a turn (`waiting`), each up to a time.

    So the annotations of the last reply have a little time to arrive.
    """

    def __init__(self, entries: Sequence[LedgerEntry], ready: deque[LedgerEntry]) -> None:
        self._entries = entries
        self._ready = ready
        self._until: dict[int, float] = {}
        self.waiting: list[LedgerEntry] = []

    def next_start(self, end: float) -> float:
        """Return the time at which the first of them starts in any case, at the latest `end`."""
        return min([end, *(self._until[one.step.index] for one in self.waiting)])

    def keep(self, entry: LedgerEntry, now: float) -> bool:
        """Keep a ready service while it has to linger; return False if it need not."""
        step = entry.step
        until = self._until.setdefault(step.index, now + step.service.lingers)
        if now >= until or all(self._entries[at].outcome is not None for at in step.lingers_for):
            return False
        self.waiting.append(entry)
        return True

    def release(self, now: float = inf) -> bool:
        """Release the services whose time is over; return False if there are no such services."""
        if not self.waiting:
            return False
        over = [one for one in self.waiting if self._until[one.step.index] <= now]
        for entry in over:
            self._until[entry.step.index] = -inf
            self.waiting.remove(entry)
        self._ready.extend(over)
        return bool(over)

    def release_waiting(self, step: ServiceStep) -> None:
        """Release the services that lingered for a service that has settled."""
        over = [one for one in self.waiting if step.index in one.step.lingers_for]
        for entry in over:
            self.waiting.remove(entry)
        self._ready.extend(over)  # what lingers for others too is kept again


NOTHING_LINGERS: Final = Lingering((), deque())
"""The shared value of all turns without lingering services; it is never changed."""


class LedgerWatch(Protocol):
    """Is told about the asked and settled services of a turn."""

    def note_asked(self, entry: LedgerEntry) -> None:
        """Note the first question of the turn to a service."""

    def note_settled(self, entry: LedgerEntry) -> None:
        """Note that a service has settled, whether it was asked or not."""


class Due(Enum):
    """The next task of a turn."""

    SELECT = auto()
    """The skill selectors have settled: open the first wave."""
    LOOK = auto()
    """A called skill has settled: ask the selectors whether they want more."""
    ANNOTATE = auto()
    """A wave is complete, or a candidate annotator is through: call those that can start."""
    REPLY = auto()
    """All that the reply waits for has settled."""
    REREAD = auto()
    """All skills have settled, or another reading of the words is there: read or ask once more."""


_ANNOTATE: Final = Due.ANNOTATE
_REPLY: Final = Due.REPLY
_REREAD: Final = Due.REREAD
_LOOK: Final = Due.LOOK
_SELECT: Final = Due.SELECT


class Ledger:
    """The entries of all services of a turn, by index, and the waves of its skills.

    `excluded` are skills not to be asked. `selecting`: the first skills are not selected yet;
    `closed`: no more skills will be selected; `running` counts the unsettled among the selected
    skills, `unsettled` all unsettled services except the last chance. `watches` are told
    about services. `rereading` is the annotator to be asked for another reading of the words if no
    skill answers, None if there is no such annotator.
    """

    def __init__(self, prepared: PreparedPipeline, excluded: Collection[str] = ()) -> None:
        self.entries = list(map(LedgerEntry, prepared.everyone, prepared.missing))
        entries = self.entries
        self.ready: deque[LedgerEntry] = deque([entries[at] for at in prepared.roots])
        self.due: deque[Due] = deque()
        lingers = prepared.lingers
        self.lingering = Lingering(entries, self.ready) if lingers else NOTHING_LINGERS
        self.waves: list[SkillWave] = []
        self.selecting = True
        self.closed = False
        self.running = 0
        self.unsettled = len(prepared.steps)
        self.watches: Sequence[LedgerWatch] = ()
        reader = prepared.rereader
        self.rereading = None if reader is None else entries[reader.index]
        self._prepared = prepared
        self._skills = [entries[at] for at in prepared.skill_indices]
        self._annotators = [entries[at] for at in prepared.candidate_indices]
        self._excluded = excluded
        self._selectors = prepared.selectors
        self._reply_missing = prepared.before_reply
        if not prepared.selectors:
            self.due.append(_SELECT)

    # -- questions ------------------------------------------------------------------------------

    def skills(self) -> list[LedgerEntry]:
        """Return the skills, in declared order; callers never change the list."""
        return self._skills

    def settled_skills(self) -> list[str]:
        """Return the names of the settled among the selected skills, in declared order."""
        return [
            skill.step.name
            for skill in self.skills()
            if skill.wave is not None and skill.outcome is not None
        ]

    def lacks_required(self, entry: LedgerEntry) -> bool:
        """Return whether a service is switched off, or lacks the result of a required service."""
        step = entry.step
        if step.off is not None:
            return True
        return bool(step.requires) and any(
            self.entries[index].outcome != "done" for index in step.requires
        )

    def is_open(self, step: ServiceStep) -> bool:
        """Return whether a service is neither settled nor switched off."""
        return step.off is None and self.entries[step.index].outcome is None

    def switched_off(self, entry: LedgerEntry) -> SwitchedOff | None:
        """Return why a service or a required service is switched off; None if both are on."""
        if entry.step.off is not None:
            return SwitchedOff(entry.step.off)
        for index in entry.step.requires:
            other = self.entries[index]
            if isinstance(other.error, SwitchedOff):
                return SwitchedOff(f"requires {other.step.name}: {other.error}")
        return None

    def may_ask(self, entry: LedgerEntry, now: float) -> bool:
        """Return whether a service may be asked now; if not, hold it or skip it."""
        step = entry.step
        if (
            step.stage is not _SKILL
            or entry.wave is not None
            or (self.selecting and step.name not in self._excluded)
        ):
            return not (step.lingers_for and self.lingering.keep(entry, now))
        if self.closed or step.name in self._excluded:
            self.settle(entry, "skipped", now)
        else:
            entry.standing = "held"
        return False

    # -- transitions ----------------------------------------------------------------------------

    def record_asked(self, entry: LedgerEntry, now: float, calls: int = 0) -> None:
        """Record a question to a service, by a number of calls."""
        if entry.started is None:
            entry.started = now
        if entry.standing != "asked":
            entry.standing = "asked"
            for watch in self.watches:
                watch.note_asked(entry)
        entry.calls += calls

    def settle(
        self,
        entry: LedgerEntry,
        outcome: Outcome,
        now: float,
        error: ServiceError | None = None,
    ) -> None:
        """Record a service as settled, and release its waiting services."""
        if entry.outcome is not None:
            return
        was_asked = entry.standing == "asked" or entry.ended is None
        entry.standing = "settled"
        entry.outcome = outcome
        if error is not None:
            entry.error = error
        if was_asked:  # a service opened again may settle without being asked again
            entry.ended = now
            for watch in self.watches:
                watch.note_settled(entry)
        step, entries = entry.step, self.entries
        if entry is self.rereading:
            self.due.append(_REREAD)
        if step.stage is _SKILL:
            if entry.wave is not None or outcome != "skipped":
                self._skill_settled(entry)
        elif step.is_last_chance:
            self.due.append(_REPLY)
            return
        elif step.is_skill_selector:
            self._selectors -= 1
            if not self._selectors and self.selecting:
                self.due.append(_SELECT)
        self.unsettled -= 1
        for index in step.then:
            other = entries[index]
            other.missing = missing = other.missing - 1
            if not missing:
                self.ready.append(other)
        if self.lingering.waiting:
            self.lingering.release_waiting(step)
        if step.before_candidates:
            self.due.append(_ANNOTATE)
        if step.before_reply:
            self._reply_missing -= 1
            if not self._reply_missing:
                self.due.append(_REPLY)

    def skip(self, entry: LedgerEntry, now: float) -> None:
        """Skip a service switched off or without a required result."""
        self.settle(entry, "skipped", now, self.switched_off(entry))

    def skip_others(self, entry: LedgerEntry, labels: Collection[str], now: float) -> None:
        """Skip the direct successors not named by a selector."""
        for index in entry.step.then:
            other = self.entries[index]
            if other.step.service.after is None:
                continue  # waits for the whole stage before, not for this selector
            selectable = other.step.stage is _SKILL and entry.step.is_skill_selector
            if not selectable and other.step.label not in labels:
                self.settle(other, "skipped", now)
                self.due.append(_ANNOTATE)

    def select(self, names: Iterable[str]) -> bool:
        """Open a wave of the named skills without a wave; return False if it would be empty."""
        self.selecting = False
        wanted = {*names}
        wanted.difference_update(self._excluded)
        fresh = [
            skill for skill in self.skills() if skill.wave is None and skill.step.name in wanted
        ]
        if not fresh:
            return False
        wave = SkillWave([one.step.name for one in fresh])
        self.waves.append(wave)
        for entry in fresh:
            entry.wave = wave
            if entry.outcome is None:
                wave.open += 1
                if entry.standing == "held":
                    entry.standing = "waiting"
                    self.ready.append(entry)
        self.running += wave.open
        if not wave.open:
            self.due.append(_ANNOTATE)
        if wave.open < len(fresh):
            self.due.append(_LOOK)
        return True

    def close(self, now: float) -> list[LedgerEntry]:
        """Close the selection: skip startable skills; return skills asked in vain."""
        self.closed = True
        if self.rereading is not None:
            self._offer_rereading()
        vain = []
        for entry in self.skills():
            if entry.wave is None:
                if entry.started is not None:
                    vain.append(entry)
                elif entry.standing == "held" or not entry.missing:
                    self.settle(entry, "skipped", now)
        self.due.append(_ANNOTATE)
        return vain

    def next_annotation(self, now: float) -> tuple[LedgerEntry, SkillWave] | None:
        """Return a candidate annotator ready to start with a wave, and note its start.

        If no annotator is ready, settle the annotators with every wave finished, and return None.
        """
        annotators = self._annotators
        for entry in annotators:
            if entry.outcome is not None:
                continue
            index = entry.step.index
            for wave in self.waves:
                if not wave.open and index not in wave.notes and self._may_annotate(entry, wave):
                    wave.notes[index] = None
                    return entry, wave
        for entry in annotators:
            self._settle_annotator(entry, now)
        return None

    def is_blocked(self, entry: LedgerEntry, wave: SkillWave) -> bool:
        """Return whether a candidate annotator is off, or lacks a required result for a wave."""
        if entry.step.off is not None:
            return True
        for index in entry.step.requires:
            other = self.entries[index]
            if other.step.stage is _CANDIDATE_ANNOTATOR:
                note = wave.notes.get(index)
                if note is None or note.outcome != "done":
                    return True
            elif other.outcome != "done":
                return True
        return False

    def record_annotated(
        self,
        entry: LedgerEntry,
        wave: SkillWave,
        outcome: Outcome,
        error: ServiceError | None = None,
    ) -> None:
        """Record that a candidate annotator has finished a wave."""
        wave.notes[entry.step.index] = WaveNote(outcome, error)
        self.due.append(_ANNOTATE)

    def release_after_reply(self) -> None:
        """Release the services that waited for the reply."""
        for index in self._prepared.after_reply:
            entry = self.entries[index]
            entry.missing -= 1
            if not entry.missing:
                self.ready.append(entry)

    def release_held(self, now: float) -> bool:
        """Release lingering services, else skip the held skills others wait for."""
        if self.lingering.release():
            return True
        awaited = {
            index for skill in self.skills() if skill.outcome is None for index in skill.step.before
        }
        released = [
            skill
            for skill in self.skills()
            if skill.standing == "held" and skill.step.index in awaited
        ]
        for entry in released:
            self.settle(entry, "skipped", now)
        return bool(released)

    def reopen(self, entries: Sequence[LedgerEntry]) -> None:
        """Open settled services again, to be asked once more; those after them wait again."""
        for entry in entries:
            entry.outcome, entry.standing = None, "held"
            self.unsettled += 1
            if entry.wave is not None:
                entry.wave.open += 1
                self.running += 1
            self._reply_missing += entry.step.before_reply
        for entry in entries:
            for index in entry.step.then:
                other = self.entries[index]
                if other.outcome is None:
                    other.missing += 1
                    if other in self.ready:
                        self.ready.remove(other)
        if _REPLY in self.due:
            self.due.remove(_REPLY)

    def ask_again(self, entries: Sequence[LedgerEntry]) -> None:
        """Start those of the opened services that wait for no other."""
        for entry in entries:
            entry.standing = "waiting"
            if not entry.missing and entry not in self.ready:
                self.ready.append(entry)

    def stop(self, now: float) -> None:
        """Settle all remaining services at the end of the turn."""
        self.closed = True
        for entry in self.entries:
            if entry.started is not None and entry.outcome is None:
                entry.step.guard.breaker.record_undecided()
            if entry.started is not None or not entry.step.is_last_chance:
                self.settle(entry, "skipped", now, ServiceLate("the turn was over"))
        self.ready.clear()
        self.due.clear()

    # -- inside ---------------------------------------------------------------------------------

    def _offer_rereading(self) -> None:
        """Let the words be read once more before anything follows the last skill."""
        if self.closed and not self.running:
            self.due.append(_REREAD)

    def _skill_settled(self, entry: LedgerEntry) -> None:
        """Update the wave of a settled skill."""
        wave = entry.wave
        if wave is not None:
            wave.open -= 1
            self.running -= 1
            if self.rereading is not None:
                self._offer_rereading()
            if not wave.open:
                self.due.append(_ANNOTATE)
        if not self.closed and not self.selecting:
            self.due.append(_LOOK)

    def _may_annotate(self, entry: LedgerEntry, wave: SkillWave) -> bool:
        for index in entry.step.before:
            other = self.entries[index]
            if other.step.stage is _CANDIDATE_ANNOTATOR:
                if wave.notes.get(index) is None and other.outcome is None:
                    return False
            elif other.step.stage is not _SKILL and other.outcome is None:
                return False
        return True

    def _settle_annotator(self, entry: LedgerEntry, now: float) -> None:
        if not self.closed or entry.outcome is not None:
            return
        index = entry.step.index
        notes = [wave.notes.get(index) for wave in self.waves]
        if None in notes:
            return
        failed = [note for note in notes if note is not None and note.outcome != "done"]
        error = next((note.error for note in failed if note.error is not None), None)
        if len(failed) < len(notes):
            self.settle(entry, "done", now, error)
        else:
            self.settle(entry, failed[0].outcome if failed else "skipped", now, error)
