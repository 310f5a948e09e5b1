"""Profiles as they are now, shown in utterances that were stored with earlier ones."""

from __future__ import annotations

from prolocutor.dialog.agent_state import profile_as_now
from prolocutor.dialog.plain import decode, encode


class CurrentProfiles:
    """What utterances of one turn show of a person and of the bot, each made once.

    A stored profile counts only by its persona and by whether it has attributes, so most of a
    window's utterances show the same.
    """

    def __init__(self) -> None:
        self._kinds: dict[bytes, tuple[bytes, bool]] = {}
        self._shown: dict[tuple[bytes, bytes, bool], bytes] = {}

    def shown(self, stored: bytes, now: bytes) -> bytes:
        """Return what an utterance stored with one profile shows while it is another."""
        if stored == now:
            return now
        kind = self._kinds.get(stored)
        if kind is None:
            known = decode(stored)
            kind = encode(known["persona"]), bool(known["attributes"])
            self._kinds[stored] = kind
        key = (now, *kind)
        made = self._shown.get(key)
        if made is None:
            made = self._shown[key] = encode(profile_as_now(decode(stored), decode(now)))
        return made
