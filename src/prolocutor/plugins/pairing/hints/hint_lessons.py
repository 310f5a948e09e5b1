"""Hints as lessons: found as turns end, weighed, and counted with those that stand."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final

from prolocutor.contracts.model_use import HintMark
from prolocutor.contracts.observer import TurnRecord
from prolocutor.plugins.pairing.hints.turn_hints import HintSettings, HintTurn, TurnHint, hints_of
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, shares_of
from prolocutor.reading.words import words

TURNS: Final = 3
DIALOGS: Final = 10_000
"""Dialogs whose last turns are known; those that rest longest are forgotten."""

_CHOSEN: Final = frozenset({"selector", "confidence"})
_LONGEST: Final = 2000


class HintWatch:
    """Finds hints in the turns of this process. After a restart a dialog's first turn has none."""

    def __init__(self, settings: HintSettings, agents: Collection[str]) -> None:
        self._settings = settings
        self._agents = frozenset(agents)
        self._dialogs: OrderedDict[str, tuple[str, list[HintTurn]]] = OrderedDict()

    def turn_ended(self, record: TurnRecord) -> list[TurnHint]:
        """Return what a turn says of those before it."""
        _, before = self._dialogs.pop(record.dialog_id, ("", []))
        turns = [*before, self._turn(record)][-TURNS:]
        self._dialogs[record.dialog_id] = record.user, turns
        if len(self._dialogs) > DIALOGS:
            self._dialogs.popitem(last=False)
        return hints_of(turns, self._settings)

    def forget(self, user: str) -> None:
        """Forget the turns of a person."""
        gone = [dialog for dialog, (its, _) in self._dialogs.items() if its == user]
        for dialog in gone:
            del self._dialogs[dialog]

    def _turn(self, record: TurnRecord) -> HintTurn:
        return HintTurn(
            utt_id=record.utt_id,
            at=record.started,
            said=record.text[:_LONGEST],
            reply=record.response[-_LONGEST:],
            agent=self._agent(record),
            offered=tuple(record.offered),
            asks=record.ask is not None,
            again_of=record.again_of,
        )

    def _agent(self, record: TurnRecord) -> str:
        """Return the one agent whose words the reply are; "" where there is none."""
        skills = {one.rpartition(".")[0] for one in record.chosen}
        if record.by not in _CHOSEN or len(skills) > 1:
            return ""
        return record.active_skill if record.active_skill in self._agents else ""


MOST_OF_A_QUESTION: Final = 0.5
"""The weight that all hints of one question may have together: that of one thumb up."""

_ROUNDING: Final = 1e-9


def lesson_of_hint(hint: TurnHint, user: str, agents: Sequence[str]) -> RouterLabel:
    """Return a hint as a lesson; `agents` are all that may be right."""
    shares = shares_of(hint.agent, hint.up, agents)
    mark = HintMark(hint.kind, hint.agent, hint.utt_id, hint.at)
    return RouterLabel(hint.question, shares, hint.weight, user, mark)


@lru_cache(maxsize=50_000)
def question_key(text: str) -> str:
    """Return what two askings of the very same question have in common: its words."""
    return " ".join(words(text))


class HintTally:
    """Counts the hints that stand, and says of another one whether it stands beside them.

    It falls where the same question has a thumb, where the same person gave the same one of the
    same agent before, where it is too old, where the hints of its question weigh as much as a
    thumb, and where there are `settings.most`.
    """

    def __init__(self, settings: HintSettings) -> None:
        self._settings = settings
        self._thumbed: set[str] = set()
        self._weights: defaultdict[str, float] = defaultdict(float)
        self._given: set[tuple[str, str, str, bool]] = set()
        self.number = 0

    def add_thumb(self, text: str) -> bool:
        """Take note of a thumb; return whether it replaces hints of its question."""
        key = question_key(text)
        self._thumbed.add(key)
        return key in self._weights

    def takes(self, lesson: RouterLabel, now: float) -> bool:
        """Return whether a hint stands, and count it if so."""
        mark = lesson.hint
        assert mark is not None
        key = question_key(lesson.text)
        same = (lesson.user, key, mark.agent, lesson.agents.get(mark.agent, 0.0) > 0)
        full = self._weights.get(key, 0.0) + lesson.weight > MOST_OF_A_QUESTION + _ROUNDING
        old = now - mark.at > self._settings.keep
        if key in self._thumbed or same in self._given or full or old:
            return False
        if self.number >= self._settings.most:
            return False
        self._given.add(same)
        self._weights[key] += lesson.weight
        self.number += 1
        return True


def standing(
    lessons: Iterable[RouterLabel], settings: HintSettings | None, now: float
) -> list[RouterLabel]:
    """Return the lessons that count, in order: all thumbs, and the latest hints that stand.

    Without `settings` no hint does.
    """
    known = list(lessons)
    if settings is None:
        return [one for one in known if one.hint is None]
    tally = HintTally(settings)
    for one in known:
        if one.is_thumb:
            tally.add_thumb(one.text)
    kept = [one for one in reversed(known) if one.hint is None or tally.takes(one, now)]
    return kept[::-1]
