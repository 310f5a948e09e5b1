"""WorkHints: the hints from which the routers of an assistant learn, for operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.model_use import HINT_KINDS, HintKind, TaughtLesson


class WorkHints:
    """Reads the valid hints; there are none if hints are switched off."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    def all(self) -> list[TaughtLesson]:
        """Return the hints of all routers, the oldest first."""
        learners = [one.learner for one in self._assistant.models if one.learner is not None]
        return [hint for learner in learners for hint in learner.hints()]

    def by_reply(self, since: float) -> dict[str, list[TaughtLesson]]:
        """Return the hints since a time, by the `utt_id` of their replies."""
        found: dict[str, list[TaughtLesson]] = {}
        for one in self.all():
            if one.hint is not None and one.hint.at >= since:
                found.setdefault(one.hint.utt_id, []).append(one)
        return found

    def counts(self) -> dict[HintKind, int]:
        """Return the number of hints of each kind; {} if hints are switched off."""
        learners = [one.learner for one in self._assistant.models if one.learner is not None]
        if not any(one.takes_hints for one in learners):
            return {}
        counted = Counter(one.hint.kind for one in self.all() if one.hint is not None)
        return {kind: counted[kind] for kind in HINT_KINDS}


def kinds_of(hints: Sequence[TaughtLesson]) -> tuple[HintKind, ...]:
    """Return the kinds of the hints of one reply."""
    marks = [one.hint.kind for one in hints if one.hint is not None]
    return tuple(kind for kind in HINT_KINDS if kind in marks)
