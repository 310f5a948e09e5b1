"""The skills and candidate annotators of one turn: who is held, called, dropped, looked at."""

from __future__ import annotations

from typing import Protocol

from prolocutor.contracts.observer import Outcome
from prolocutor.contracts.selection import Enough
from prolocutor.errors import ServiceError
from prolocutor.pipeline.draft import Draft, DraftHypothesis
from prolocutor.pipeline.plan import Stage
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.pipeline.waves import Wave, Waves


class Course(Protocol):
    """What the skills' stage needs of the turn it belongs to, which it is handed each time."""

    draft: Draft
    waves: Waves
    outcomes: list[Outcome | None]

    def ask(
        self,
        step: ServiceStep,
        wave: Wave | None = None,
        candidates: list[DraftHypothesis] | None = None,
    ) -> None:
        """Call a service."""

    def settle(
        self, step: ServiceStep, outcome: Outcome, error: ServiceError | None = None
    ) -> None:
        """Note a service's outcome and let go those that waited for it."""

    def drop(self, step: ServiceStep) -> None:
        """Cancel a running service whose answer is no longer wanted, and settle it as skipped."""

    def asked(self, step: ServiceStep) -> bool:
        """Return whether a service was called."""

    def seconds_left(self, step: ServiceStep) -> float:
        """Return the seconds until the stage of a service is over."""


class SkillCalls:
    """Calls the skills that are selected, wave by wave.

    A skill that waits for nothing may run before the selection is known; if it is not selected in
    the end it is dropped and what it said withdrawn.
    """

    def __init__(self, steps: dict[str, ServiceStep], candidates: CandidateCalls) -> None:
        self._steps = steps
        self._candidates = candidates
        self._held: dict[str, ServiceStep] = {}
        self._selecting = True

    def begin(self, course: Course, preferred: str | None) -> None:
        """Call the first wave: the skill selectors have settled."""
        if self._selecting:
            self._selecting = False
            self._call(course, course.waves.begin(preferred))
            if course.waves.idle:
                self._look(course)

    def enter(self, course: Course, step: ServiceStep) -> None:
        """All that a skill waits for has settled: call it, hold it or skip it."""
        waves = course.waves
        if step.name == waves.excluded:
            course.settle(step, "skipped")
        elif self._selecting or waves.wants(step.name):
            course.ask(step)
        elif waves.closed:
            course.settle(step, "skipped")
        else:
            self._held[step.name] = step

    def settled(self, course: Course, step: ServiceStep) -> None:
        """A skill has settled: look whether its wave is complete and whether more are wanted."""
        waves = course.waves
        if waves.settled(step.name, course.draft.candidates_of(step.name)):
            self._candidates.advance(course)
        if not waves.closed and not self._selecting:
            self._look(course)

    def release(self, course: Course) -> bool:
        """Nobody is running: skip the held skills that others wait for, if there are any."""
        awaited = {
            index
            for step in self._steps.values()
            if course.outcomes[step.index] is None
            for index in step.before
        }
        released = [step for step in self._held.values() if step.index in awaited]
        for step in released:
            del self._held[step.name]
            course.settle(step, "skipped")
        return bool(released)

    def _look(self, course: Course) -> None:
        """Ask the selectors for more skills."""
        any_step = next(iter(self._steps.values()))
        answer = course.waves.look(course.draft.hypotheses, course.seconds_left(any_step))
        if isinstance(answer, Enough):
            for other in self._steps.values():
                if course.asked(other) and course.outcomes[other.index] is None:
                    course.drop(other)
            self._close(course)
        else:
            self._call(course, answer)

    def _call(self, course: Course, names: list[str]) -> None:
        for name in names:
            step = self._held.pop(name, None)
            if step is not None:
                course.ask(step)
            elif course.outcomes[self._steps[name].index] is not None:
                self.settled(course, self._steps[name])
        if course.waves.closed:
            self._close(course)

    def _close(self, course: Course) -> None:
        """Nobody more is selected: skip those that were held, drop those that ran in vain."""
        held, self._held = self._held, {}
        for step in held.values():
            course.settle(step, "skipped")
        for step in self._steps.values():
            if course.asked(step) and not course.waves.wants(step.name):
                if course.outcomes[step.index] is None:
                    course.drop(step)
                course.draft.withdraw(step.name)
        self._candidates.advance(course)


class CandidateCalls:
    """Calls the candidate annotators for the hypotheses of each wave that is complete.

    It knows nothing of any turn: what has become of a wave stands in the wave.
    """

    def __init__(self, every: list[ServiceStep], steps: list[ServiceStep]) -> None:
        self._every = every
        self._steps = steps

    def advance(self, course: Course) -> None:
        """Start what can start now, settle what is through with all waves there will be."""
        for step in self._steps:
            if course.outcomes[step.index] is not None:
                continue
            for wave in course.waves.waves:
                if (
                    not wave.open
                    and step.index not in wave.started
                    and self._may(course, step, wave)
                ):
                    wave.started.add(step.index)
                    self._annotate(course, step, wave)
            self._settle(course, step)

    def annotated(
        self,
        course: Course,
        step: ServiceStep,
        wave: Wave,
        outcome: Outcome,
        error: ServiceError | None,
    ) -> None:
        """A candidate annotator is through with a wave."""
        wave.annotated.add(step.index)
        if outcome != "done":
            wave.failed[step.index] = (outcome, error)
        self.advance(course)

    def _may(self, course: Course, step: ServiceStep, wave: Wave) -> bool:
        for index in step.before:
            stage = self._every[index].stage
            if stage is Stage.CANDIDATE_ANNOTATOR:
                if index not in wave.annotated:
                    return False
            elif stage is not Stage.SKILL and course.outcomes[index] is None:
                return False
        return True

    def _annotate(self, course: Course, step: ServiceStep, wave: Wave) -> None:
        draft = course.draft
        candidates = [one for one in wave.candidates if draft.find(one.id) is one]
        if candidates and not any(self._lacks(course, index, wave) for index in step.requires):
            course.ask(step, wave, candidates)
        else:
            self.annotated(course, step, wave, "skipped", None)

    def _lacks(self, course: Course, index: int, wave: Wave) -> bool:
        """Return whether a required service is not done, for this wave."""
        if self._every[index].stage is Stage.CANDIDATE_ANNOTATOR:
            return index in wave.failed
        return course.outcomes[index] != "done"

    def _settle(self, course: Course, step: ServiceStep) -> None:
        waves = course.waves
        if not waves.closed or not all(step.index in wave.annotated for wave in waves.waves):
            return
        failed = [wave.failed[step.index] for wave in waves.waves if step.index in wave.failed]
        if len(failed) < len(waves.waves):
            course.settle(step, "done")
        else:
            outcome, error = failed[0] if failed else ("skipped", None)
            course.settle(step, outcome, error)
