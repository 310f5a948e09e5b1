"""Other readings of the words of a turn, when no skill has answered the first.

The annotator `follow_up` is asked again; it finds its own annotation among the annotations. If it
reads the words differently, the skills with `rewrites` are asked once more, about that reading. If
none answers any reading, all is as it was after the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.plain import Plain
from prolocutor.dialog.rounds import FOLLOW_UP, read_follow_up
from prolocutor.pipeline.draft import Draft, slot_values
from prolocutor.pipeline.ledger import Ledger, LedgerEntry
from prolocutor.pipeline.replies import SkillReply

ANSWERS: Final = 0.5
"""Confidence from which on a hypothesis is an answer."""


class SecondReading:
    """The further readings of a turn, at most `most`; `number` is 0 during the first reading."""

    def __init__(self, ledger: Ledger, draft: Draft, start: TurnStart, most: int) -> None:
        self.number = 0
        self._most = most
        self._ledger = ledger
        self._draft = draft
        self._is_free = start.forced_skill is None and start.otherwise is None
        self._first: Plain | None = None
        self._tried: list[str] = []
        self._held: list[LedgerEntry] = []

    def go_on(self, now: float, *, is_time: bool) -> str:
        """Ask for the next reading, or about it; return a reading when skills are asked about it.

        To be called when all skills have settled, and when the annotator has settled again.
        `is_time`: the turn has time for another reading, and has shown no words.
        """
        if self._held:
            return self._ask_skills(now)
        reader = self._ledger.rereading
        if reader is None or self._is_answered():
            return ""
        asked = self._skills_to_ask() if is_time and self._may_go_on(reader) else []
        if asked:
            if not self.number:
                self._first = self._draft.annotation_slots.get(FOLLOW_UP)
                self._tried.append(self._reading())
            self.number += 1
            self._held = asked
            self._ledger.reopen([reader, *asked])
            self._ledger.ask_again([reader])
        else:
            self.end()
        return ""

    def end(self) -> None:
        """Put the first reading back if no skill has answered a further one."""
        if self._first is not None and not self._is_answered():
            self._draft.annotate(FOLLOW_UP, self._first)
            self._first = None

    def keeps(self, hypotheses: list[SkillReply]) -> bool:
        """Return whether hypotheses go into their slot: of a further reading, answers alone."""
        return not self.number or _answers(one.value for one in hypotheses)

    def _ask_skills(self, now: float) -> str:
        """Ask the skills about the new reading; without one, they settle as before."""
        held, self._held = self._held, []
        reading = self._reading()
        if reading and reading not in self._tried:
            self._tried.append(reading)
            self._ledger.ask_again(held)
            return reading
        self.number = self._most
        for skill in held:
            self._ledger.settle(skill, "done", now)
        return ""

    def _skills_to_ask(self) -> list[LedgerEntry]:
        skills = (one for one in self._ledger.skills() if one.wave is not None)
        return [
            skill
            for skill in skills
            if skill.outcome == "done" and skill.step.rewrites and skill.step.rerun
        ]

    def _may_go_on(self, reader: LedgerEntry) -> bool:
        """Return whether there may be another reading, and no candidate annotator is running."""
        notes = [note for wave in self._ledger.waves for note in wave.notes.values()]
        is_left = self._is_free and self.number < self._most
        return is_left and reader.outcome == "done" and None not in notes

    def _is_answered(self) -> bool:
        return _answers(one.value for one in self._draft.all_hypotheses())

    def _reading(self) -> str:
        found = read_follow_up(slot_values(self._draft.annotation_slots))
        return found.text if found is not None else ""


def _answers(hypotheses: Iterable[dict[str, Any]]) -> bool:
    return any(one["confidence"] >= ANSWERS for one in hypotheses)
