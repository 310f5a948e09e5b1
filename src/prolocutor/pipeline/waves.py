"""Whom the skill selectors want asked in one turn: their first answers, and `more` after that.

A wave is the skills that were selected together. When all of a wave have settled, the candidate
annotators look at its hypotheses. A plain list of names is one wave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import iscoroutine, signature
from typing import Any

from prolocutor.contracts.observer import Reason
from prolocutor.contracts.selection import Enough, More, Selection
from prolocutor.dialog.profile_changes import Fault
from prolocutor.errors import BadReply
from prolocutor.pipeline.replies import selected

State = dict[str, Any]


class _WaveChooser:
    """A `more` of one skill selector, which selects further skills as answers come in."""

    __slots__ = ("fault", "more", "selector", "wants_settled")

    def __init__(self, selector: str, more: More, fault: Fault) -> None:
        self.selector = selector
        self.more = more
        self.fault = fault
        self.wants_settled = "settled" in _parameters(more)


class SkillSelection:
    """The answers of the skill selectors of one turn; `reasons` are those that they gave, `version`
    is the model by which the last of them selected.

    `known` are all skills, `always` those that are asked whatever the selectors say.
    """

    def __init__(self, known: list[str], always: Sequence[str] = ()) -> None:
        self.reasons: list[Reason] = []
        self.version = ""
        self._known = known
        self._always = always
        self._names: list[str] | None = None
        self._choosers: list[_WaveChooser] = []

    @property
    def is_open(self) -> bool:
        """Whether a selector wants to be asked for more."""
        return bool(self._choosers)

    def propose(self, selector: str, selection: Selection, fault: Fault) -> None:
        """Take the answer of one skill selector; several make the union."""
        self._names = [*(self._names or ()), *selection.first]
        self._note(selector, selection.first, selection.reason)
        self.version = selection.version or self.version
        if selection.more is not None:
            self._choosers.append(_WaveChooser(selector, selection.more, fault))

    def first(self, preferred: str | None = None) -> list[str]:
        """Return whom to ask first; without a proposal all skills."""
        if self._names is None:
            return self._known
        names = [*self._names, *self._always] if self._always else self._names
        return [*names, preferred] if preferred else names

    def more(
        self, hypotheses: Callable[[], list[State]], settled: list[str], seconds_left: float
    ) -> list[str] | Enough:
        """Ask the selectors whom to ask next; each sees hypotheses of its own."""
        names: list[str] = []
        for chooser in self._choosers:
            answer = self._ask(chooser, hypotheses(), settled, seconds_left)
            if isinstance(answer, Enough):
                self._note(chooser.selector, [], answer.reason)
                return answer
            self._note(chooser.selector, answer.first, answer.reason)
            names.extend(answer.first)
        return names

    def _ask(
        self, chooser: _WaveChooser, hypotheses: list[State], settled: list[str], seconds: float
    ) -> Selection | Enough:
        fault = chooser.fault
        also = {"settled": [*settled]} if chooser.wants_settled else {}
        try:
            answer: Any = chooser.more(hypotheses, seconds, **also)
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

    def _note(self, selector: str, names: list[str], reason: str) -> None:
        if reason:
            self.reasons.append({"service": selector, "asked": names, "reason": reason})


def _parameters(more: More) -> Iterable[str]:
    try:
        return signature(more).parameters
    except (TypeError, ValueError):
        return ()
