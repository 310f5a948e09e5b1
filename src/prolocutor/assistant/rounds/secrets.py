"""Secrets: answers to an ask for a password, shown to no one but the skill that asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from prolocutor.asks.intents import make_intent, read_parsed
from prolocutor.contracts.store import NO_ROUND, FeedStore
from prolocutor.dialog import rounds
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.errors import BadInput

MASK: Final = "••••••••"
"""The text that is stored and shown in place of a password of any length."""

_ASK: Final = "password"
_CACHED_USERS: Final = 10_000
_NONE: Final[Mapping[str, bool]] = {}
_USUAL: Final[Mapping[str, bool]] = {"main": False}


class Secrets:
    """Finds the inputs that answer an ask for a password, before anything is stored.

    The open ask of a dialog is loaded once, then cached for the users who spoke last. Nearly all
    users have a single dialog in which no password is asked: they share a value. Two dicts, of
    which the older one is dropped when the newer one is full, take a third of the memory of an
    ordered dict.
    """

    def __init__(self, store: FeedStore) -> None:
        self._store = store
        self._recent: dict[str, Mapping[str, bool]] = {}
        self._older: dict[str, Mapping[str, bool]] = {}

    async def is_secret(self, input: TurnInput) -> bool:
        """Return whether an input is a password; `StoreError` if its dialog cannot be read."""
        user, dialog = input.user, input.dialog
        asked = (self._recent.get(user) or self._older.get(user) or _NONE).get(dialog)
        if asked is None:
            asked = self.note(user, dialog, _waiting(await self._store.round(user, dialog)))
        return asked and _answers(input)

    def note(self, user: str, dialog: str, waiting: PendingAsk | None) -> bool:
        """Cache the open ask of a dialog; return whether it is for a password."""
        asked = waiting is not None and waiting.ask == _ASK
        dialogs = self._recent.get(user) or self._older.get(user) or _NONE
        if dialogs.get(dialog) is not asked:
            dialogs = {**dialogs, dialog: asked}
        self._recent[user] = _USUAL if dialogs == _USUAL else dialogs
        if len(self._recent) > _CACHED_USERS // 2:
            self._older, self._recent = self._recent, {}
        return asked

    def forget(self, user: str) -> None:
        """Drop the cached values of a user."""
        self._recent.pop(user, None)
        self._older.pop(user, None)


class KnownRounds:
    """The rounds that dialogs were in when this replica last looked, of the users who spoke last.

    Another replica may have changed them since: a shared store opens no turn under another round.
    Nearly all dialogs wait for nothing and are not kept.
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
    waiting = _waiting(round)
    return waiting is not None and waiting.ask == _ASK and _answers(input)


def mask_input(input: TurnInput) -> TurnInput:
    """Return an input as it is stored and shown: with a mask in place of the secret."""
    return TurnInput(MASK, input.user, attributes=input.attributes)


def _waiting(round: bytes) -> PendingAsk | None:
    try:
        return rounds.decode(round).waiting
    except msgspec.DecodeError:
        return None


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
