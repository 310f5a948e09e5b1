"""HintWatch: the last turns of each dialog, in which hints are found as turns end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from typing import Final

from prolocutor.contracts.observer import TurnRecord
from prolocutor.plugins.pairing.hints.turn_hints import HintSettings, HintTurn, TurnHint, hints_of

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
