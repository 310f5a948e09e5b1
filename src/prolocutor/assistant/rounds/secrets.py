"""Secrets: answers to an ask for a password, shown to no one but the skill that asked."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from prolocutor.asks.intents import intent_of, intent_of_source
from prolocutor.asks.parsed_commands import read_parsed
from prolocutor.contracts.store import FeedStore
from prolocutor.dialog import rounds
from prolocutor.dialog.inputs import Input
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.errors import BadInput

MASK: Final = "••••••••"
"""What is stored and shown in place of a password of any length."""

_ASK: Final = "password"
_CACHED_USERS: Final = 10_000


class Secrets:
    """Finds the inputs that answer an ask for a password, before anything is stored.

    The open ask of a dialog is loaded once, then cached for the users who spoke last.
    """

    def __init__(self, store: FeedStore) -> None:
        self._store = store
        self._users: OrderedDict[str, dict[str, bool]] = OrderedDict()

    async def is_secret(self, user: str, dialog: str, input: Input) -> bool:
        """Return whether an input is a password; `StoreError` if its dialog cannot be read."""
        asked = self._dialogs(user).get(dialog)
        if asked is None:
            asked = self.note(user, dialog, _waiting(await self._store.round(user, dialog)))
        return asked and _answers(input)

    def note(self, user: str, dialog: str, waiting: PendingAsk | None) -> bool:
        """Cache the open ask of a dialog; return whether it is for a password."""
        asked = waiting is not None and waiting.ask == _ASK
        self._dialogs(user)[dialog] = asked
        return asked

    def forget(self, user: str) -> None:
        """Drop what is cached of a user."""
        self._users.pop(user, None)

    def _dialogs(self, user: str) -> dict[str, bool]:
        dialogs = self._users.setdefault(user, {})
        self._users.move_to_end(user)
        if len(self._users) > _CACHED_USERS:
            self._users.popitem(last=False)
        return dialogs


def masked(input: Input) -> Input:
    """Return an input as it is stored and shown: with a mask in place of the secret."""
    return Input(text=MASK, attributes=input.attributes)


def _waiting(round: bytes) -> PendingAsk | None:
    try:
        return rounds.decode(round).waiting
    except msgspec.DecodeError:
        return None


def _answers(input: Input) -> bool:
    """Return whether an input is a value and no control command, such as cancel."""
    if input.parsed is None and input.program is None:
        return bool(input.text.strip())
    try:
        if input.program is not None:
            intent = intent_of_source(input.program)
        elif isinstance((input.parsed or {}).get("skill"), str):
            return False
        else:
            intent = intent_of(read_parsed(input.parsed))
    except BadInput:
        return True
    return intent is not None and intent.name == "answer"
