"""Hints as lessons: found in turns, weighed, and counted with those that stand."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from prolocutor.contracts.model_use import HintMark
from prolocutor.contracts.observer import TurnRecord
from prolocutor.plugins.pairing.hints.turn_hints import HintSettings, HintTurn, TurnHint, hints_of
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, shares_of
from prolocutor.reading.words import words

Key = TypeVar("Key")

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

    def hints(self, record: TurnRecord) -> list[TurnHint]:
        """Return what a turn says of those before it."""
        return hints_of(self._turns(record), self._settings)

    def note(self, record: TurnRecord) -> None:
        """Take note of a turn that was stored."""
        turns = self._turns(record)
        self._dialogs.pop(record.dialog_id, None)
        self._dialogs[record.dialog_id] = record.user, turns
        if len(self._dialogs) > DIALOGS:
            self._dialogs.popitem(last=False)

    def forget(self, user: str) -> None:
        """Forget the turns of a person."""
        gone = [dialog for dialog, (its, _) in self._dialogs.items() if its == user]
        for dialog in gone:
            del self._dialogs[dialog]

    def _turns(self, record: TurnRecord) -> list[HintTurn]:
        _, before = self._dialogs.get(record.dialog_id, ("", []))
        return [*before, self._turn(record)][-TURNS:]

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


def standing(
    lessons: Mapping[Key, RouterLabel], settings: HintSettings | None, now: float
) -> dict[Key, RouterLabel]:
    """Return the lessons that count, in order: all that people said, and the latest hints.

    A hint falls where the same question has a thumb or label, where the same person gave the same
    one of the same agent later, where it is too old, where the hints of its question weigh as much
    as a thumb, and where there are `settings.most`. Without `settings` no hint stands.
    """
    told = {question_key(one.text) for one in lessons.values() if one.is_thumb}
    weights: defaultdict[str, float] = defaultdict(float)
    given: set[tuple[str, str, str, bool]] = set()

    def stands(one: RouterLabel) -> bool:
        if (mark := one.hint) is None:
            return True
        if settings is None or len(given) >= settings.most or now - mark.at > settings.keep:
            return False
        question = question_key(one.text)
        same = (one.user, question, mark.agent, one.agents.get(mark.agent, 0.0) > 0)
        full = weights[question] + one.weight > MOST_OF_A_QUESTION + _ROUNDING
        if question in told or same in given or full:
            return False
        given.add(same)
        weights[question] += one.weight
        return True

    kept = [key for key in reversed([*lessons]) if stands(lessons[key])]
    return {key: lessons[key] for key in reversed(kept)}
