"""Other readings of the words of a turn, when no skill has answered the first, or a part of it.

The annotator `follow_up` is asked again; it finds its own annotation among the annotations. If it
reads the words differently, the skills with `rewrites` are asked once more, about that reading. If
no reading is answered whole, all is as it was after the first.
"""

from __future__ import annotations

from typing import Final

from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.plain import Plain
from prolocutor.dialog.rounds import FOLLOW_UP, read_follow_up
from prolocutor.pipeline.draft import Draft, DraftHypothesis, slot_values
from prolocutor.pipeline.ledger import Ledger, LedgerEntry

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
        self._hypotheses: dict[str, list[DraftHypothesis]] = {}
        self._clauses = 0
        self._tried: list[str] = []
        self._held: list[LedgerEntry] = []
        self._asked: list[tuple[LedgerEntry, int]] = []

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
                self._hypotheses = self._draft.kept_hypotheses()
                _, clauses = self._answered()
                self._clauses = len(clauses) if any(clauses) else 0
                self._tried.append(self._reading())
            self.number += 1
            self._held = asked
            self._ledger.reopen([reader, *asked])
            self._ledger.ask_again([reader])
        else:
            self.end()
        return ""

    def end(self) -> None:
        """Put the first reading back, with its answers, if no further one is answered whole."""
        if self._first is not None and not self._is_answered():
            self._draft.annotate(FOLLOW_UP, self._first)
            self._draft.restore_hypotheses(self._hypotheses)
            self._first = None

    def _ask_skills(self, now: float) -> str:
        """Ask the skills about the new reading; without one, they settle as before."""
        held, self._held = self._held, []
        reading = self._reading()
        if reading and reading not in self._tried:
            self._tried.append(reading)
            self._asked = [(skill, skill.calls) for skill in held]
            for skill in held:  # one that fails has no answer to this reading
                self._draft.withdraw(skill.step.name)
            self._ledger.ask_again(held)
            return reading
        self.number = self._most
        for skill in held:
            self._ledger.settle(skill, "done", now)
        return ""

    def _skills_to_ask(self) -> list[LedgerEntry]:
        """Return the skills that may be asked again; none if one with an answer may not."""
        found = [
            skill
            for skill in self._ledger.skills()
            if skill.wave is not None
            and skill.outcome == "done"
            and skill.step.rewrites
            and skill.step.rerun
            and not self._has_acted(skill)
        ]
        every = self._draft.all_hypotheses()
        answering = {one.skill for one in every if one.value["confidence"] >= ANSWERS}
        return found if answering <= {skill.step.name for skill in found} else []

    def _has_acted(self, skill: LedgerEntry) -> bool:
        """Return whether a skill that acts may have done something, however sure it is."""
        given = self._draft.skill_hypotheses(skill.step.name)
        acts = getattr(skill.step.service, "acts", False)
        return acts and any(one.value.get("acted") is not False for one in given)

    def _may_go_on(self, reader: LedgerEntry) -> bool:
        """Return whether there may be another reading, and no candidate annotator is running."""
        notes = [note for wave in self._ledger.waves for note in wave.notes.values()]
        is_left = self._is_free and self.number < self._most
        return is_left and reader.outcome == "done" and None not in notes

    def _is_answered(self) -> bool:
        """Return whether the words are answered as a whole, or each of their clauses is.

        A further reading has no fewer clauses than the first where one of those was answered.
        """
        wholes, clauses = self._answered()
        if self.number and len(clauses) < self._clauses:
            return False
        return any(wholes) or (bool(clauses) and all(clauses))

    def _answered(self) -> tuple[list[bool], list[bool]]:
        """Return of each whole, and of each clause, whether it has an answer.

        The wholes, parts of hypotheses before the clauses, are the words, and after them the
        question that they mean.
        """
        answered = dict.fromkeys(range(self._parts()), False)
        for one in self._draft.all_hypotheses():
            part = one.value.get("part") or 0
            answered[part] = answered.get(part, False) or one.value["confidence"] >= ANSWERS
        first = 2 if self.number or self._reading() else 1
        return (
            [well for part, well in answered.items() if part < first],
            [well for part, well in answered.items() if part >= first],
        )

    def _parts(self) -> int:
        """Return how many parts of the reading skills were asked about, each by a call of its own.

        Of a part without any hypothesis nothing else tells.
        """
        asked = self._asked or [(one, 0) for one in self._ledger.skills() if one.wave is not None]
        return max((one.calls - before for one, before in asked if one.step.fan_out), default=0)

    def _reading(self) -> str:
        found = read_follow_up(slot_values(self._draft.annotation_slots))
        return found.text if found is not None else ""
