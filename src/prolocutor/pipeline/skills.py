"""The skills and candidate annotators of one turn: who is held, called, dropped, looked at."""

from __future__ import annotations

from typing import Protocol

from prolocutor.contracts.observer import Outcome
from prolocutor.contracts.selection import Enough
from prolocutor.errors import ServiceError
from prolocutor.pipeline.candidates import Candidate
from prolocutor.pipeline.stages import Stage
from prolocutor.pipeline.step import Step
from prolocutor.pipeline.updates import Draft
from prolocutor.pipeline.waves import Wave, Waves


class Course(Protocol):
    """What the skills' stage needs of the turn it belongs to."""

    draft: Draft
    waves: Waves
    outcomes: list[Outcome | None]

    def ask(
        self, step: Step, wave: Wave | None = None, candidates: list[Candidate] | None = None
    ) -> None:
        """Call a service."""

    def settle(self, step: Step, outcome: Outcome, error: ServiceError | None = None) -> None:
        """Note a service's outcome and let go those that waited for it."""

    def drop(self, step: Step) -> None:
        """Cancel a running service whose answer is no longer wanted, and settle it as skipped."""

    def asked(self, step: Step) -> bool:
        """Tell whether a service was called."""

    def seconds_left(self, step: Step) -> float:
        """Give the seconds until the stage of a service is over."""


class SkillCalls:
    """Calls the skills that are selected, wave by wave.

    A skill that waits for nothing may run before the selection is known; if it is not selected in
    the end it is dropped and what it said withdrawn.
    """

    def __init__(self, course: Course, steps: dict[str, Step], candidates: CandidateCalls) -> None:
        self._course = course
        self._steps = steps
        self._candidates = candidates
        self._held: dict[str, Step] = {}
        self._selecting = True

    def begin(self, preferred: str | None) -> None:
        """Call the first wave: the skill selectors have settled."""
        if self._selecting:
            self._selecting = False
            self._call(self._course.waves.begin(preferred))
            if self._course.waves.idle:
                self._look()

    def enter(self, step: Step) -> None:
        """All that a skill waits for has settled: call it, hold it or skip it."""
        waves = self._course.waves
        if self._selecting or waves.wants(step.name):
            self._course.ask(step)
        elif waves.closed:
            self._course.settle(step, "skipped")
        else:
            self._held[step.name] = step

    def settled(self, step: Step) -> None:
        """A skill has settled: look whether its wave is complete and whether more are wanted."""
        waves = self._course.waves
        if waves.settled(step.name, self._course.draft.candidates_of(step.name)):
            self._candidates.advance()
        if not waves.closed and not self._selecting:
            self._look()

    def release(self) -> bool:
        """Nobody is running: skip the held skills that others wait for, if there are any."""
        awaited = {
            index
            for step in self._steps.values()
            if self._course.outcomes[step.index] is None
            for index in step.before
        }
        released = [step for step in self._held.values() if step.index in awaited]
        for step in released:
            del self._held[step.name]
            self._course.settle(step, "skipped")
        return bool(released)

    def _look(self) -> None:
        """Ask the selectors for more skills."""
        any_step = next(iter(self._steps.values()))
        answer = self._course.waves.look(
            self._course.draft.hypotheses, self._course.seconds_left(any_step)
        )
        if isinstance(answer, Enough):
            for other in self._steps.values():
                if self._course.asked(other) and self._course.outcomes[other.index] is None:
                    self._course.drop(other)
            self._close()
        else:
            self._call(answer)

    def _call(self, names: list[str]) -> None:
        for name in names:
            step = self._held.pop(name, None)
            if step is not None:
                self._course.ask(step)
            elif self._course.outcomes[self._steps[name].index] is not None:
                self.settled(self._steps[name])
        if self._course.waves.closed:
            self._close()

    def _close(self) -> None:
        """Nobody more is selected: skip those that were held, drop those that ran in vain."""
        held, self._held = self._held, {}
        for step in held.values():
            self._course.settle(step, "skipped")
        for step in self._steps.values():
            if self._course.asked(step) and not self._course.waves.wants(step.name):
                if self._course.outcomes[step.index] is None:
                    self._course.drop(step)
                self._course.draft.withdraw(step.name)
        self._candidates.advance()


class CandidateCalls:
    """Calls the candidate annotators for the hypotheses of each wave that is complete."""

    def __init__(self, course: Course, every: list[Step], steps: list[Step]) -> None:
        self._course = course
        self._every = every
        self._steps = steps

    def advance(self) -> None:
        """Start what can start now, settle what is through with all waves there will be."""
        for step in self._steps:
            if self._course.outcomes[step.index] is not None:
                continue
            for wave in self._course.waves.waves:
                if not wave.open and step.index not in wave.started and self._may(step, wave):
                    wave.started.add(step.index)
                    self._annotate(step, wave)
            self._settle(step)

    def annotated(
        self, step: Step, wave: Wave, outcome: Outcome, error: ServiceError | None
    ) -> None:
        """A candidate annotator is through with a wave."""
        wave.annotated.add(step.index)
        if outcome != "done":
            wave.failed[step.index] = (outcome, error)
        self.advance()

    def _may(self, step: Step, wave: Wave) -> bool:
        for index in step.before:
            stage = self._every[index].stage
            if stage is Stage.CANDIDATE_ANNOTATOR:
                if index not in wave.annotated:
                    return False
            elif stage is not Stage.SKILL and self._course.outcomes[index] is None:
                return False
        return True

    def _annotate(self, step: Step, wave: Wave) -> None:
        draft = self._course.draft
        candidates = [one for one in wave.candidates if draft.find(one.id) is one]
        if candidates and not any(self._lacks(index, wave) for index in step.requires):
            self._course.ask(step, wave, candidates)
        else:
            self.annotated(step, wave, "skipped", None)

    def _lacks(self, index: int, wave: Wave) -> bool:
        """Tell whether a required service is not done, for this wave."""
        if self._every[index].stage is Stage.CANDIDATE_ANNOTATOR:
            return index in wave.failed
        return self._course.outcomes[index] != "done"

    def _settle(self, step: Step) -> None:
        waves = self._course.waves
        if not waves.closed or not all(step.index in wave.annotated for wave in waves.waves):
            return
        failed = [wave.failed[step.index] for wave in waves.waves if step.index in wave.failed]
        if len(failed) < len(waves.waves):
            self._course.settle(step, "done")
        else:
            outcome, error = failed[0] if failed else ("skipped", None)
            self._course.settle(step, outcome, error)
