"""Select, call, look, select more: which skills are asked in one turn, and what is made of them.

A wave is the skills that were selected together. When all of a wave have settled, the candidate
annotators look at its hypotheses. A plain list of names is one wave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import iscoroutine, signature
from typing import Any

from prolocutor.contracts.observer import Outcome, Reason
from prolocutor.contracts.selection import Enough, More, Selection
from prolocutor.errors import BadReply, ServiceError
from prolocutor.pipeline.draft import DraftHypothesis
from prolocutor.pipeline.replies import Fault, selected


class Wave:
    """Skills that were selected together, and the hypotheses they gave."""

    __slots__ = ("annotated", "candidates", "failed", "open", "started")

    def __init__(self, skills: Iterable[str]) -> None:
        self.open = set(skills)
        self.candidates: list[DraftHypothesis] = []
        self.started: set[int] = set()
        self.annotated: set[int] = set()
        self.failed: dict[int, tuple[Outcome, ServiceError | None]] = {}


class _Decider:
    """One who selects more skills as answers come in."""

    __slots__ = ("fault", "more", "selector", "wants_settled")

    def __init__(self, selector: str, more: More, fault: Fault) -> None:
        self.selector = selector
        self.more = more
        self.fault = fault
        self.wants_settled = "settled" in _parameters(more)


class Waves:
    """Who is selected in one turn, but never the skill that is `excluded`."""

    def __init__(self, known: list[str], excluded: str | None = None) -> None:
        self.waves: list[Wave] = []
        self.closed = False
        self.excluded = excluded
        self._known = known
        self._names: list[str] | None = None
        self._deciders: list[_Decider] = []
        self._wave_of: dict[str, Wave] = {}
        self._running = 0
        self.reasons: list[Reason] = []

    def propose(self, selector: str, selection: Selection, fault: Fault) -> None:
        """Take what one skill selector answered; several make the union."""
        self._names = [*(self._names or ()), *selection.first]
        self._note(selector, selection.first, selection.reason)
        if selection.more is not None:
            self._deciders.append(_Decider(selector, selection.more, fault))

    def begin(self, also: str | None = None) -> list[str]:
        """Start the first wave, the selectors having settled; without a proposal ask everybody."""
        names = self._known if self._names is None else [*self._names, *([also] if also else ())]
        first = self._next_wave(names)
        self.closed = not self._deciders
        return first

    @property
    def idle(self) -> bool:
        """Whether more may be selected, and of those that were nobody is running."""
        return not self.closed and not self._running

    def wants(self, skill: str) -> bool:
        """Return whether a skill has been selected so far."""
        return skill in self._wave_of

    def settled(self, skill: str, candidates: list[DraftHypothesis]) -> Wave | None:
        """Take note that a selected skill has settled; give its wave if that was the last of it."""
        wave = self._wave_of.get(skill)
        if wave is None or skill not in wave.open:
            return None
        wave.open.discard(skill)
        wave.candidates.extend(candidates)
        self._running -= 1
        return wave if not wave.open else None

    def look(
        self, hypotheses: Callable[[], list[dict[str, Any]]], seconds_left: float
    ) -> list[str] | Enough:
        """Ask the selectors for more; close when nobody is running and nobody more is named."""
        if self.closed:
            return []
        names: list[str] = []
        for decider in self._deciders:
            answer = self._ask(decider, hypotheses(), seconds_left)
            self._note(decider.selector, *_told(answer))
            if isinstance(answer, Enough):
                self.closed = True
                return answer
            names.extend(answer.first)
        fresh = self._next_wave(names) if seconds_left > 0 else []
        if not self._running:
            self.closed = True
        return fresh

    def close(self) -> None:
        """Select nobody more."""
        self.closed = True

    def _ask(
        self, decider: _Decider, hypotheses: list[dict[str, Any]], seconds_left: float
    ) -> Selection | Enough:
        fault = decider.fault
        also = {"settled": self._settled()} if decider.wants_settled else {}
        try:
            answer: Any = decider.more(hypotheses, seconds_left, **also)
            if isinstance(answer, Enough):
                return answer
            if iscoroutine(answer):
                answer.close()
                raise BadReply("is async; `more` must answer at once")
            return selected([] if answer is None else answer, self._known, fault)
        except BadReply as error:
            fault(f"choosing more skills: {error}")
        except BaseException as error:
            fault(f"choosing more skills raised {type(error).__name__}: {error}")
        return Selection([])

    def _settled(self) -> list[str]:
        """Name the skills that were selected and have settled, in declared order."""
        return [
            name
            for name in self._known
            if name in self._wave_of and name not in self._wave_of[name].open
        ]

    def _note(self, selector: str, names: list[str], reason: str) -> None:
        if reason:
            self.reasons.append({"service": selector, "asked": names, "reason": reason})

    def _next_wave(self, names: Iterable[str]) -> list[str]:
        wanted = {*names} - {self.excluded}
        fresh = [name for name in self._known if name in wanted and name not in self._wave_of]
        if fresh:
            wave = Wave(fresh)
            self.waves.append(wave)
            self._running += len(fresh)
            for name in fresh:
                self._wave_of[name] = wave
        return fresh


def _told(answer: Selection | Enough) -> tuple[list[str], str]:
    """Return who is asked by an answer, and why."""
    return ([], answer.reason) if isinstance(answer, Enough) else (answer.first, answer.reason)


def _parameters(more: More) -> Iterable[str]:
    try:
        return signature(more).parameters
    except (TypeError, ValueError):
        return ()
