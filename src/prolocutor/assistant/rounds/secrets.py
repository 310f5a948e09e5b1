"""Secrets: answers to an ask for a password, which nobody is shown but the skill that asked."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from prolocutor.asks.intents import intent_in, intent_of_program, read_parsed
from prolocutor.contracts.store import FeedStore
from prolocutor.dialog import rounds
from prolocutor.dialog.inputs import Input
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.errors import BadInput

MASK: Final = "••••••••"
"""What is kept and shown in place of a password, however long that is."""

_ASK: Final = "password"
_REMEMBERED: Final = 10_000


class Secrets:
    """Tells which inputs are answers to an ask for a password, before anything is written.

    What a dialog waits for is looked up once, then remembered for those who spoke last.
    """

    def __init__(self, store: FeedStore) -> None:
        self._store = store
        self._people: OrderedDict[str, dict[str, bool]] = OrderedDict()

    async def is_secret(self, user: str, dialog: str, input: Input) -> bool:
        """Return whether an input is a password. `StoreError` where that cannot be found out."""
        asked = self._dialogs(user).get(dialog)
        if asked is None:
            asked = self.note(user, dialog, _waiting(await self._store.round(user, dialog)))
        return asked and _answers(input)

    def note(self, user: str, dialog: str, waiting: PendingAsk | None) -> bool:
        """Remember what a dialog waits for from now on; tell whether it is a password."""
        asked = waiting is not None and waiting.ask == _ASK
        self._dialogs(user)[dialog] = asked
        return asked

    def forget(self, user: str) -> None:
        """Remember nothing of a person any more."""
        self._people.pop(user, None)

    def _dialogs(self, user: str) -> dict[str, bool]:
        dialogs = self._people.setdefault(user, {})
        self._people.move_to_end(user)
        if len(self._people) > _REMEMBERED:
            self._people.popitem(last=False)
        return dialogs


def masked(input: Input) -> Input:
    """Return an input as it is kept and shown: without the secret that it is."""
    return Input(text=MASK, attributes=input.attributes)


def _waiting(round: bytes) -> PendingAsk | None:
    try:
        return rounds.decode(round).waiting
    except msgspec.DecodeError:
        return None


def _answers(input: Input) -> bool:
    """Return whether an input is a value, rather than something that steers the round."""
    if input.parsed is None and input.program is None:
        return bool(input.text.strip())
    try:
        if input.program is not None:
            intent = intent_of_program(input.program)
        elif isinstance((input.parsed or {}).get("skill"), str):
            return False
        else:
            intent = intent_in(read_parsed(input.parsed))
    except BadInput:
        return True
    return intent is not None and intent.name == "answer"
