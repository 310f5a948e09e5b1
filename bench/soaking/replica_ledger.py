"""ReplicaLedger: what people said, heard and read while replicas came and went."""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

import msgspec

MAX_COMPLAINTS: Final = 50


class HeardReply(msgspec.Struct, frozen=True):
    """A reply as its person was sent it."""

    utt_id: str
    response: str


class SpokenWords(msgspec.Struct):
    """What one person said once: its number, and the reply that they heard.

    What has a number of at most `after` was answered before it was sent.
    """

    number: int
    text: str
    after: int
    heard: HeardReply | None = None


class PersonLedger(msgspec.Struct):
    """What one person said, and what all readers of their feed were sent, by the message's id."""

    said: list[SpokenWords] = []
    read: dict[int, str] = {}
    heard_at: dict[str, float] = {}
    lags: list[float] = []

    def take(self, words: SpokenWords, heard: HeardReply) -> str | None:
        """Note a reply; return what is wrong with it: another one was heard before."""
        self.heard_at.setdefault(heard.response, time.monotonic())
        if words.heard is None:
            words.heard = heard
        elif words.heard != heard:
            return f"{words.number} was answered by {words.heard} and later by {heard}"
        return None

    def took(self, id_: int, text: str, *, live: bool) -> str | None:
        """Note a message of the feed; return what is wrong with it."""
        if live and " after " in text and text in self.heard_at:
            self.lags.append(max(0.0, time.monotonic() - self.heard_at[text]))
        if self.read.setdefault(id_, text) != text:
            return f"the message {id_} was {self.read[id_]!r} and later {text!r}"
        return None


class ReplicaLedger(msgspec.Struct):
    """Everything that the people of a soak saw, and what went wrong at once."""

    people: dict[str, PersonLedger] = {}
    counts: Counter[str] = msgspec.field(default_factory=Counter)
    complaints: list[str] = []
    last_served: float = 0.0
    """When the latest of the words that were answered were said."""

    def complain(self, what: str) -> None:
        """Note something that must not happen."""
        if len(self.complaints) < MAX_COMPLAINTS:
            self.complaints.append(what)
