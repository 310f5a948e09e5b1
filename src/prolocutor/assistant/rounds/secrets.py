"""Secrets: answers to an ask for a password, shown to no one but the skill that asked."""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.asks.intents import make_intent, read_parsed
from prolocutor.contracts.store import NO_ROUND
from prolocutor.dialog import rounds
from prolocutor.dialog.inputs import TurnInput
from prolocutor.errors import BadInput

MASK: Final = "••••••••"
"""The text that is stored and shown in place of a password of any length."""

_CACHED_USERS: Final = 10_000


class KnownRounds:
    """The rounds that dialogs were in after their last turns here, of the users who spoke last.

    They may have changed since, or before a restart: a store opens no turn under another round.
    Nearly all dialogs wait for nothing and are not kept. Two dicts, of which the older one is
    dropped when the newer one is full, take a third of the memory of an ordered dict.
    """

    def __init__(self) -> None:
        self._recent: dict[tuple[str, str], bytes] = {}
        self._older: dict[tuple[str, str], bytes] = {}

    def round(self, user: str, dialog: str) -> bytes:
        """Return the round that a dialog was in."""
        key = user, dialog
        return self._recent.get(key) or self._older.get(key) or NO_ROUND

    def note(self, user: str, dialog: str, round: bytes) -> None:
        """Remember the round that a dialog is in now."""
        key = user, dialog
        if round == NO_ROUND:
            self._recent.pop(key, None)
            self._older.pop(key, None)
            return
        self._recent[key] = round
        if len(self._recent) > _CACHED_USERS // 2:
            self._older, self._recent = self._recent, {}


def is_password_input(round: bytes, input: TurnInput) -> bool:
    """Return whether an input is a password, said in a dialog that is in this round."""
    if b'"password"' not in round:
        return False
    try:
        waiting = rounds.decode(round).waiting
    except msgspec.DecodeError:
        return False
    return waiting is not None and waiting.ask == "password" and _answers(input)


def mask_input(input: TurnInput) -> TurnInput:
    """Return an input as it is stored and shown: with a mask in place of the secret."""
    return TurnInput(MASK, input.user, attributes=input.attributes)


def _answers(input: TurnInput) -> bool:
    """Return whether an input is a value and no control command, such as cancel."""
    if input.parsed is None and input.program is None:
        return bool(input.text.strip())
    try:
        if input.program is not None:
            intent = make_intent({"program": input.program})
        elif isinstance((input.parsed or {}).get("skill"), str):
            return False
        else:
            intent = make_intent(read_parsed(input.parsed))
    except BadInput:
        return True
    return intent is not None and intent.name == "answer"
